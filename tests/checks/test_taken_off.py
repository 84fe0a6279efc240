"""Adding up is tested with a drift taken off: alone it is not rejected, with interactions it is."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recombine.checks import check
from recombine.checks.columns.taken_off import stretched, taken_off
from recombine.checks.exact.identifiability import Identifiability
from recombine.support.table import read_tables


def drifting(seed: int, drift: float, pairs: float = 0.0, column: str = "run") -> pl.DataFrame:
    """29 of 42 combinations, three rows each in random order, which drift from the first to the last."""
    rng = np.random.default_rng([seed, 77])
    one, two, both = rng.normal(0, 4, 7), rng.normal(0, 4, 6), pairs * rng.standard_normal((7, 6))
    i, j = np.divmod(rng.permutation(np.repeat(rng.permutation(42)[:29], 3)), 6)
    order = np.arange(len(i))
    y = 50 + one[i] + two[j] + both[i, j] + drift * order / len(i) + rng.standard_normal(len(i))
    table = {"a": [f"a{v}" for v in i], "b": [f"b{v}" for v in j], "y": y.round(3)}
    own = {"run": order + 1, "day": [f"2024-{1 + t // 28:02}-{1 + t % 28:02}" for t in order]}
    return pl.DataFrame(table | ({column: own[column]} if column else {}))


@pytest.mark.parametrize("column", ["run", "day", ""])
def test_a_drift_is_no_interaction_and_interactions_beside_it_are_seen(column):
    alone = [check(drifting(seed, 10.0, column=column), ["a", "b"], target="y", draws=9) for seed in range(8)]
    both = [check(drifting(seed, 10.0, 2.0, column), ["a", "b"], target="y", draws=9) for seed in range(4)]
    named = f"along {column}" if column else "along the rows of the table"
    assert all(f"with a line and a bend {named} taken off" == result.additivity.how for result in alone)
    assert sum(result.additivity.rejected is False for result in alone) >= 7
    assert all(result.additivity.rejected or result.additivity.open for result in both)


def test_what_to_do_about_a_drift_is_said_once():
    for column in ("run", "day", ""):
        notes = check(drifting(0, 10.0, column=column), ["a", "b"], target="y", draws=9).notes
        assert sum("--block" in note for note in notes) == 1


def test_another_answer_takes_no_rejection_away():
    """A column that goes with the answer and all that acts on it, or a table sorted by one, may look like a drift."""
    for seed in range(3):
        table, rng = drifting(seed, 0.0, 2.0, ""), np.random.default_rng(seed)
        beside = table["y"].to_numpy() + rng.standard_normal(len(table))
        place = pl.Series(np.argsort(np.argsort(beside)) + 1)
        for one in (table.with_columns(place=place), table[np.argsort(beside)]):
            assert check(one, ["a", "b"], target="y", draws=9).verdict == "assumption unsupported"


def test_taking_off_leaves_what_least_squares_leaves_stretched():
    table = drifting(1, 10.0)
    train = read_tables([table], ["a", "b"], target="y")[0]
    read = read_tables([table], ["a", "b", "run"], target="y")[0]
    codes, order = read.codes[:, :2].astype(np.int64), (read.codes[:, 2] / 86 * 2 - 1)[:, None]
    known = Identifiability(train.codes.astype(np.int64), train.space.shape, 1)
    off = taken_off(train, known, codes, order, read.target)
    assert off is not None
    assert not off.goes_with_effects
    assert (off.table.codes == train.codes).all()
    both = np.hstack([known.rows.floats(codes), order])
    y = read.target.mean
    left = y - both @ np.linalg.lstsq(both, y, rcond=None)[0]
    assert np.abs(left @ both).max() < 1e-9
    apart = stretched(left, both, np.ones(len(y)), codes, known.rank)
    mean = np.array([apart[(codes == cell).all(axis=1)].mean() for cell in off.table.codes])
    x = known.rows.floats(off.table.codes)
    there = off.table.target.mean - x @ np.linalg.lstsq(x, off.table.target.mean, rcond=None)[0]
    expected = mean - x @ np.linalg.lstsq(x, mean, rcond=None)[0]
    assert there == pytest.approx(expected, abs=1e-9)
