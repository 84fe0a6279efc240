"""What columns besides the factors add is taken off before rules are looked for, and nothing else is."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import recombine as rc
from recombine.mechanisms.tables.besides import columns_taken_off


def _rows(seed: int = 0, each: int = 6) -> dict[str, Any]:
    """Answers that add up and go with an age and a ward, curved; ``bare`` is what the factors say."""
    rng = np.random.default_rng(seed)
    a, b = np.indices((7, 7)).reshape(2, -1).repeat(each, axis=1)
    age, ward = rng.uniform(20, 80, size=len(a)), rng.integers(3, size=len(a))
    bare = rng.normal(size=7)[a] + rng.normal(size=7)[b]
    adds = np.abs(age - 50) / 10 + ward
    hidden = (a + 2 * b) % 7 < 2
    part = np.where(hidden | (np.tile(np.arange(each), 49) == 0), "test", "train")
    known = ~hidden & (part == "train")
    by_b = np.array([bare[known & (b == level)].mean() for level in range(7)])[b]
    more = {"age": age, "ward": np.array(["x", "y", "z"])[ward], "junk": rng.normal(size=len(a))}
    y = bare + adds + 0.1 * rng.normal(size=len(a))
    more["other"] = bare + adds + 0.2 * rng.normal(size=len(a))  # Another model's predictions, which say it all.
    p = np.where(hidden, by_b, bare) + adds
    return {"a": a, "b": b, "part": part, "bare": bare, "y": y, "p": p, "adds": adds, "hidden": hidden, **more}


@pytest.mark.parametrize("there", [1, -1, 0])
def test_taken_off_is_what_the_columns_add_to_each_however_they_are_read_where_unseen(there: int):
    rows = pl.DataFrame(_rows())
    read = np.where(rows["hidden"], there, 1) * rows["adds"].to_numpy()
    rows = rows.with_columns(p=pl.col("p") - pl.col("adds") + read)
    used = {"a", "b", "part", "bare", "y", "p", "adds", "hidden"}
    (got,), names, _ = columns_taken_off([rows], ["a", "b"], "y", "p", used, rows["hidden"].to_numpy())
    assert sorted(names) == ["age", "ward"]
    for name, adds in (("p", read), ("y", rows["adds"].to_numpy())):
        left = (got[name] - rows[name] + adds).to_numpy()
        for side in (rows["hidden"].to_numpy(), ~rows["hidden"].to_numpy()):
            assert left[side].std() < 0.05 * rows["adds"].std()  # The line bends near where the curve does.


def test_of_two_columns_that_are_read_the_misread_one_is_named():
    rows = _rows()
    there = rows["p"] - rows["adds"] + rows["junk"] * rows["hidden"]  # The age and the ward are read, and rightly.
    table = pl.DataFrame({**rows, "p": there + rows["adds"]}).drop("bare", "adds", "hidden", "other")
    found = rc.measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert found.mechanisms[-1] == "misread junk"
    assert found.sentence().endswith("; misread junk.")


def test_a_misread_column_is_named_beside_the_shortcut_and_one_that_is_read_nowhere_is_not():
    rows = pl.DataFrame(_rows())
    adds = pl.col("adds") - pl.col("adds").mean()
    less = {"there": 2 * adds * pl.col("hidden"), "everywhere": adds}
    named = {}
    for where, off in less.items():
        table = rows.with_columns(p=pl.col("p") - off).drop("bare", "adds", "hidden", "other")
        named[where] = rc.measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert named["there"].mechanisms[0] == "shortcut by b"
    assert named["there"].mechanisms[1].startswith("misread ")
    assert not any(m.startswith("misread") for m in named["everywhere"].mechanisms)


@pytest.mark.parametrize("tables", [1, 2])
def test_a_shortcut_is_named_beside_a_covariate_and_not_without_its_columns(tables: int):
    rows = pl.DataFrame(_rows()).drop("bare", "adds", "hidden")
    test = pl.col("part") == "test"
    told = {"split": "part=test"} if tables == 1 else {"train": rows.filter(~test).drop("p", "part")}
    asked = rows if tables == 1 else rows.filter(test).drop("part")
    found = rc.measure_predictions(asked, ["a", "b"], target="y", prediction="p", **told)
    assert (found.verdict, found.mechanisms) == ("fails", ("shortcut by b",))
    assert any("without what ward, age add to" in n or "without what age, ward add to" in n for n in found.notes)
    without = rc.measure_predictions(
        asked.drop("age", "ward"), ["a", "b"], target="y", prediction="p",
        **{k: v if k == "split" else v.drop("age", "ward") for k, v in told.items()},
    )  # fmt: skip
    assert (without.mechanisms, without.unseen) == ((), found.unseen)
    assert any("may go unnamed" in note for note in without.notes)


@pytest.mark.parametrize("off", [1.0, 0.0])
def test_rows_of_one_value_that_are_wrong_where_unseen_are_noted_within_the_margin(off: float):
    rows = _rows(each=20)
    child = np.random.default_rng(5).random(len(rows["a"])) < 0.04
    table = {name: rows[name] for name in ("a", "b", "part")} | {"kind": np.where(child, "child", "adult")}
    table["y"] = rows["bare"] + 0.3 * np.random.default_rng(6).normal(size=len(child))
    table["p"] = rows["bare"] + off * (child & rows["hidden"])
    found = rc.measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert (found.verdict, found.mechanisms) == ("composes", ())
    assert any("is misread on unseen combinations: share of" in note for note in found.notes) == (off > 0)
