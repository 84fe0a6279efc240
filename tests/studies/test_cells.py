"""What a claim reads from tables, by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from recombine.errors import InputError
from recombine.studies import LAST, Claim, Faithful, Figure, Setting, Shares, Study, cells
from recombine.studies.charts import curves, dots, drawn
from recombine.studies.notes import Notes, parse_notes
from recombine.studies.tables import labelled

STUDY: Study[int] = Study("s", "S", "Why?", None, {"smoke": 1}, lambda size, members: {}, {"t": "members"}, ())
PICTURE = Figure("one", "One", "", "t", lambda rows: rows)

ROWS = {
    "t": pl.DataFrame(
        [
            ("a", "x", 0, 1, 1.0, True), ("a", "x", 0, 2, 3.0, True), ("a", "x", 1, 1, 5.0, True),
            ("a", "x", 1, 2, 7.0, True), ("b", "y", 0, 1, 2.0, True), ("b", "y", 0, 4, 4.0, True),
            ("b", "y", 1, 1, 2.0, False), ("b", "y", 1, 4, 9.0, False), ("b", "y", 2, 4, math.nan, True),
        ],
        schema=["run", "kind", "member", "step", "value", "fitted"],
        orient="row",
    )
}  # fmt: skip


def read(*args: object, **more: object) -> tuple[list[float], int]:
    reading = cells(*args, **more).read(ROWS)  # type: ignore[arg-type]
    return list(reading.values()), reading.asked.height


def test_labels_filter_and_rows_of_a_unit_become_one_value() -> None:
    assert read("value", "t", run="a") == ([2.0, 6.0], 2)
    assert read("value", "t", kind=["x"], take="min") == ([1.0, 5.0], 2)
    assert read("value", "t", kind="x", take="sum", unit="run") == ([16.0], 1)
    assert read(pl.col("value") * 2, "t", pl.col("step") == 1, run="a") == ([2.0, 10.0], 2)


def test_the_last_step_of_each_run() -> None:
    assert read("value", "t", LAST, run="a") == ([3.0, 7.0], 2)
    assert read("value", "t", LAST, run="b", fitted=False) == ([4.0, 9.0], 3)


def test_units_that_did_not_fit_or_have_no_number_are_asked_for_and_not_read() -> None:
    assert read("value", "t", LAST, run="b") == ([4.0], 3)
    everyone = cells("value", "t", LAST, run="b").read(ROWS, everyone=True)
    assert list(everyone.values()) == [4.0, 9.0]


def test_values_may_look_at_the_whole_column() -> None:
    first = pl.col("value").filter(pl.col("step") == 1).first().over("run", "member")
    assert read(pl.col("value") - first, "t", LAST, run="a") == ([2.0, 2.0], 2)


def test_units_can_be_counted_by_another_table() -> None:
    tables = {**ROWS, "all": pl.DataFrame({"run": ["a"] * 5, "member": range(5)})}
    reading = cells("value", "t", run="a", asked=cells("member", "all", run="a")).read(tables)
    assert (list(reading.values()), reading.asked.height) == ([2.0, 6.0], 5)
    assert reading.runs == {"a"}


def test_means_within_come_first() -> None:
    table = pl.DataFrame({"base": [0, 0, 0, 1], "part": ["p", "p", "q", "p"], "d": [0.0, 2.0, 5.0, 1.0]})
    reading = cells("d", "m", unit="base", within="part").read({"m": table})
    assert list(reading.values()) == [3.0, 1.0]


def test_differences_are_of_the_same_member() -> None:
    a, b = cells("value", "t", LAST, run="a"), cells("value", "t", LAST, run="b")
    reading = b.minus(a).read(ROWS)
    assert (list(reading.values()), reading.asked.height, reading.runs) == ([1.0], 3, {"a", "b"})
    with pytest.raises(ValueError, match="units are not told apart by run"):
        a.minus(b, pair="run").read(ROWS)


def test_labels_become_columns() -> None:
    table = pl.DataFrame({"member": [0, 1, 1], "slope": [1.0, 2.0, 3.0]})
    fitted = pl.DataFrame({"member": [0, 1], "fitted": [True, False]})
    found = labelled(table, "r", {"task": "t", "sigma": [0.1, 1.0]}, fitted)
    assert found.columns == ["run", "task", "sigma", "member", "slope", "fitted"]
    assert found["sigma"].to_list() == [0.1, 1.0, 1.0]
    assert found["fitted"].to_list() == [True, False, False]
    with pytest.raises(InputError, match="share the name slope"):
        labelled(table, "r", {"slope": 1})


def test_shares_of_the_papers_setting() -> None:
    class Model:
        width = 500

    class Run:
        steps, members, model = 1000, (0, 1, 2), Model()

    shares = Faithful(steps=392_000, members=5, size=("model.width", 1000)).shares(Run())
    assert shares == Shares(steps=1000 / 392_000, members=0.6, size=0.5)
    assert str(shares) == ".26 % of the paper's steps, 60 % of its members, 50 % of its size (width)"
    least = Shares.least([shares, Shares(steps=0.5, members=0.2, size=0.9, called={"size": "side"})])
    assert (least.steps, least.members, least.data) == (1000 / 392_000, 0.2, None)
    assert str(least).endswith("20 % of its members, 50 % of its size (width)"), "the smallest share keeps its name"
    assert str(Faithful(size=(lambda run: 5, 10), data=("members", 6)).shares(Run())) == (
        "50 % of the paper's data (members), 50 % of its size"
    )
    assert str(Shares()) == ""
    assert Setting(run=None).labels == {}  # type: ignore[arg-type]


def test_notes_are_read_from_markdown() -> None:
    text = """# Where this differs
