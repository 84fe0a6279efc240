"""Variances of many pairs knew the cells that were left out: what that hid is told by learning them anew."""

from __future__ import annotations

import numpy as np

from recombine.checks.rules import relearnt as module
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.effects import Effects
from recombine.checks.rules.relearnt import relearnt
from recombine.checks.rules.seen_cells import Cells

SWITCHES = 8


def _planted(seed: int, pairs: int, seen: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Switches of which some pairs act, and answers with noise .5; the first are seen."""
    rng = np.random.default_rng(seed)
    codes = np.array(np.unravel_index(rng.permutation(2**SWITCHES)[: seen + 80], (2,) * SWITCHES)).T
    y = codes @ rng.normal(size=SWITCHES) + 0.5 * rng.normal(size=len(codes))
    for _ in range(pairs):
        one, two = rng.choice(SWITCHES, 2, replace=False)
        y += rng.choice([-2, 2]) * codes[:, one] * codes[:, two]
    return codes, y


def test_cells_left_out_are_charged_what_new_ones_err_more():
    kept, told, new = np.zeros(3), np.zeros(3), np.zeros(3)
    for i, seen in enumerate((44, 50, 80)):
        for seed in range(3):
            codes, y = _planted(seed, pairs=3, seen=seen)
            fit = Effects(codes[:seen], (2,) * SWITCHES, y[:seen], np.ones(seen), 2)
            place, sd = fit.left_out([np.array([i]) for i in range(seen)])
            surprise = np.mean(((y[:seen] - place) / sd) ** 2)
            kept[i], told[i] = kept[i] + surprise, told[i] + surprise * relearnt(fit)
            place, sd = fit.predict(codes[seen:])
            new[i] += np.mean(((y[seen:] - place) / sd) ** 2)
    assert (kept < 0.8 * new).all()
    assert 0.75 < told.sum() / new.sum() < 1.3


def test_pairs_are_charged_so_or_by_count_where_it_takes_too_long(monkeypatch):
    codes, y = _planted(0, pairs=3)
    cells = Cells(codes[:50], (2,) * SWITCHES, np.ones(50), y[:50], None)
    tried = Adding("pairs", cells, 2)
    assert tried.charge == tried.relearnt > 1.3
    assert tried.freedom == tried.effects.freedom / tried.charge
    monkeypatch.setattr(module, "MOST_WORK", 0)
    counted = Adding("pairs", cells, 2)
    assert counted.charge == 50 / (49 - counted.variances) > tried.charge
    assert Adding("additive", cells, 1).relearnt is None
