"""Repeats that share runs are noticed; independent ones are not, nor a table that is sorted by its answers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from planted_tables import grid
from scipy.stats import f as f_distribution

from recombine.checks import check
from recombine.checks.columns.shared import by_order, too_near
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.headed import Headed
from recombine.support.table import Target, read_tables

FACTORS, ROWS = ["a", "b"], 3


def planted(seed: int, runs: float = 0.0, pairs: float = 0.0, in_sites: bool = False, rows: int = ROWS) -> pl.DataFrame:
    """28 of 42 combinations, each in every run; ``in_sites``: each b has runs of its own."""
    rng = np.random.default_rng([seed, 23])
    one, two, both = rng.normal(0, 4, 7), rng.normal(0, 4, 6), rng.normal(0, pairs, (7, 6))
    shift = rng.normal(0, runs, (6, rows)) if in_sites else np.tile(rng.normal(0, runs, rows), (6, 1))
    seen = grid(7, 6)[rng.permutation(42)[:28]]
    y = [50 + one[i] + two[j] + both[i, j] + shift[j, k] + rng.normal() for i, j in seen for k in range(rows)]
    levels = {n: [f"{n}{v}" for v in np.repeat(seen[:, k], rows)] for k, n in enumerate(FACTORS)}
    return pl.DataFrame(levels | {"run": np.tile(np.arange(rows), 28), "y": np.round(y, 2)})


def found_by_order(table: pl.DataFrame):
    train = read_tables([table], FACTORS, target="y")[0]
    known = Identifiability(train.codes.astype(np.int64), train.space.shape, 1)
    return by_order(table, train, known, target="y", split=None)


def test_lack_of_fit_at_its_lower_end_is_that_of_the_ordinary_f():
    codes, rng = grid(4, 5), np.random.default_rng(0)
    known = Identifiability(codes, (4, 5), 1)
    mean, spread = rng.normal(size=20), np.full(20, 12.0)  # equal noise: that of all and each one's own agree
    target = Target("y", None, np.full(20, 3), mean, spread)
    left = mean.reshape(4, 5)
    left = left - left.mean(axis=1, keepdims=True) - left.mean(axis=0) + left.mean()
    value = 3 * (left**2).sum() / 12 / 6.0
    fit, p = too_near(known, target)
    assert fit == pytest.approx(value)
    assert p >= f_distribution.cdf(value, 12, 40) * (1 - 1e-9)
    assert too_near(known, Target("y", None, np.ones(20, dtype=np.int64), mean, np.zeros(20))) is None


def test_independent_repeats_are_seldom_said_to_share_anything():
    said = 0
    for seed in range(40):
        table = planted(seed, pairs=2.0 * (seed % 2)).drop("run")
        train = read_tables([table], FACTORS, target="y")[0]
        near = too_near(Identifiability(train.codes.astype(np.int64), train.space.shape, 1), train.target)
        said += found_by_order(table) is not None or (near is not None and near[1] < 0.01)
    assert said <= 3


def test_of_a_few_combinations_that_are_repeated_nothing_is_said():
    once = planted(0).unique(FACTORS, maintain_order=True)
    few = pl.concat([once, once.head(3).with_columns(pl.col("y") + pl.Series([1.0, -2.0, 3.0]))])
    assert found_by_order(few) is None


def test_many_repeats_of_a_design_on_which_lapack_gives_up_are_gone_through():
    seen = np.array([0, 1, 2, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23, 26, 27])
    a, b = np.divmod(np.repeat(seen, 50), 6)
    y = np.random.default_rng(0).normal(size=len(a))
    assert found_by_order(pl.DataFrame({"a": a.astype(str), "b": b.astype(str), "y": y})) is None


def test_runs_are_found_by_the_order_of_rows_and_their_shifts_taken_off():
    found = found_by_order(planted(0, runs=2.0, pairs=2.0))
    assert found is not None
    assert found.factor == ""
    assert found.p_value < 1e-4
    assert found.without.table.target.scatter == pytest.approx(1.0, abs=0.3)
    sites = found_by_order(planted(0, runs=2.0, in_sites=True))
    assert sites is not None
    assert sites.factor == "b"


def test_shifts_are_taken_off_exactly_and_leave_means_of_complete_combinations():
    table = planted(0).with_columns(y=pl.col("y") + pl.col("run").replace_strict([0, 1, 2], [5.0, -7.0, 2.0]))
    found, plain = found_by_order(table), read_tables([planted(0)], FACTORS, target="y")[0]
    assert found.shifts == pytest.approx([5, -7, 2], abs=0.6)
    assert found.without.table.target.mean == pytest.approx(plain.target.mean)
    assert (found.without.table.codes == plain.codes).all()


@pytest.mark.parametrize("rows", [2, 3])
def test_a_sorted_table_tells_nothing_by_its_order_unless_runs_differ_by_more(rows):
    assert found_by_order(planted(0, rows=rows).sort("y")) is None
    assert found_by_order(planted(0, rows=rows).sort("y", descending=True)) is None
    shifted = planted(0, rows=rows).with_columns(y=pl.col("y") + 8 * pl.col("run"))
    assert found_by_order(shifted) is not None


def test_what_is_said_and_no_longer_said_of_repeats_that_share_runs():
    table = planted(1, runs=4.0).drop("run")
    result = check(table, FACTORS, target="y", draws=9)
    (note,) = [n for n in result.notes if "rows of combinations, in the order of the table, are off" in n]
    assert isinstance(note, Headed)
    assert note.gist in result.sentence()
    assert result.forecast.error_many_rows is None
    assert result.forecast.shared
    assert "nothing is said against means of very many rows" in result.sentence()
    assert "do not contradict that (with shifts of first, second … rows taken off)" in result.sentence()
    shuffled = check(table.sample(fraction=1.0, shuffle=True, seed=0), FACTORS, target="y", draws=9)
    assert [n for n in shuffled.notes if "lie nearer to sums of effects than the scatter of repeated rows allows" in n]
    assert shuffled.forecast.shared
    assert "counted once" in shuffled.sentence()
    plain = check(planted(1).drop("run"), FACTORS, target="y", draws=9)
    assert not plain.forecast.shared
    assert plain.forecast.error_many_rows is not None


def test_a_column_of_runs_mends_the_test_of_adding_up():
    table = planted(0, runs=4.0, pairs=2.0)
    shuffled = table.sample(fraction=1.0, shuffle=True, seed=0)
    column, named = (check(shuffled, FACTORS, target="y", draws=9, **how) for how in ({}, {"blocks": "run"}))
    assert column.verdict == named.verdict == "assumption unsupported"
    assert "with shifts of run taken off" in column.sentence()
    assert check(shuffled.drop("run"), FACTORS, target="y", draws=9).verdict == "determined"  # nothing shows it there
