"""Where cells are far fewer than effects the fit is solved for the cells, and says the same."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.checks.rules import effects
from recombine.checks.rules.effects import Effects


def _table(factors: int, cells: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(0, 3, (cells, factors)), axis=0)
    y = codes @ rng.normal(size=factors) + 2.0 * (codes[:, 0] == codes[:, 1]) + 0.5 * rng.normal(size=len(codes))
    return codes, y, rng.uniform(0.5, 2, len(codes))


@pytest.mark.parametrize("answers", [1, 2])
def test_the_fit_is_that_of_the_effects(monkeypatch: pytest.MonkeyPatch, answers: int) -> None:
    codes, y, noise = _table(9, 40, 0)
    y = y if answers == 1 else np.stack([y, y[::-1] + y], axis=1)
    new = np.random.default_rng(1).integers(0, 3, (30, 9))
    by_cells = Effects(codes, (3,) * 9, y, noise, 2)
    monkeypatch.setattr(effects, "WIDE", 10**9)
    by_effects = Effects(codes, (3,) * 9, y, noise, 2)
    assert by_cells._by_cells is not None
    assert by_effects._by_cells is None
    for one, other in zip(by_cells.predict(new), by_effects.predict(new), strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-5)
    assert by_cells.each_left_out() == pytest.approx(by_effects.each_left_out(), rel=1e-4, abs=1e-5)
    assert by_cells.freedom == pytest.approx(by_effects.freedom, rel=1e-3)
    if answers == 1:
        for group in ([3], [5, 9, 1]):
            one, other = (np.ravel(fit.left_out([np.array(group)])) for fit in (by_cells, by_effects))
            assert one == pytest.approx(other, rel=1e-4)
        for one, other in zip(by_cells.evenly_left_out(), by_effects.evenly_left_out(), strict=True):
            assert one == pytest.approx(other, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("factors", [10, 3])
def test_learnt_without_is_a_fit_to_the_others(factors: int) -> None:
    codes, y, noise = _table(factors, 40, 2)
    fit = Effects(codes, (3,) * factors, y, noise, 2)
    assert (fit._by_cells is None) == (factors == 3)
    for group in (np.array([3]), np.array([5, 9, 1])):
        kept = np.delete(np.arange(len(y)), group)
        again = Effects(codes[kept], (3,) * factors, y[kept], noise[kept], 2)
        place, sd = again.predict(codes[group], noise[group] / noise[kept].mean())
        assert np.array(fit.learnt_without(group)) == pytest.approx(np.array([place, sd]), rel=1e-6)
