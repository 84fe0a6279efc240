"""Rows of combinations that are excluded."""

from __future__ import annotations

import polars as pl
import pytest

from recombine.errors import InputError
from recombine.support.table import read_tables

ROWS = {"a": ["x", "x", "Total", "Total"], "dose": [1.0, 2.0, 1.0, 2.0], "y": [1.0, 2.0, 3.0, 4.0]}


def read(*exclude, table=ROWS, **how):
    return read_tables([table], ["a", "dose"], target="y", exclude=exclude, **how)[0]


@pytest.mark.parametrize("level", ["Total", "total", " TOTAL "])
def test_a_level_that_is_excluded_is_none_any_more(level):
    table = read({"a": level})
    assert table.space["a"].levels == ("x",)
    assert table.excluded == ({"a": level},)
    assert table.notes == (f"2 rows with what is excluded (a={level}) left out.",)


def test_parts_of_combinations_numbers_and_what_no_row_has():
    assert read({"a": "x", "dose": "1"}).rows == 3
    assert read({"dose": 1}).space["dose"].levels == (2.0,)
    assert read({"a": "x", "dose": 3}).excluded == ()
    assert read({"nothing": "x"}).rows == 4  # who asks for it is told later
    assert read({"dose": 1}, bins={"dose": 2}).rows == 4  # a bin is no value


def test_rows_without_a_level_stay_and_files_are_read_as_frames_are(tmp_path):
    gaps = {**ROWS, "a": ["x", None, "Total", "x"]}
    assert read({"a": "Total"}, table=gaps, missing="level").rows == 3
    pl.DataFrame(ROWS).write_csv(tmp_path / "t.csv")
    assert read({"a": "Total", "dose": "2"}, table=tmp_path / "t.csv").rows == 3


def test_copies_of_rows_that_are_left_out_do_not_come_back():
    twice = {n: v * 2 for n, v in ROWS.items()}
    assert read({"a": "Total"}, table=twice, once=True).space["a"].levels == ("x",)


def test_who_excludes_everything_is_told():
    with pytest.raises(InputError, match="every row of a table is excluded"):
        read({"a": "x"}, {"a": "Total"})
