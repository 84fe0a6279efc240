"""Columns that nobody named and that go with a factor."""

from __future__ import annotations

import numpy as np
import polars as pl

from recombine.checks import check
from recombine.checks.columns.bystanders import bystanders


def _table(**more):
    a, b = (part.ravel() for part in np.meshgrid(np.arange(4), np.arange(4), indexing="ij"))
    return {"resin": [f"R{i}" for i in a], "buffer": [f"B{i}" for i in b], "y": (a + 2.0 * b).tolist(), **more}


def test_a_day_that_is_the_same_for_all_rows_of_a_resin_is_said(tmp_path):
    table = _table(day=[f"d{i // 8}" for i in range(16)], note=[f"n{i}" for i in range(16)], site=["x"] * 16)
    (note,) = [n for n in check(table, ["resin", "buffer"], target="y").notes if "the same for all rows" in n]
    assert note == (
        "column day is the same for all rows of each resin: what is said of resin may be that of day, and holds only "
        "for these values, unless it merely describes resin."
    )
    path = tmp_path / "t.csv"
    pl.DataFrame(table).write_csv(path)
    assert note in check(path, ["resin", "buffer"], target="y").notes
    table["day"][0] = "d1"  # in one row another day: the two can be told apart
    assert bystanders(table, ["resin", "buffer"], {"y"}, False, None) == []
    assert bystanders(_table(), ["resin", "buffer"], {"y"}, False, None) == []


def test_one_sentence_for_many_columns_and_spellings_that_are_merged():
    days = {name: [i // 4 for i in range(16)] for name in "pqrst"}
    (note,) = bystanders(_table(**days), ["resin", "buffer"], {"y"}, False, None)
    assert note.startswith("columns p, q, r and 2 more are the same for all rows of each resin: ")
    table = _table(day=["d1"] * 4 + ["d2"] * 4 + ["d1"] * 8)
    table["resin"] = ["r0"] * 4 + ["R0"] * 4 + ["R1"] * 8
    assert len(bystanders(table, ["resin"], {"y", "buffer"}, False, None)) == 1
    assert bystanders(table, ["resin"], {"y", "buffer"}, True, None) == []


def test_columns_drawn_at_random_are_seldom_named():
    rng = np.random.default_rng(0)
    named = [
        bystanders(
            {"a": rng.integers(0, 5, rows), "c": rng.integers(0, 2, rows), "y": rng.normal(size=rows)},
            ["a"],
            "y",
            0,
            None,
        )
        for rows in rng.integers(4, 20, 300)
    ]
    assert sum(map(bool, named)) <= 6