- One point
  over two lines.
- Another.

# Terms
- a part: what is
  kept.

# Figures
## picture
What is
seen.

# Why
## first
Because.

Settles: an
experiment.
## second
Unknown.
"""
    notes = parse_notes(text)
    assert notes.deviations == ("One point over two lines.", "Another.")
    assert notes.of("first") == ("Because.", "an experiment.")
    assert notes.of("second") == ("Unknown.", "")
    assert notes.of("third") == ("", "")
    assert notes.captions == {"picture": "What is seen."}
    assert notes.terms == {"a part": "what is kept."}
    assert parse_notes("") == Notes()


def test_a_figure_takes_its_caption_from_the_notes() -> None:
    own = replace(PICTURE, id="two", caption="Own.")
    told = replace(STUDY, notes=Notes(captions={"one": "Said."}), figures=(PICTURE, own))
    assert [figure.caption for figure in told.figures] == ["Said.", "Own."]
    with pytest.raises(InputError, match="the figure 'one' has no caption"):
        replace(STUDY, figures=(PICTURE,))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "../../out"}, "a study cannot be called '../../out'"),
        ({"claims": (Claim("c", "s", cells("x", "tt").above()),)}, "unknown table in claim 'c' of"),
        ({"claims": (Claim("c", "s", cells("x", "t").above()),) * 2}, "two claims are called 'c'"),
        ({"notes": Notes(reasons={"no-such": ("a", "b")})}, "unknown claim in the notes of"),
    ],
)
def test_what_is_misspelt_is_said_before_anything_runs(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words.replace(".", r"\.")):
        replace(STUDY, **change)


def test_a_column_that_is_not_there_is_named_with_the_claim() -> None:
    claim = Claim("c", "s", cells("y", "t").above())
    study = replace(STUDY, claims=(claim,))
    with pytest.raises(InputError, match="the claim 'c' cannot be read from the tables"):
        study.judge({"t": pl.DataFrame({"run": ["a"], "member": [0], "x": [1.0]})}, {})


def test_a_figure_shows_the_rows_it_names() -> None:
    """Only fitted members, unless told otherwise; what else is given goes to the chart."""
    table = pl.DataFrame({"a": ["x", "x", "y"], "v": [1.0, 2.0, 4.0], "fitted": [True, False, None]})
    figure = dots("d", "D", pl.col("v") > 0, table="t", group="a", value="v", keep=["a", "v"], names={"a": {"x": "X"}})
    assert figure.rows(table).rows() == [("X", 1.0), ("y", 4.0)]
    assert curves("c", "C", table="t", x="a", y="v", fitted=False).rows(table)["mean"].to_list() == [1.5, 4.0]
    assert drawn("o", "O", table="t", draw=lambda rows: rows).rows(table).height == 3
