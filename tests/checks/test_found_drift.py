"""A drift that is found and goes with a factor leaves adding up not shown; one that is not there changes nothing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recombine.checks import CheckResult, check

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
    drifting = [checked(level_by_level(seed, drift, kind, rows)) for seed in range(4)]
    still = [checked(level_by_level(seed, 0.0, kind, rows)).verdict for seed in range(4)]
    assert [result.verdict for result in drifting] == ["assumption unsupported"] * 4
    assert sum(verdict.startswith("determined") for verdict in still) >= 3
    words = "answers drift over day, which can hardly be told from what a does: "
    words += "a note says what to do" if kind == "class" else "name it with --block day"
    assert all(words in result.sentence() and "if nothing drifts over day" in result.sentence() for result in drifting)


def test_days_that_are_named_are_taken_off():
    assert checked(level_by_level(0, 4.0), blocks="day").verdict == "determined"


def test_a_drift_in_random_order_goes_with_no_factor():
    table = level_by_level(1, 0.0)
    day = np.random.default_rng(0).permutation(300) * 10 // 300
    days = [f"2026-03-{d + 1:02d}" for d in day]
    result = checked(table.with_columns(day=pl.Series(days), y=pl.col("y") + 4 * day / 9))
    assert result.verdict == "determined"
    assert any("column day, which is not named" in note for note in result.notes)
