"""What is not a table, or not asked for as one can be: each refused in one sentence that names the place."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recombine.errors import InputError
from recombine.support.table import read_tables

FRAME = {"shape": ["disc", "square", "disc", "disc"], "size": [1, 2, 1, 2]}


def _file(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("empty.csv", "", "is empty"),
        ("blank.csv", "\n \n", "is empty"),
        ("header.csv", "a,b\n", "no rows"),
        ("picture.csv", bytes(range(256)) * 40, "neither Parquet nor text"),
        ("undefined.csv", b"a\nZ\x81rich\n", "not UTF-8"),
        ("data.csv", '{"a": [1, 2]}', "JSON or markup"),
        ("page.csv", "<html><body>a</body></html>", "JSON or markup"),
        ("fake.parquet", "a,b\n1,2\n", "neither Parquet nor text"),
        ("cut.parquet", b"PAR1" + b"x" * 50, "not a table"),
    ],
)
def test_what_is_not_a_table_is_said_in_one_sentence(tmp_path, name, content, word):
    with pytest.raises(InputError, match=word) as caught:
        read_tables([_file(tmp_path, name, content)], ["a"])
    assert "\n" not in str(caught.value)


def test_a_truncated_parquet_file_is_refused(tmp_path):
    whole = tmp_path / "whole.parquet"
    pl.DataFrame({"a": list(range(5000))}).write_parquet(whole)
    path = _file(tmp_path, "torn.parquet", whole.read_bytes()[:3000])
    with pytest.raises(InputError, match="not a table"):
        read_tables([path], ["a"])


@pytest.mark.parametrize(
    ("table", "factors", "options", "word"),
    [
        (FRAME, ["shpae"], {}, "did you mean 'shape'"),
        (FRAME, [], {}, "at least one factor"),
        (FRAME, ["shape", "shape"], {}, "named twice"),
        (FRAME, ["shape"], {"target": "shape"}, "both a factor and the target"),
        (FRAME, ["shape"], {"target": "weight"}, "unknown column 'weight'"),
        (FRAME, ["shape"], {"bins": {"size": 3}}, "unknown factor to bin"),
        (FRAME, ["size"], {"bins": {"size": 1}}, "at least 2"),
        (FRAME, ["shape"], {"bins": {"shape": 3}}, "not numbers"),
        (FRAME, ["shape"], {"max_rows": 3}, "4 rows, more than the 3 allowed"),
        (FRAME, ["shape"], {"max_bytes": 3}, "more than the 3 allowed"),
        (FRAME, ["shape"], {"split": ("size", "7")}, "unknown value of the split column 'size': '7'"),
        ({"a": [1.0, float("inf")]}, ["a"], {}, "infinite"),
        ({"a": [1.0, float("inf")]}, ["a"], {"bins": {"a": 2}}, "infinite"),
        ({"a": ["1", "1e308"]}, ["a"], {}, "1e\\+308, too large"),
        ({"a": [1, 2], "y": [1.0, float("inf")]}, ["a"], {"target": "y"}, "column 'y' holds the infinite number inf"),
        ({"a": [1, 2], "y": ["1", "-inf"]}, ["a"], {"target": "y"}, "-inf .row 2 below the header.; correct such"),
        ({"a": [1, 2], "y": [1.0, 1e308]}, ["a"], {"target": "y"}, "too large to calculate with"),
        ({"a": [1, 2], "y": ["-", " "]}, ["a"], {"target": "y"}, "is empty"),
        ({"a": [[1], [2]]}, ["a"], {}, "a factor is a column of"),
        ({"a": [1, 2], "y": [[1], [2]]}, ["a"], {"target": "y"}, "a target is a column of"),
        ({"a": [1], "y": [None]}, ["a"], {"target": "y"}, "is empty"),
        ({"a": [1, 2], "y": ["1", "x"]}, ["a"], {"target": "y", "target_kind": "number"}, "x., which is not a number"),
        ({"a": [1, 2], "b": [1]}, ["a"], {}, "equal length"),
        ([1, 2], ["a"], {}, "is a list"),
        (np.zeros(3), ["a"], {}, "rows and columns"),
        ({}, ["a"], {}, "no columns"),
        (42, ["a"], {}, "is a int"),
    ],
)
def test_bad_requests_are_one_sentence(table, factors, options, word):
    with pytest.raises(InputError, match=word) as caught:
        read_tables([table], factors, **options)
    assert "\n" not in str(caught.value)


def test_an_error_of_two_files_names_its_own(tmp_path):
    paths = [tmp_path / "train.csv", tmp_path / "asked.csv"]
    for path, header in zip(paths, ("a,b", "a"), strict=True):
        path.write_text(f"{header}\n{','.join('1' for _ in header.split(','))}\n")
    with pytest.raises(InputError, match=r"in the test table '.*asked\.csv': unknown column 'b'"):
        read_tables(paths, ["a", "b"])
    with pytest.raises(InputError, match=r"in the table '.*train\.csv': unknown column 'c'"):
        read_tables(paths, ["a", "c"])


def test_of_a_wide_table_it_is_said_how_to_make_rows():
    wide = {"model": ["m", "n"]} | {f"task{i}": [1.0, 2.0] for i in range(4)}
    with pytest.raises(InputError) as caught:
        read_tables([wide], ["model", "task"], target="score")
    line = "frame.unpivot(index=['model'], variable_name='task', value_name='score')"
    assert line in str(caught.value)
    assert "task0, task1, task2, …" in str(caught.value)
    frame = pl.DataFrame(wide)
    long = eval(line, {"frame": frame})
    assert long.shape == (8, 3)
    assert read_tables([long], ["model", "task"], target="score")[0].rows == 8
    with pytest.raises(InputError, match="did you mean 'task0'"):
        read_tables([wide], ["model", "tsak0"])
    with pytest.raises(InputError, match="unknown column 'modle'; did you mean 'model'"):
        read_tables([{**wide, "score": [1, 2]}], ["modle", "task1"], target="scoer")


def test_numbers_of_several_units_are_no_classes():
    texts = [f"{5 + i / 10} g" for i in range(6)] + [f"{5100 + i} mg" for i in range(4)]
    with pytest.raises(InputError, match=r"bring them to one unit \(here g, mg\)"):
        read_tables([{"a": list(range(10)), "y": texts}], ["a"], target="y")
    places = ["1st", "2nd", "3rd", "4th", "5th", "6th"]
    assert not read_tables([{"a": list(range(6)), "y": places}], ["a"], target="y")[0].target.numeric


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "train.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"did you mean .*train.csv"):
        read_tables([tmp_path / "trian.csv"], ["a"])
    with pytest.raises(InputError, match="is a folder"):
        read_tables([tmp_path], ["a"])


def test_a_file_that_is_not_there_is_compared_without_its_ending(tmp_path):
    (tmp_path / "holes.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"nope\.csv'\.$"):
        read_tables([tmp_path / "nope.csv"], ["a"])
    with pytest.raises(InputError, match=r"did you mean '.*holes\.csv'\?$"):
        read_tables([tmp_path / "hole.csv"], ["a"])


def test_a_letter_that_the_head_of_a_file_cuts_in_two_is_whole(tmp_path):
    for shift in range(3):
        text = "a\n" + "x" * shift + "é" * 40_000 + "\ny\n"
        assert read_tables([_file(tmp_path, f"{shift}.csv", text)], ["a"])[0].rows == 2


def test_a_row_with_too_many_cells_is_named_by_its_line(tmp_path):
    with pytest.raises(InputError, match=r"line 4 of '.*' has 3 cells and the header 2; a text that holds ','"):
        read_tables([_file(tmp_path, "ragged.csv", 'a,b\n"1,\n5",2\nwhite, off,4\n')], ["a"])
    late = "a,b\n" + "1,2\n" * 20_000 + "3,4,5\n"
    with pytest.raises(InputError, match="a row has more cells than the header"):
        read_tables([_file(tmp_path, "late.csv", late)], ["a", "b"])


def test_two_columns_of_one_name_in_a_file(tmp_path):
    path = _file(tmp_path, "twice.csv", "a,b,a\n1,2,3\n")
    with pytest.raises(InputError, match="has two columns called 'a'; rename one of them"):
        read_tables([path], ["a"])
    assert read_tables([path], ["b"])[0].rows == 1
