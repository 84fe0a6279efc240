"""Noise that differs between levels: Welch's test by hand, and planted tables that F alone gets wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind

from recombine.checks.adds_up import additivity as module
from recombine.checks.adds_up.additivity import additivity
from recombine.checks.adds_up.unequal import Noise, unequal
from recombine.checks.exact.identifiability import Identifiability
from recombine.support.table import Target


def test_two_groups_are_welchs_test() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.normal(0, 1, 8), rng.normal(2, 9, 5)
    y, level = np.concatenate([one, two]), np.repeat([0, 1], [8, 5])
    contrast = np.where(level == 0, 1 / 8, -1 / 5)[:, None]
    contrast /= np.linalg.norm(contrast)
    means = np.array([one.mean(), two.mean()])[level]
    noise = Noise((y - means) ** 2, np.array([7 / 8, 4 / 5])[level], level[:, None], np.ones(13))
    found = unequal(float((contrast.T @ y)[0] ** 2), contrast, False, noise)
    assert found == pytest.approx(ttest_ind(one, two, equal_var=False).pvalue)
    alike = Noise(np.ones(13) * 7 / 8, np.ones(13) * 7 / 8, level[:, None], np.ones(13))
    assert unequal(1.0, contrast, False, alike) == 0.0, "noises that do not differ are one"


def rejected(noisy: float, interaction: float, tables: int = 150) -> int:
    """Tables of three rows in each of 24 of 6 × 5 combinations, one level noisier than the others."""
    found = 0
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        codes = np.stack(np.unravel_index(np.sort(rng.choice(30, 24, replace=False)), (6, 5)), axis=1)
        mean = rng.normal(size=6)[codes[:, 0]] + rng.normal(size=5)[codes[:, 1]] + interaction * rng.normal(size=24)
        y = mean[:, None] + np.where(codes[:, :1] == 0, noisy, 1.0) * 0.5 * rng.normal(size=(24, 3))
        spread = ((y - y.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        target = Target("y", None, np.full(24, 3), y.mean(axis=1), spread)
        found += bool(additivity(Identifiability(codes, (6, 5)), target, ("a", "b")).rejected)
    return found


def test_a_noisy_level_is_no_interaction(monkeypatch: pytest.MonkeyPatch) -> None:
    guarded = rejected(5.0, 0.0)
    assert guarded <= 10
    assert rejected(1.0, 0.8, 50) >= 48, "what is there is found"
    monkeypatch.setattr(module, "unequal", lambda *_: 0.0)
    assert rejected(5.0, 0.0) > guarded + 5, "F alone takes noise for an interaction"
