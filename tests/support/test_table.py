"""Ordinary tables, and tables that are not: every one read as meant or refused in one sentence."""

from __future__ import annotations

import datetime
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from recombine.errors import InputError
from recombine.support.scan import collect, scan
from recombine.support.support import Explicit
from recombine.support.table import read_tables


def levels(table, *factors, **options):
    (read,) = read_tables([table], list(factors), **options)
    return [f.levels for f in read.space.factors]


def combinations(table, *factors, **options):
    (read,) = read_tables([table], list(factors), **options)
    return [tuple(r.values()) for r in read.space.decode(read.codes.astype(np.int64))], read.counts.tolist()


def _file(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


FRAME = {"shape": ["disc", "square", "disc", "disc"], "size": [1, 2, 1, 2]}
EXPECTED = ([("disc", 1), ("disc", 2), ("square", 2)], [2, 1, 1])


@pytest.mark.parametrize("make", [dict, pl.DataFrame, lambda d: pl.DataFrame(d).lazy(), pd.DataFrame])
def test_frames_of_every_kind_read_alike(make):
    assert combinations(make(FRAME), "shape", "size") == EXPECTED


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "parquet"])
def test_files_of_every_kind_read_alike(tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    frame = pl.DataFrame(FRAME)
    if ending == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t" if ending == "tsv" else ";" if ending == "txt" else ",")
    assert combinations(path, "shape", "size") == EXPECTED
    assert combinations(str(path), "shape", "size") == EXPECTED


def test_columns_of_python_objects_are_read_as_what_they_hold():
    word = np.where(np.arange(4) == 0, None, np.array(["no", "yes", "no", "yes"]))  # texts of numpy's own kind
    frame = pl.DataFrame({"a": [0, 1, 0, 1], "y": word})
    assert frame["y"].dtype == pl.Object
    assert collect(scan(frame))["y"].to_list() == [None, "yes", "no", "yes"]


def test_arrays_are_columns_by_number():
    assert combinations(np.array([[0, 1], [1, 1], [0, 1]]), "0", "1") == ([(0, 1), (1, 1)], [2, 1])
    records = np.array([("a", 1), ("b", 2)], dtype=[("name", "U1"), ("n", "i4")])
    assert levels(records, "name", "n") == [("a", "b"), (1, 2)]


def test_a_table_as_a_support():
    support = read_tables([FRAME], ["shape", "size"])[0].support()
    assert isinstance(support, Explicit)
    assert {"shape": "square", "size": 2} in support
    assert {"shape": "square", "size": 1} not in support


def test_kinds_of_levels():
    table = pd.DataFrame(
        {
            "whole": [3, 1, 2],
            "flag": [True, False, True],
            "day": [datetime.date(2024, 5, 1), datetime.date(2024, 4, 1), datetime.date(2024, 5, 1)],
            "moment": pd.to_datetime(["2024-05-01", "2024-04-01", "2024-05-01"]),
            "kind": pd.Categorical(["x", "y", "x"]),
            "ratio": [0.5, 1.5, 0.5],
            "mixed": [1, "a", True],
            "nullable": pd.array([1, 2, 1], dtype="Int64"),
        }
    )
    assert levels(table, *table.columns) == [
        (1, 2, 3),
        (False, True),
        ("2024-04-01", "2024-05-01"),
        ("2024-04-01", "2024-05-01"),
        ("x", "y"),
        (0.5, 1.5),
        ("1", "True", "a"),
        (1, 2),
    ]


def test_texts_of_a_csv_become_what_they_look_like(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n,f,b,code,mixed\n10,0.50,true,007,1\n9,0.5,False,010,x\n")
    assert levels(path, "n", "f", "b", "code", "mixed") == [(9, 10), (0.5,), (False, True), ("007", "010"), ("1", "x")]


def test_a_column_that_changes_its_kind_late_is_no_surprise(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("a\n" + "1\n" * 30_000 + "one\n")
    assert combinations(path, "a") == ([("1",), ("one",)], [30_000, 1])


def test_unicode_names_and_levels(tmp_path):
    path = tmp_path / "zürich 名.csv"
    path.write_text("größe,名\nλ,🙂\nμ,<b>\n", encoding="utf-8")
    assert levels(path, "größe", "名") == [("λ", "μ"), ("<b>", "🙂")]
    path.write_text("\ufeffa,b\n1,2\n", encoding="utf-8")
    assert levels(path, "a") == [(1,)]


def test_all_problems_of_a_table_are_told_at_once():
    table = {"a": ["x", None, "y"], "dose": ["1", "two", "3"], "y": ["1", "2", "n.d."]}
    with pytest.raises(InputError) as told:
        read_tables([table], ["a", "dose"], numbers=["dose"], target="y", target_kind="number")
    text = str(told.value)
    assert text.startswith("the table has 3 problems: (1) column 'a' has 1 missing value (row 2 below the header)")
    assert "(2) column 'dose' holds 'two', which is not a number (row 2 below" in text
    assert "(3) the target 'y' holds 'n.d.', which is not a number (row 3 below" in text


def test_texts_that_differ_in_spaces_or_capitals_are_one_level_where_that_is_said():
    table = {"site": ["US", "US ", "eu", "EU"], "y": ["yes", "no", "Yes", "no"]}
    (apart,) = read_tables([table], ["site"], target="y")
    assert len(apart.space.factors[0]) == 4
    assert "so clean them if they are the same" in apart.notes[0]
    (offered,) = read_tables([table], ["site"], merge_alike=False)
    assert "--merge-alike" in offered.notes[0]
    (merged,) = read_tables([table], ["site"], target="y", merge_alike=True)
    assert merged.space.factors[0].levels == ("EU", "US")
    assert merged.target.classes == ("Yes", "no")
    assert merged.target.mean.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_missing_values_are_asked_about():
    table = {"a": ["x", None, "y"], "b": [1.0, 2.0, float("nan")]}
    with pytest.raises(InputError, match=r"1 missing value .*row \d+ below.*missing='drop'.*missing='level'"):
        read_tables([table], ["a", "b"])
    assert combinations(table, "a", "b", missing="drop") == ([("x", 1.0)], [1])
    assert read_tables([table], ["a", "b"], missing="drop")[0].dropped == 2
    texts = {"a": ["x", None, "y", "y"], "b": ["1", "2", "3", "1"]}
    assert levels(texts, "a", "b", missing="drop") == [
        ("x", "y"),
        (1, 3),
    ]  # neither “(missing)” nor what only rows that were left out have
    assert levels(table, "a", "b", missing="level") == [("x", "y", "(missing)"), (1.0, 2.0, "(missing)")]
    assert levels({"a": ["(missing)", None]}, "a", missing="level") == [("(missing)", "((missing))")]
    with pytest.raises(InputError, match="leaves nothing"):
        read_tables([{"a": [None, None]}], ["a"], missing="drop")


def test_decimals_want_bins():
    values = np.random.default_rng(0).normal(size=400)
    with pytest.raises(InputError, match=r"400 different decimal values; give it bins, for example --bins x=5"):
        read_tables([{"x": values}], ["x"])
    (table,) = read_tables([{"x": values}], ["x"], bins={"x": 4})
    assert table.counts.tolist() == pytest.approx([100] * 4, abs=2)
    assert len(levels({"x": values[:50]}, "x")[0]) == 50
    holed = values.copy()
    holed[:7] = np.nan
    (table,) = read_tables([{"x": holed}], ["x"], bins={"x": 2}, missing="level")
    assert table.counts.tolist()[-1] == 7


def test_bins_on_a_csv_and_on_a_constant(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("x\n" + "\n".join(f"{i / 7}" for i in range(100)) + "\n")
    assert len(levels(path, "x", bins={"x": 5})[0]) == 5
    assert len(levels({"x": [2.0, 2.0]}, "x", bins={"x": 3})[0]) == 1


def test_thousands_of_levels():
    names = [f"id-{i}" for i in range(70_000)]
    (table,) = read_tables([{"id": names, "b": [i % 2 for i in range(70_000)]}], ["id", "b"])
    assert table.space.shape == (70_000, 2)
    assert len(table.codes) == 70_000
    assert table.codes[:, 0].max() == 69_999


def test_more_combinations_than_a_64_bit_index():
    rng = np.random.default_rng(0)
    array = rng.integers(200, size=(500, 10))
    (table,) = read_tables([array], [str(k) for k in range(10)])
    assert table.space.size > 2**63
    assert table.rows == 500


def test_train_and_test_share_their_levels():
    train, test = read_tables([{"a": ["x", "y"]}, {"a": ["z", "x"]}], ["a"])
    assert train.space == test.space
    assert train.codes.tolist() == [[0], [1]]
    assert test.codes.tolist() == [[0], [2]]
    one, two = read_tables([{"a": [1, 2]}, {"a": ["2", "3"]}], ["a"])
    assert one.space.factors[0].levels == (1, 2, 3)
    assert two.codes.tolist() == [[1], [2]]


def test_targets_numbers_classes_conflicts():
    (table,) = read_tables([{"a": [0, 0, 1], "y": [1.0, 3.0, 5.0]}], ["a"], target="y")
    assert table.target.numeric
    assert table.target.mean.tolist() == [2.0, 5.0]
    assert table.target.spread.tolist() == [2.0, 0.0]
    assert table.target.conflicts == 1
    (table,) = read_tables([{"a": [0, 0, 1, 2, 3, 3], "y": [None, 3.0, None, -4.0, None, None]}], ["a"], target="y")
    told = table.target
    assert (told.count.tolist(), told.mean.tolist(), told.spread.tolist()) == ([1, 0, 1, 0], [3, 0, -4, 0], [0] * 4)
    assert told.ends.tolist() == [[3, 3], [0, 0], [-4, -4], [0, 0]]
    (table,) = read_tables([{"a": [0, 0, 1], "y": ["n", "j", None]}], ["a"], target="y")
    assert table.target.classes == ("j", "n")
    assert table.target.mean.tolist() == [[0.5, 0.5], [0.0, 0.0]]
    assert table.target.count.tolist() == [2, 0]
    (table,) = read_tables([{"a": [0, 1], "y": [0, 1]}], ["a"], target="y")
    assert table.target.classes == ("0", "1")
    (table,) = read_tables([{"a": [0, 1], "y": [0, 1]}], ["a"], target="y", target_kind="number")
    assert table.target.numeric


def test_spaces_around_names_of_columns(tmp_path):
    (table,) = read_tables(
        [_file(tmp_path, "spaces.csv", "shape, colour , y\ndisc,red,1\n")], "shape,colour", target="y"
    )
    assert table.space.names == ("shape", "colour")
    (table,) = read_tables([{" a ": [1, 2], "b": [1, 2]}], [" a ", "b"])  # in a frame a name is what it is
    assert table.space.names == (" a ", "b")
    (table,) = read_tables([_file(tmp_path, "same.csv", "a, a\n1,2\n")], [" a"])
    assert table.rows == 1


def test_a_decimal_comma_among_points_is_told(tmp_path):
    path = _file(tmp_path, "mixed.csv", 'a,y\n1,2.5\n2,3.5\n3,4.1\n4,5.2\n5,6.3\n6,"97,1"\n')
    with pytest.raises(InputError, match=r"row 6 below the header\); write a decimal comma .*\(97\.1 for 97,1\)"):
        read_tables([path], ["a"], target="y")


def test_decimal_commas_are_not_taken_for_classes(tmp_path):
    path = _file(tmp_path, "commas.csv", "a;y\n1;2,5\n2;3\n")
    (table,) = read_tables([path], ["a"], target="y")
    assert table.target.mean.tolist() == [2.5, 3.0]
    assert table.notes == ("The commas in 'y' are read as decimal points: 2,5 is 2.5.",)
    assert read_tables([path], ["a"], target="y", target_kind="class")[0].target.classes == ("2,5", "3")


def test_what_is_suggested_can_be_typed_as_it_stands():
    with pytest.raises(InputError, match="--bins 'temp °C=5'"):
        read_tables([{"temp °C": np.linspace(0, 1, 99)}], ["temp °C"])


def test_two_columns_of_one_name():
    with pytest.raises(InputError, match="two columns called 'a'"):
        read_tables([pd.DataFrame([[1, 2]], columns=["a", "a"])], ["a"])


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_a_table_or_one_sentence(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "x.csv"
    path.write_bytes(b"a,b\n" + content)
    said = ""
    try:
        (table,) = read_tables([path], ["a", "b"], missing="level")
    except InputError as error:
        said = str(error)
    else:
        assert table.rows >= 1
        json.dumps(table.space.to_dict(), allow_nan=False)
    assert "\n" not in said


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(-3, 3),
            st.none() | st.text(max_size=3),
            st.none() | st.booleans(),
            st.none() | st.floats(-2, 2, width=16),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_counts_equal_a_plain_count(rows):
    table = {name: [row[k] for row in rows] for k, name in enumerate("abcd")}
    (read,) = read_tables(
        [pl.DataFrame(table, schema={"a": pl.Int64, "b": pl.String, "c": pl.Boolean, "d": pl.Float64})],
        list("abcd"),
        missing="level",
    )
    assert read.rows == len(rows)
    assert len(read.codes) == len(
        {
            tuple(0.0 if v == 0 else None if v == "" or (isinstance(v, str) and v.isspace()) else v for v in row)
            for row in rows
        }
    )


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["<0.5", "1.5", "2", "7"], None, [0.5, 1.5, 2.0, 7.0]),
        (["≤ 1", "3", "40", ">= 100", "99"], None, [1.0, 3.0, 40.0, 100.0, 99.0]),
        (["<0,5", "1,5", "2,5", "3"], None, [0.5, 1.5, 2.5, 3.0]),
        (["<5 %", "10 %", "20 %", "30 %"], None, [5.0, 10.0, 20.0, 30.0]),
        (["<=50K", ">50K", "<=50K"], None, None),
        (["<18", "18", "19", "> 19"], None, None),
        (["<0.5", "1.5", "2", "7"], "class", None),
        (["<0.5", "1.5", "2", "low"], None, None),
    ],
)
def test_limits_among_numbers_are_read_as_numbers_and_said_to_be_limits(texts, kind, values):
    read = read_tables([{"a": range(len(texts)), "y": texts}], ["a"], target="y", target_kind=kind)[0]
    limits = [n for n in read.notes if "read as the limit itself" in n]
    assert read.target.numeric == bool(limits) == (values is not None)
    if values is not None:
        assert read.target.mean.tolist() == values
        many = sum(t[0] in "<>≤≥" for t in texts)
        assert limits[0].startswith(f"{many} of {len(texts)} answer{'s' if many > 1 else ''} in 'y' ")
        assert "Do not leave such cells blank" in limits[0]
        assert ("half the limit" in limits[0]) == (">= 100" not in texts) == ("too low" not in limits[0])


@pytest.mark.parametrize(
    ("name", "answers", "bounds"),
    [
        ("accuracy", [0.2, 0.9], (0.0, 1.0)),
        ("testAccuracy", [0.2, 0.9], (0.0, 1.0)),
        ("yield (%)", [20, 90], (0.0, 100.0)),
        ("humidity_pct", [20, 90], (0.0, 100.0)),
        ("y", ["20 %", "90 %"], (0.0, 100.0)),
        ("accuracy", [20.0, 90.0], None),  # of what, nothing says
        ("accuracy", [0.2, 1.1], None),
        ("share", [0.001, 0.009], None),
        ("share price", [0.2, 0.9], None),
        ("growth %", [2.0, 40.0], None),
        ("change", ["2 %", "40 %"], None),
        ("percent", [-2.0, 40.0], None),
        ("ratio", [0.2, 0.9], None),
        ("yield strength", [0.2, 0.9], None),
        ("y", [0.2, 0.9], None),
    ],
)
def test_what_a_part_of_a_whole_cannot_leave(name, answers, bounds):
    target = read_tables([{"a": [1, 2], name: answers}], ["a"], target=name)[0].target
    assert target.bounds == (bounds or (-math.inf, math.inf))


def test_texts_that_are_read_as_missing_are_told(tmp_path):
    path = tmp_path / "regions.csv"
    path.write_text("region,y\nNA,1\nEU,2\nNA,3\nnull,4\n,5\n  ,6\nAF,7\n")
    written = "2 'NA', 1 'null', 2 left blank"
    with pytest.raises(InputError, match=rf"column 'region' has 5 missing values, {written} \(5 cells: rows 1, 3, 4"):
        read_tables([path], ["region"])
    for missing, done in (("drop", "left out"), ("level", "taken as one level, (missing)")):
        notes = read_tables([path], ["region"], missing=missing)[0].notes
        assert f"'region' is missing in 5 rows ({written}), {done}; if such a text names something" in " ".join(notes)
    assert not any("missing" in note for note in read_tables([{"a": ["x", "y"]}], ["a"], missing="drop")[0].notes)
    blank = read_tables([{"a": ["x", None, "y"]}], ["a"], missing="drop")[0].notes
    assert blank == ("'a' is missing in 1 row, left out.",)


def test_classes_that_are_read_as_missing_and_levels_that_may_mean_it_are_told(tmp_path):
    path = tmp_path / "classes.csv"
    path.write_text("a,y\nx,NA\nn.a.,EU\nNone,EU\nz,null\nw,AF\n")
    notes = " ".join(read_tables([path], ["a"], target="y")[0].notes)
    assert "What is no answer in 'y' but a blank: 'NA' in 1 row, 'null' in 1 row; if that is a class" in notes
    assert "'None', 'n.a.' are some of the levels of 'a'; leave such cells blank if they mean missing." in notes


def test_a_quote_in_a_header_is_one(tmp_path):
    path = tmp_path / "quotes.csv"
    path.write_text('"the ""dose""",b\n1,u\n2,"say ""hi"""\n')
    (found,) = read_tables([path], ['the "dose"', "b"])
    assert found.space.names == ('the "dose"', "b")
    assert found.space.factors[1].levels == ('say "hi"', "u")
