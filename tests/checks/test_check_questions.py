"""A row without an answer is a question: asked about, and not trained on."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from recombine.checks import check
from recombine.checks.reading import read
from recombine.errors import InputError

ROWS = {"a": ["x", "x", "y", "y", "z"], "b": [1, 2, 1, 2, 1], "y": [1.0, 2.0, 3.0, None, None]}


def test_blank_answers_are_asked_about_and_not_trained_on():
    result = check(ROWS, ["a", "b"], target="y")
    left = "1 further combination of the table's levels is missing and not asked about"
    assert result.asked == f"the rows without an answer; {left}"
    assert result.notes[0] == f"{left}; ask for it too with --grid (grid=True)."
    assert result.sentence().endswith(f"Asked about are only the rows without an answer; {left} (--grid, grid=True).")
    assert result.counts == {"seen": 0, "determined": 1, "undetermined": 0, "unseen level": 1}
    assert result.to_dict()["train"] == {"rows": 3, "combinations": 3}
    assert "2 rows without an answer in 'y' are asked about, not trained on." in result.notes


def test_the_grid_is_asked_about_as_well():
    result = check(ROWS, ["a", "b"], target="y", grid=True)
    assert result.asked == "the rows without an answer, and the grid of the table's levels minus training"
    assert "only the rows" not in result.sentence()
    assert result.counts == {"seen": 0, "determined": 1, "undetermined": 0, "unseen level": 2}
    assert not any("not asked" in note for note in result.notes)
    assert check(ROWS, ["a", "b"], target="y", grid=True, exclude=[{"a": "z", "b": 2}]).total == 2
    assert check(ROWS, ["a", "b"], target="y", exclude=[{"a": "z", "b": 2}]).asked == "the rows without an answer"


def test_questions_that_were_seen_do_not_hide_the_grid():
    table = {"a": list("xxyyzzx"), "b": [1, 2, 1, 2, 1, 3, 1], "y": [1.0, 2.0, 3.0, 4.1, 5.0, 6.0, None]}
    result, whole = (check(table, ["a", "b"], target="y", grid=grid) for grid in (False, True))
    assert (result.counts["seen"], result.total) == (1, 4)
    told = [{k: v for k, v in r.to_dict().items() if k not in ("notes", "settings")} for r in (result, whole)]
    assert told[0] == told[1]
    assert any("so the combinations that are missing are asked about as well" in note for note in result.notes)
    assert result.fails(["assumption"]) == ["assumption"]
    full = check(table, ["a", "b"], target="y", exclude=[{"b": 3, "a": "x"}, {"b": 3, "a": "y"}, {"b": 2, "a": "z"}])
    assert (full.verdict, full.total) == ("seen", 1)
    assert full.asked == "the rows without an answer; their combinations were all seen in training"
    assert check(table, ["a", "b"], target="y", test={"a": ["x"], "b": [1]}).verdict == "seen"


def test_a_seen_combination_is_answered_by_what_was_observed_whatever_else_is_asked():
    shares = {"a": list("xxxxyyz"), "b": [1, 1, 1, 2, 1, 2, 1], "y": list("pqqqqpp")}
    numbers = {**shares, "y": [1.0, 2.0, 6.0, 3.0, 4.0, 5.0, 9.0]}
    for table, answer in ((shares, "q"), (numbers, 3.0)):
        for grid in (False, True):
            frame = check(table, ["a", "b"], target="y", test={"a": ["x"], "b": [1]}, grid=grid).to_frame()
            seen = frame.filter(pl.col("status") == "seen")
            assert seen.select("prediction", "rows", "low").row(0) == (answer, 3, None)
    assert seen["smoothed"].dtype == pl.Float64
    told = check(shares, ["a", "b"], target="y", test={"a": ["x"], "b": [1]}).to_dict()["queries"][0]
    assert (told["rule"], told["smoothed"], told["probabilities"]) == ("observed", None, {"p": 1 / 3, "q": 2 / 3})


def test_without_a_target_every_row_is_training():
    assert check(ROWS, ["a", "b"]).to_dict()["train"]["rows"] == 5


@pytest.mark.parametrize("missing", ["error", "drop", "level"])
def test_how_missing_factors_are_treated_changes_nothing(missing):
    assert check(ROWS, ["a", "b"], target="y", missing=missing).total == 2


def test_a_combination_with_and_without_answers_is_trained_on_its_answers():
    result = check({"a": [0, 0, 0, 1], "b": [0, 0, 1, 0], "y": [1.0, None, 2.0, 3.0]}, ["a", "b"], target="y")
    assert (result.counts["seen"], result.total) == (1, 2)
    assert result.row_counts.tolist() == [1, 1, 1]
    with pytest.raises(InputError, match="no combination occurs in 2 rows"):
        check({"a": [0, 0, 1], "b": [0, 0, 1], "y": [1.0, None, 2.0]}, ["a", "b"], target="y", min_support=2)


def test_questions_join_a_test_table_and_a_split():
    test = {"a": ["x", "y"], "b": [1, 2], "y": [1.0, 4.0]}
    result = check(ROWS, ["a", "b"], target="y", test=test)
    assert (result.total, result.asked) == (3, "the test table, and the rows without an answer")
    split = {**ROWS, "fold": ["t", "t", "t", "t", "s"]}
    result = check(split, ["a", "b"], target="y", split="fold=s")
    assert result.total == 2
    assert result.to_dict()["train"]["rows"] == 3


def test_a_table_of_questions_teaches_nothing():
    table = {"a": [0, 1], "b": [0, 1], "y": [None, 2.0], "fold": ["t", "s"]}
    with pytest.raises(InputError, match="no training row has an answer in 'y'"):
        check(table, ["a", "b"], target="y", split="fold=s")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.none() | st.sampled_from("pqr")), min_size=1))
def test_rows_are_training_or_questions(rows):
    frame = pl.DataFrame(rows, ["a", "b", "y"], orient="row", schema_overrides={"y": pl.String})
    if frame["y"].null_count() == len(rows):
        return
    train, asked, *_ = read(frame, None, ["a", "b"], 1, target="y", target_kind=None)
    blanks = frame["y"].null_count()
    assert train.rows == len(rows) - blanks
    assert (0 if asked is None else asked.rows) == blanks
    assert (train.target.count == train.counts).all()


def test_json_is_valid_whatever_the_numbers(tmp_path):
    frame = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [1.0, 1.0, 1.0, 1.0]})
    json.loads(check(frame, ["a", "b"], target="y").to_json())


def test_a_text_among_numbers_is_a_slip_and_no_class():
    table = {"a": list("xxxyyyz"), "b": list("uvwuvwu"), "y": ["1.5", "2", "3", "4", "5.5", "ask Jo", "7"]}
    with pytest.raises(
        InputError, match=r"numbers and 'ask Jo', which is not a number [(]row 6 below .* leave such cells blank"
    ):
        check(table, ["a", "b"], target="y")
    assert check(table, ["a", "b"], target="y", target_kind="class").verdict.startswith("assumption")
    table["y"] = ["5.1", "6.0", "<LOQ", "7.2", "4.0", "n.d.", "5.5"]
    with pytest.raises(
        InputError, match=r"numbers and '<LOQ', 'n.d.', which are not numbers [(]2 cells: rows 3, 6 below"
    ):
        check(table, ["a", "b"], target="y")
    table["y"] = ["5.1", "6.0", "2O.5", "7.2", "4.0", "1l,5", "5.5"]
    with pytest.raises(
        InputError, match=r"write digits for letters [(]'1l,5' looks like 11,5, '2O.5' looks like 20.5[)], or say"
    ):
        check(table, ["a", "b"], target="y")
    table["y"] = ["5.1", "<0.5", "n.d.", "7.2", "6.1", "<0.5", "5.5"]
    for kind in (None, "number"):
        with pytest.raises(InputError, match=r"holds (numbers and )?'n.d.', which is not a number [(]row 3 below"):
            check(table, ["a", "b"], target="y", target_kind=kind)
    table["y"] = ["1", "2", "A", "1", "3", "B", "2"]  # marks, as classes are
    assert check(table, ["a", "b"], target="y").answers.classes == ("1", "2", "3", "A", "B")
    table["y"] = [f"{v / 10} MPa" for v in range(361, 368)]
    with pytest.raises(InputError, match=r"'36.1 MPa', .* [(]7 cells: rows 1, .* remove the unit 'MPa'"):
        check(table, ["a", "b"], target="y")
    for sign in ("$", "€ ", "£", "US$", "EUR "):
        table["y"] = [f"{sign}{v:,}" for v in range(1361, 1368)]
        with pytest.raises(InputError, match=f"remove the unit '{re.escape(sign.strip())}'"):
            check(table, ["a", "b"], target="y")
    table["y"] = ["0.101", "9.2%", "0.081", "6.6%", "0.122", "10.2 %", "0.09"]
    with pytest.raises(InputError, match=r"3 cells: .* write all as shares [(]0.102[)] or all as per cent [(]10.2%[)]"):
        check(table, ["a", "b"], target="y")
    table["y"] = [f"01:1{v}:00" for v in range(7)]
    with pytest.raises(InputError, match="write durations as numbers of one unit, such as seconds, or say that"):
        check(table, ["a", "b"], target="y")
    said = check(table, ["a", "b"], target="y", target_kind="class").forecast
    assert said is None or max(rule.error for rule in said.rules) <= 1


def test_repeated_rows_that_differ_are_noise_and_no_mistake():
    table = {"a": list("xxyy"), "b": list("uuuv"), "y": [1.0, 1.2, 3.0, 4.0]}
    assert (
        "1 of 3 training combinations have several rows with different answers: their mean is used, their spread is "
        "noise." in check(table, ["a", "b"], target="y").notes
    )


def test_a_split_of_which_nothing_is_left_to_ask_says_why():
    table = {"a": ["r", "r", "s", "s"], "b": ["u", "v", "u", "v"], "part": ["train"] * 3 + ["test"]}
    with pytest.raises(InputError, match="every row with part = 'test' is excluded"):
        check(table, ["a", "b"], split="part=test", exclude=[{"a": "s", "b": "v"}])
    with pytest.raises(InputError, match=r"in one part .* every row has a missing factor"):
        check(table | {"b": ["u", "v", "u", None]}, ["a", "b"], split="part=test", missing="drop")
