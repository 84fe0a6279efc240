"""Levels that never meet within a day are named; where they do, or a column merely describes rows, nothing is."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
from planted_tables import grid

from recombine.checks import check
from recombine.checks.columns.in_blocks import in_blocks, like_drift, pieces
from recombine.checks.headed import Headed
from recombine.errors import InputError

CODES = np.repeat(grid(4, 5), 3, axis=0)
FACTORS = ["resin", "soil"]


def table(rng, **columns) -> pl.DataFrame:
    factors = {"resin": [f"r{v}" for v in CODES[:, 0]], "soil": [f"s{v}" for v in CODES[:, 1]]}
    return pl.DataFrame(factors | columns | {"y": CODES @ [1.0, 2.0] + 0.1 * rng.standard_normal(len(CODES))})


def said(rng, **columns) -> list[str]:
    return in_blocks(table(rng, **columns), FACTORS, {"y"}, None, None, None)


def begun(order) -> list[str]:
    return [str(datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=7 * int(i))) for i in order]


def test_pieces_are_those_of_the_graph():
    level, value = np.array([0, 0, 1, 2, 3, 3]), np.array([0, 1, 1, 2, 2, 3])
    assert pieces(level, value).tolist() == [0, 0, 1, 1]
    assert len(np.unique(pieces(level, np.array([0, 1, 1, 2, 2, 0])))) == 1


def test_levels_that_share_no_day_are_named():
    rng = np.random.default_rng(0)
    (note,) = said(rng, day=2 * CODES[:, 0] + rng.integers(0, 2, len(CODES)))
    assert note.startswith("levels of resin (r0, r1, r2, …) share no value of column day: if that is a day, a plate")
    (note,) = said(rng, plate=np.where(CODES[:, 0] < 2, 0, 1 + rng.integers(0, 2, len(CODES))))
    assert note.startswith("of resin, r0 and r1; r2 and r3 share no value of column plate")


def test_times_in_the_order_of_a_factor_cannot_be_told_from_a_drift():
    rng = np.random.default_rng(0)
    order = np.argsort(np.argsort(3 * CODES[:, 0] + rng.random(len(CODES))))
    (note,) = said(rng, begun=begun(order))
    assert note.startswith("by column begun rows of one resin follow those of another: 94 % of what a steady drift")
    assert isinstance(note, Headed)
    assert note.gist.startswith("All this supposes that nothing drifts over begun")


def test_a_drift_is_said_in_the_same_words_whether_or_not_levels_share_a_day():
    rng, order = np.random.default_rng(0), np.argsort(np.argsort(CODES[:, 0], kind="stable"))
    notes = [said(rng, date=[f"2024-03-{d + 1:02}" for d in order // rows]) for rows in (4, 5, 7)]  # 15 rows a level
    assert [len(found) for found in notes] == [1, 1, 1]
    assert len({note.split(" % ")[1] for (note,) in notes}) == 1
    assert all(isinstance(note, Headed) for (note,) in notes)


def in_order(rng, drift: float, rows: int) -> pl.DataFrame:
    """Three levels one after another, which differ by 3, with so many rows each."""
    level, order = np.repeat(np.arange(3), rows), np.arange(3 * rows)
    y = 3 * level + drift * order / len(order) + rng.standard_normal(len(order))
    return pl.DataFrame(
        {"resin": [f"r{v}" for v in level], "soil": [f"s{v}" for v in rng.integers(0, 4, len(order))],
         "begun": begun(order), "day": order // 40, "y": y}
    )  # fmt: skip


def test_nothing_is_said_of_a_drift_where_the_answers_tell_that_it_is_small():
    def often(drift: float, rows: int) -> int:
        tables = (in_order(np.random.default_rng(seed), drift, rows) for seed in range(8))
        return sum(any("steady drift" in n for n in in_blocks(t, FACTORS, {"y"}, "y", None, None)) for t in tables)

    assert often(0.0, 12) == 8  # too few rows to tell
    assert often(0.0, 400) == 0
    assert often(6.0, 400) == 8


def test_a_drift_from_block_to_block_is_taken_off_with_the_blocks():
    table = in_order(np.random.default_rng(0), 6.0, 400)
    for blocks, said in (([], True), (["day"], False)):
        notes = in_blocks(table, FACTORS, {"y", *blocks}, "y", None, None, blocks)
        assert any("steady drift" in note for note in notes) is said


def test_levels_one_after_another_leave_one_of_their_square_to_tell_a_drift_by():
    for levels in (2, 3, 6):
        level = np.repeat(np.arange(levels), 2000)
        rows = np.arange(len(level))
        assert like_drift(level, rows.astype(float), rows // 2) == pytest.approx(1 - 1 / levels**2, abs=1e-6)
    assert like_drift(np.tile([0, 1], 50), np.arange(100.0), np.arange(100)) == 0  # alternating
    assert like_drift(np.arange(4), np.arange(4.0), np.arange(4)) == 0  # a row each
    assert like_drift(np.repeat([0, 1], 50), np.arange(100.0), np.repeat([0, 1, 2], [50, 25, 25])) == 0  # chance


def test_a_day_that_describes_levels_is_no_time_of_rows():
    rng = np.random.default_rng(0)
    assert said(rng, released=[f"2019-0{v + 1}-01" for v in CODES[:, 0]]) == []


def test_columns_that_meet_all_levels_or_describe_rows_are_not_named():
    named = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 1])
        columns = {
            "operator": rng.choice(["ann", "bo"], len(CODES)), "lot": rng.permutation(len(CODES)) // 2,
            "date": [f"2024-03-{d + 1:02}" for d in rng.permutation(len(CODES)) // 3], "id": np.arange(len(CODES)),
            "sample": [f"{a}-{b}" for a, b in CODES], "begun": begun(rng.permutation(len(CODES))),
            "kind": CODES[:, 0] // 2, "oven": rng.normal(20, 3, len(CODES)).round(),
        }  # fmt: skip
        named += bool(said(rng, **columns))
    assert named <= 1


@pytest.mark.parametrize("write", [lambda d: d, lambda d: 4711 + 37 * d, lambda d: [f"lot {v}" for v in d]])
def test_days_batches_and_runs_within_levels_are_named_however_they_are_written(write):
    day = 5 * CODES[:, 0] + np.random.default_rng(0).integers(0, 5, 60)
    (note,) = said(np.random.default_rng(0), day=write(day))
    assert note.startswith("levels of resin (r0, r1, r2, …) share no value of column day")


def test_what_is_measured_or_names_rows_is_no_day():
    rng = np.random.default_rng(0)
    profit = CODES[:, 0] * 10 + rng.integers(0, 8, len(CODES)) / 2
    own = np.where(rng.random(60) < 0.7, np.arange(60), 60 + CODES[:, 0])  # most names are of a row each
    assert said(rng, profit=profit) == said(rng, profit=[f"{v:.1f}".replace(".", ",") for v in profit]) == []
    assert said(rng, car=[f"car {v}" for v in own]) == []
    part = 2 * CODES[:, 0] + rng.integers(0, 2, len(CODES))
    assert len(said(rng, part=part)) == 1
    assert said(rng, PostalCode=part) == said(rng, **{"name of car": part}) == []


def test_a_check_notes_an_unnamed_day_and_refuses_a_named_one_by_name():
    rng = np.random.default_rng(0)
    days = table(rng, day=np.where(CODES[:, 0] < 2, 0, 1 + rng.integers(0, 2, len(CODES))))[:-3]
    groups = "of resin, r0 and r1; r2 and r3 share no value of column day"
    assert [n for n in check(days, FACTORS, target="y", draws=9).notes if n.startswith(groups)]
    with pytest.raises(InputError, match=f"1 of their differences; {groups}"):
        check(days, FACTORS, target="y", draws=9, blocks="day")


def test_rows_that_ask_have_no_day_and_what_is_said_of_days_is_said_all_the_same():
    rng = np.random.default_rng(0)
    rows = table(rng, day=2 * CODES[:, 0] + rng.integers(0, 2, len(CODES)), plate=rng.integers(0, 4, len(CODES)))
    rows = rows.with_columns(pl.col("y") + 2 * pl.col("plate"))
    seen = rows.filter((pl.col("resin") != "r0") | (pl.col("soil") == "s0"))
    asked = pl.DataFrame({"resin": ["r0", "r0"], "soil": ["s1", "s2"]})
    both = pl.concat([seen, asked], how="diagonal")
    notes = [" ".join(map(str, check(one, FACTORS, target="y", draws=9).notes)) for one in (seen, both)]
    for told in notes:
        assert "share no value of column day" in told
        assert "column plate, which is not named, explains 99 %" in told
