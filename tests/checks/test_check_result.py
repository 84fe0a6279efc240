"""`check` as a whole: verdicts, the JSON object, frames, sampling, costs, and a grid too large to list."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import polars as pl
import pytest

from recombine.checks import check
from recombine.errors import InputError

PIECES = {"shape": ["disc", "disc", "square", "star"], "colour": ["red", "blue", "red", "green"]}


def test_two_pieces_by_hand():
    result = check(PIECES, ["shape", "colour"])
    assert result.verdict == "undetermined"
    assert result.counts == {"seen": 0, "determined": 1, "undetermined": 4, "unseen level": 0}
    assert (result.rank_train, result.rank_needed) == (4, 5)
    assert len(result.suggestions) == 1
    assert {frozenset(p["shape"]) for p in result.pieces} == {frozenset({"disc", "square"}), frozenset({"star"})}
    assert result.queries[-1].status == "determined"
    assert result.queries[-1].min_cut == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.order = 2


def test_the_json_object():
    data = json.loads(check(PIECES, ["shape", "colour"]).to_json())
    assert data["schema"] == 1
    assert data["verdict"] == "undetermined"
    assert data["rank"] == {"train": 4, "needed": 5}
    assert data["counts"]["undetermined"] == 4
    assert len(data["queries"]) == 5
    query = data["queries"][-1]
    assert query["combination"] == {"shape": "square", "colour": "blue"}
    assert query["leverage"] == pytest.approx(3.0)
    assert query["witness"] == {"sum": [["1", ["disc", "blue"]], ["-1", ["disc", "red"]], ["1", ["square", "red"]]],
                                "scale": None}  # fmt: skip
    free = data["directions"][data["queries"][0]["witness"]["direction"]]
    assert {next(iter(effect.values())) for effect, _ in free} in ({"star", "green"}, {"disc", "square", "red", "blue"})
    assert all(set(s) == {"shape", "colour"} for s in data["suggestions"])


def test_collecting_the_suggestions_settles_everything():
    first = check(PIECES, ["shape", "colour"])
    table = pl.concat([pl.DataFrame(PIECES), pl.DataFrame(first.suggestions)], how="vertical")
    after = check(table, ["shape", "colour"])
    assert after.verdict == "determined"
    assert after.suggestions == []


def test_a_full_grid_leaves_nothing_to_ask():
    result = check({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}, ["a", "b"])
    assert (result.verdict, result.total, result.queries) == ("seen", 0, ())
    assert result.to_frame().height == 0


def test_levels_only_in_the_test_table_are_named():
    result = check(PIECES, ["shape", "colour"], test={"shape": ["disc", "ring"], "colour": ["red", "pink"]})
    assert result.verdict == "unseen level"
    assert result.unseen_levels == {"shape": ["ring"], "colour": ["pink"]}
    assert result.counts == {"seen": 1, "determined": 0, "undetermined": 0, "unseen level": 1}


def test_a_split_asks_about_the_rows_with_that_value():
    table = {**PIECES, "fold": ["train", "train", "train", "test"]}
    result = check(table, ["shape", "colour"], split="fold=test")
    assert result.asked == "the rows with fold = test"
    assert result.counts["unseen level"] == 1


def test_min_support_takes_thin_combinations_out_of_training():
    table = {"a": [0, 0, 0, 1, 1, 0], "b": [0, 0, 1, 0, 0, 1]}
    assert check(table, ["a", "b"], min_support=2).verdict == "determined"
    thin = check({"a": [0, 0, 1], "b": [0, 0, 1]}, ["a", "b"], min_support=2)
    assert thin.verdict == "unseen level"
    with pytest.raises(InputError, match="most frequent has 2"):
        check({"a": [0, 0, 1], "b": [0, 0, 1]}, ["a", "b"], min_support=3)


def test_order_two_needs_more():
    cells = np.array([(a, b, c) for a in range(3) for b in range(3) for c in range(2) if (a + b + c) % 2 == 0])
    one, two = (check(cells, ["0", "1", "2"], order=m) for m in (1, 2))
    assert one.rank_needed == 6
    assert two.rank_needed == 14
    assert two.rank_train <= len(cells)
    assert set(one.counts) == set(two.counts)
    assert two.counts["undetermined"] > one.counts["undetermined"]


def test_costs_and_bans_choose_the_cells():
    base = check(PIECES, ["shape", "colour"], cost={"shape": {"disc": 10.0, "square": 10.0, "star": 1.0}})
    assert base.suggestions[0]["shape"] == "star"
    assert base.advice.cost == 1.0
    banned = check(PIECES, ["shape", "colour"], forbid=[{"shape": "star"}])
    assert banned.suggestions[0]["colour"] == "green"
    nothing = check(PIECES, ["shape", "colour"], forbid=[{"shape": "star"}, {"colour": "green"}])
    assert not nothing.advice.enough
    assert "no allowed set suffices" in nothing.sentence()
    by_function = check(
        PIECES, ["shape", "colour"], cost=lambda c: 1.0 if c == {"shape": "star", "colour": "blue"} else 7.0
    )
    assert by_function.suggestions == [{"shape": "star", "colour": "blue"}]


def _huge(rows=500, seed=0, factors=10, levels=8):
    rng = np.random.default_rng(seed)
    return rng.integers(levels, size=(rows, factors))


def test_a_grid_too_large_to_list_still_gets_its_verdict_and_count():
    table = _huge()
    names = [str(k) for k in range(10)]
    result = check(table, names, test=_huge(200, seed=1))
    assert result.verdict == "determined"
    assert result.rank_train == 10 * 7 + 1
    whole = check(table, names)
    assert whole.total == 8**10 - 500
    assert whole.counts["determined"] == whole.total
    assert whole.coverage.total(2)[0] == 45 * 64


def test_an_astronomical_number_of_combinations_is_told_by_its_size():
    levels = np.random.default_rng(3).integers(2, size=(120, 60))
    table = {f"f{k}": levels[:, k].astype(str) for k in range(60)} | {"y": levels[:, 0] + 0.5}
    said = check(table, [f"f{k}" for k in range(60)], target="y").sentence()
    assert "1.15e+18 unseen combinations" in said


def test_a_huge_grid_with_a_confound_is_sampled_and_counted_by_rank():
    table = _huge()
    table[:, 1] = (table[:, 0] // 4) * 4 + table[:, 1] % 4
    result = check(table, [str(k) for k in range(10)])
    assert result.verdict == "undetermined"
    assert result.counts is None
    assert result.share["undetermined"] == pytest.approx(0.5, abs=0.05)
    assert result.rank_needed - result.rank_train == 1
    assert len(result.suggestions) == 1
    assert len(result.queries) == 10_000


def test_two_factors_with_thousands_of_levels_are_counted_in_closed_form():
    left = np.arange(3_000)
    table = {"a": np.concatenate([left, left]), "b": np.concatenate([left, (left + 1) % 3_000])}
    result = check(table, ["a", "b"], max_queries=50)
    assert result.counts["determined"] == 3_000**2 - 6_000
    pieces = check({"a": left, "b": left}, ["a", "b"], max_queries=50)
    assert pieces.counts["undetermined"] == 3_000**2 - 3_000
    assert pieces.rank_needed - pieces.rank_train == 2_999
    assert len(pieces.suggestions) == 2_999


def test_witness_of_any_combination():
    result = check(PIECES, ["shape", "colour"])
    assert result.witness({"shape": "square", "colour": "blue"})["sum"][1] == ["-1", ["disc", "red"]]
    assert "direction" in result.witness({"shape": "star", "colour": "red"})


def test_frames_hold_every_kind_of_level(tmp_path):
    table = {"n": [1, 2, 1], "b": [True, False, False], "m": ["x", None, "x"], "status": ["p", "p", "q"]}
    frame = check(table, ["n", "b", "m", "status"], missing="level").to_frame()
    assert frame.schema["n"] == pl.Int64
    assert frame.schema["b"] == pl.Boolean
    assert "check: status" in frame.columns
    assert check(table, ["n", "b"]).save(tmp_path / "x.parquet").exists()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"order": 3}, "use 1 … 2"),
        ({"order": 0}, "use 1 … 2"),
        ({"min_support": 0}, "1 or more"),
        ({"max_queries": 0}, "max_queries"),
        ({"seed": -1}, "give 0 or more"),
        ({"split": "fold"}, "column=value"),
        ({"split": "colour=red", "test": PIECES}, "not both"),
        ({"forbid": [{"shape": "dics"}]}, "did you mean 'disc'"),
        ({"forbid": [{"shap": "disc"}]}, "did you mean 'shape'"),
        ({"cost": {"shape": {"disc": -1.0}}}, "0 or more"),
        ({"missing": "omit"}, "there are: error, drop, level"),
    ],
)
def test_bad_requests_are_one_sentence(options, word):
    with pytest.raises(InputError, match=word) as caught:
        check(PIECES, ["shape", "colour"], **options)
    assert "\n" not in str(caught.value)


def test_chances_of_classes_are_columns_of_the_frame():
    rng = np.random.default_rng(0)
    a, b = (k.ravel() for k in np.meshgrid(range(5), range(5), indexing="ij"))
    seen = rng.random(25) < 0.8
    table = {"a": a[seen], "b": b[seen], "y": np.where(a[seen] + b[seen] > 4, "yes", "no")}
    result = check(table, ["a", "b"], target="y")
    frame = result.to_frame()
    assert frame.select("probability: no", "probability: yes").sum_horizontal().to_numpy() == pytest.approx(1.0)
    assert frame["probability: yes"].to_list() == [q.probabilities["yes"] for q in result.queries]


def test_levels_with_spaces_are_quoted_in_sentences_and_options():
    rows = [(a, b) for a in ("New York", "Rome") for b in "xyz" if (a, b) not in {("New York", "x"), ("New York", "y")}]
    result = check({"city": [a for a, _ in rows], "b": [b for _, b in rows]}, ["city", "b"])
    assert "All 2 missing combinations share city=“New York”." in result.notes
    test = {"city": ["Old York"], "b": ["z"]}
    asked = check({"city": [a for a, _ in rows], "b": [b for _, b in rows]}, ["city", "b"], test=test)
    assert "new: city = “Old York”" in asked._repr_html_()
