"""Single rows of seen combinations: on the scale on which they scatter alike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from recombine.checks import check
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.forecasts.one_row import next_rows, scale_of_rows, scattered
from recombine.checks.rules.scales import PLAIN, Scale, ranks
from recombine.support.table import Target

LOG = Scale("log", np.log, np.exp)


def rows_of(seed: int, by_factor: bool, noise: float = 0.2):
    """Three rows each in 30 of 7 × 6 combinations whose effects multiply; the noise multiplies too or is the same."""
    rng = np.random.default_rng(seed)
    cells = np.stack(np.unravel_index(np.sort(rng.choice(42, 30, replace=False)), (7, 6)), axis=1)
    truth = np.exp(4 + rng.normal(size=7)[cells[:, 0]] + rng.normal(size=6)[cells[:, 1]])
    off = noise * rng.normal(size=(30, 3))
    return cells, truth, truth[:, None] * np.exp(off) if by_factor else truth[:, None] + off


def target_of(y) -> Target:
    mean = y.mean(axis=1)
    return Target("y", None, np.full(len(y), y.shape[1]), mean, ((y - mean[:, None]) ** 2).sum(axis=1))


def test_rows_that_scatter_by_a_factor_are_told_from_rows_that_scatter_as_far_everywhere():
    for seed in range(20):
        assert scale_of_rows(target_of(rows_of(seed, True)[2]), LOG) is LOG
        assert scale_of_rows(target_of(rows_of(seed, False)[2]), LOG) is PLAIN
    far = target_of(rows_of(0, True)[2])
    assert scale_of_rows(far, None) is scale_of_rows(far, ranks(far.mean)) is PLAIN


def test_on_a_log_scale_a_range_is_a_factor_to_either_side():
    cells, _, y = rows_of(1, True)
    target, known = target_of(y), Identifiability(cells, (7, 6))
    low, high = next_rows(known, target, LOG)
    np.testing.assert_allclose(low * high, target.mean**2)
    np.testing.assert_allclose(high / low, high[0] / low[0])
    scatter = np.sqrt(((np.log(y) - np.log(y).mean(axis=1, keepdims=True)) ** 2).sum() / 60)
    assert np.log(high[0] / low[0]) / 2 == pytest.approx(stdtrit(60, 0.95) * scatter * np.sqrt(4 / 3), rel=0.05)
    assert (
        scattered(target, LOG)
        == f"by a factor of {np.exp(np.log(high[0] / low[0]) / 2 / stdtrit(60, 0.95) / np.sqrt(4 / 3)):.3g}"
    )
    plain = next_rows(known, target, None)
    np.testing.assert_allclose(plain[1] - plain[0], plain[1][0] - plain[0][0])
    assert scattered(target, None) == f"by {target.scatter:.3g}"


def test_ranges_of_seen_combinations_hold_for_small_and_large_answers_alike():
    held = np.zeros((20, 3))
    for seed in range(20):
        cells, truth, y = rows_of(seed, True)
        ends = next_rows(Identifiability(cells, (7, 6)), target_of(y), LOG)
        new = truth[:, None] * np.exp(0.2 * np.random.default_rng(seed + 99).normal(size=(30, 50)))
        inside = ((ends[0][:, None] <= new) & (new <= ends[1][:, None])).mean(axis=1)
        held[seed] = [part.mean() for part in np.array_split(inside[np.argsort(truth)], 3)]
    assert (np.abs(held.mean(axis=0) - 0.9) < 0.04).all()


def test_a_table_whose_effects_multiply_says_so_of_its_rows():
    cells, _, y = rows_of(2, True)
    rows = {"a": cells[:, 0].repeat(3).astype(str), "b": cells[:, 1].repeat(3).astype(str), "y": y.ravel()}
    asked = {"a": rows["a"][::3], "b": rows["b"][::3]}
    rest = np.array([c for c in np.ndindex(7, 6) if list(c) not in cells.tolist()])
    asked = {"a": [*asked["a"], *rest[:, 0].astype(str)], "b": [*asked["b"], *rest[:, 1].astype(str)]}
    found = check(rows, ["a", "b"], target="y", test=asked)
    assert found.forecast.rule == "additive on a log scale"
    assert "single rows scatter by a factor of 1.2" in found.sentence()
    assert "repeated row" not in found.sentence()
    few = Target("y", None, np.array([2, 2, 1]), np.ones(3), np.array([0.5, 0.5, 0.0]))  # χ² of 2: 0.1026 to 5.991
    assert scattered(few, None) == "by 0.707 (90 %: 0.409 to 3.12, by 2 repeated rows alone)"
    assert all(q.row_low > 0 for q in found.queries if q.status == "seen")
