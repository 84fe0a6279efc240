"""A drift that is found and goes with a factor leaves adding up not shown; one that is not there changes nothing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recombine.checks import CheckResult, check
from recombine.checks.columns.drifting import drifting
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.rules.drifted import Drift
from recombine.support.table import read_tables

FACTORS = ["a", "b"]


def level_by_level(seed: int, drift: float, kind: str = "number", rows: int = 300) -> pl.DataFrame:
    """Eight by six that add up, ten days, on which levels of one factor roughly follow one another."""
    rng = np.random.default_rng([seed, 5])
    seen = rng.permutation(48)[:36]
    i, j = np.divmod(np.concatenate([seen, rng.choice(seen, rows - len(seen))]), 6)
    day = np.argsort(np.argsort(i + rng.normal(0, 1, rows))) * 10 // rows
    sums = rng.normal(0, 0.7, 8)[i] + rng.normal(0, 0.7, 6)[j] + drift * (day / 9 - 0.5)
    y = {
        "number": sums + rng.standard_normal(rows),
        "price": np.exp(4 + sums / 2 + 0.2 * rng.standard_normal(rows)),
        "class": np.where(rng.random(rows) < 1 / (1 + np.exp(-sums)), "yes", "no"),
    }[kind]
    days = [f"2026-03-{d + 1:02d}" for d in day]
    return pl.DataFrame({"a": [f"a{v}" for v in i], "b": [f"b{v}" for v in j], "day": days, "y": y})


def checked(table: pl.DataFrame, **more) -> CheckResult:
    return check(table, FACTORS, target="y", draws=9, **more)


@pytest.mark.parametrize(("kind", "drift", "rows"), [("number", 4.0, 300), ("price", 3.0, 300), ("class", 3.0, 1500)])
def test_a_drift_that_is_found_and_goes_with_a_factor_leaves_adding_up_not_shown(kind, drift, rows):
    drifting = [checked(level_by_level(seed, drift, kind, rows)) for seed in range(3)]
    still = [checked(level_by_level(seed, 0.0, kind, rows)).verdict for seed in range(3)]
    assert [result.verdict for result in drifting] == ["assumption unsupported"] * 3
    assert sum(verdict.startswith("determined") for verdict in still) >= 2
    words = "answers drift over day, which can hardly be told from what a does: "
    words += "name it, or its weeks" if kind == "class" else "name it with --block day (blocks='day')"
    counted = "what a drift over day may add is counted"
    assert all(words in result.sentence() and counted in result.sentence() for result in drifting)
    assert not any("All this supposes that nothing drifts" in result.sentence() for result in drifting)


def test_days_that_are_named_are_taken_off():
    assert checked(level_by_level(0, 4.0), blocks="day").verdict == "determined"


def test_a_drift_in_random_order_goes_with_no_factor():
    table = level_by_level(1, 0.0)
    day = np.random.default_rng(0).permutation(300) * 10 // 300
    days = [f"2026-03-{d + 1:02d}" for d in day]
    result = checked(table.with_columns(day=pl.Series(days), y=pl.col("y") + 4 * day / 9))
    assert result.verdict == "determined"
    assert any("column day, which is not named" in note for note in result.notes)


def in_rows(seed: int, drift: float, column: str = "", rows: int = 300) -> pl.DataFrame:
    """Rows in the order in which they were run, levels roughly one after another; ``column`` numbers them."""
    rng = np.random.default_rng([seed, 6])
    i, j = np.divmod(rng.choice(rng.permutation(48)[:36], rows), 6)
    order = np.argsort(i + rng.standard_normal(rows))
    y = rng.normal(0, 0.7, 8)[i[order]] + rng.normal(0, 0.7, 6)[j[order]] + drift * np.arange(rows) / rows
    beside = {"a": [f"a{v}" for v in i[order]], "b": [f"b{v}" for v in j[order]], "y": y + rng.standard_normal(rows)}
    if not column:
        return pl.DataFrame(beside)
    return pl.DataFrame(beside | {column: range(1, rows + 1)}).sample(rows, shuffle=True, seed=seed)


def found(table: pl.DataFrame) -> Drift | None:
    train = read_tables([table], FACTORS, target="y")[0]
    return drifting(table, train, (), 1, None, target="y", split=None, numbers={})


@pytest.mark.parametrize("column", ["", "place"])
def test_the_order_of_rows_and_a_column_that_numbers_them_are_a_time(column):
    results = [checked(in_rows(seed, 4.0, column)) for seed in range(1)]
    assert [result.verdict for result in results] == ["assumption unsupported"]
    over = f"answers drift over {column or 'the rows of the table'}, which can hardly be told from what a does"
    assert all(over in result.sentence() and "may add is counted" in result.sentence() for result in results)


def test_no_drift_is_found_where_there_is_none_or_rows_are_sorted_by_what_came():
    still = [found(in_rows(seed, 0.0, column)) for seed in range(100, 106) for column in ("", "run")]
    assert sum(drift is not None for drift in still) <= 1
    for seed in range(2):
        table, rng = in_rows(seed, 0.0), np.random.default_rng(seed)
        other = table.with_columns(other=pl.col("y") + pl.Series(rng.standard_normal(300))).sort("other")
        assert [found(t) for t in (table.sort("y"), table.sort("a", "y"), other)] == [None] * 3


def test_what_sums_take_over_is_what_least_squares_does():
    table = in_rows(0, 4.0)
    drift, train = found(table), read_tables([table], FACTORS, target="y")[0]
    assert drift is not None
    asked = np.stack(np.meshgrid(range(8), range(6), indexing="ij"), axis=-1).reshape(-1, 2)
    known = Identifiability(train.codes.astype(np.int64), train.space.shape, 1)
    order = np.linspace(-1, 1, 300)
    rows = np.stack([table[name].str.tail(1).cast(pl.Int64).to_numpy() for name in FACTORS], axis=1)
    x = known.rows.floats(rows)
    takes = known.rows.floats(asked) @ np.linalg.lstsq(x, order, rcond=None)[0]
    said = drift.drawn(asked).mean(axis=2)[:, 0]
    assert abs(np.corrcoef(said, takes)[0, 1]) > 0.999


def test_the_forecast_of_a_drifting_table_is_wider_and_of_one_that_stands_still_the_same():
    drifting_, still = (checked(in_rows(1, drift)).forecast for drift in (4.0, 0.0))
    assert drifting_ is not None
    assert still is not None
    assert drifting_.drifts
    assert drifting_.error > 2 * still.error
    assert still.drift is None
    codes = np.array([[0, 0], [7, 5]])
    wide, narrow = (np.subtract(f.estimate(codes).high, f.estimate(codes).low) for f in (drifting_, still))
    assert (wide > 1.3 * narrow).all()


def test_no_drift_is_found_along_rows_in_the_order_of_a_factor_that_is_cut_into_bins():
    """Seven of twelve such tables had one before, as answers change with it within a bin."""
    found = 0
    for seed in range(60, 66):
        rng = np.random.default_rng([5, seed])
        dose, cell = np.sort(rng.uniform(0, 10, 120)), rng.integers(0, 4, 120)
        y = 10 + 1.5 * dose + np.array([0, 1, -1, 2])[cell] + rng.normal(0, 0.5, 120)
        given = pl.DataFrame({"dose": dose.round(3), "cell": [f"c{c}" for c in cell], "y": y.round(3)})
        result = check(given, ["dose", "cell"], target="y", bins={"dose": 3}, draws=9)
        found += any("drift over the rows" in note for note in result.notes)
    assert found == 0


@pytest.mark.parametrize("seed", range(500, 506))
def test_classes_that_are_hardly_ever_due_are_no_drift(seed: int) -> None:
    """Drawn independently, in random order."""
    rng = np.random.default_rng([seed, 77])
    effects = [rng.normal(0, 0.7, n) for n in (5, 4, 3)]
    cells = np.array([c for c in np.ndindex(5, 4, 3) if rng.random() < 0.7]).repeat(4, axis=0)
    codes = cells[rng.permutation(len(cells))]
    value = 2 + sum(e[c] for e, c in zip(effects, codes.T, strict=True)) + rng.normal(0, 0.6, len(codes))
    words = np.array(list("abcde"))[np.clip(value.round(), 0, 4).astype(int)]
    names = {name: [f"{name}{level}" for level in column] for name, column in zip("svd", codes.T, strict=True)}
    result = check(pl.DataFrame({**names, "y": words}), factors=["s", "v", "d"], target="y")
    assert not any("drift" in note for note in result.notes)
