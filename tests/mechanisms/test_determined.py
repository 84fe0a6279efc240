"""What training leaves open is said beside the verdict; answers that cannot be compared are refused."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.mechanisms import measure_predictions

A, B = (v.repeat(4) for v in np.indices((6, 5)).reshape(2, -1))
Y = 1.0 * A + 3 * B


def measured(unseen, p=Y, y=Y, fresh=None, **more):
    fresh = np.tile(np.arange(4), 30) == 0 if fresh is None else fresh
    table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(unseen | fresh, "test", "train")}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test", **more)


def test_combinations_that_training_does_not_determine_are_counted_and_change_no_verdict():
    blocks = (A < 3) != (B < 2)  # a0–2 only with b0–1, a3–5 only with b2–4: no unseen pair is determined.
    good = measured(blocks)
    assert (good.verdict, good.left_open.count, good.left_open.levels) == ("composes", 15, 0)
    assert "15 of 15 unseen combinations are not determined by training" in good.notes[-1]
    assert "rules are arbitrary at 15 of 15 combinations" in good.sentence()
    assert good.to_dict()["undetermined"] == {"count": 15, "unseen_level": 0}
    bad = measured(blocks, Y + blocks * np.where(A % 2, 9, -9))
    assert bad.verdict == "fails"
    assert "15 of 15 unseen combinations are not determined by training, even if effects add up" in bad.sentence()
    assert "it gives a wrong answer that training determines" in bad.left_out["additive rule"]


def test_a_level_that_was_never_trained_on_is_told():
    unseen = (A == 5) | ((A == 0) & (B == 0))
    fresh = (np.tile(np.arange(4), 30) == 0) & ~unseen
    result = measured(unseen, fresh=fresh)
    assert (result.left_open.count, result.left_open.levels, result.left_open.of) == (5, 5, 6)
    assert "5 as they hold a level that training never shows" in result.notes[-1]


def test_nothing_is_said_where_everything_is_determined():
    result = measured((A + B) % 5 == 0)
    assert result.left_open.count == 0
    assert not any("determined" in note for note in result.notes)


@pytest.mark.parametrize(
    ("said", "how"),
    [(np.linspace(0.1, 1.9, 120), ""), (np.arange(120) % 2, "1 for 'yes' and 0 for 'no', write these")],
)
def test_predictions_none_of_which_is_a_class_are_refused(said, how):
    names = np.array(["no", "yes"])[A % 2]
    with pytest.raises(
        InputError, match=rf"predictions in 'p' \('0.*\) is a class of 'y' \('no', 'yes'\); give.*p_no,p_yes.*{how}"
    ):
        measured((A + B) % 5 == 0, said, names)


def test_a_noise_that_the_rows_contradict_is_noted():
    y = Y + np.tile([-1.0, 1.0], 60)
    for noise, noted in ((0.0, True), (1.15, False)):
        notes = measured((A + B) % 5 == 0, Y, y, noise=noise).notes
        assert any("The noise was said to be" in note for note in notes) == noted
    said = measured((A + B) % 5 == 0, Y, y, noise=3.0)
    assert "but for what the gap takes off as noise" in " ".join(said.notes)
    assert said.noise == measured((A + B) % 5 == 0, Y, y).noise


def test_a_training_table_without_answers_is_told():
    seen = (A + B) % 5 != 0
    table = {"a": A, "b": B, "y": Y, "p": Y}
    train = {"a": A[seen], "b": B[seen]}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", train=train)
    assert any(note.startswith("The training table has no 'y'") for note in result.notes)


def test_the_chart_of_levels_holds_every_value():
    c = np.tile(np.arange(4), 30) % 2
    unseen = (A + B + c) % 5 == 0
    table = {"a": A, "b": B, "c": c, "y": Y, "p": Y + 20 * unseen, "part": np.where(unseen, "test", "train")}
    result = measure_predictions(table, ["a", "b", "c"], target="y", prediction="p", split="part=test")
    across = [layer["encoding"]["x"] for layer in result.plot().to_dict()["layer"]]
    domain = next(x["scale"]["domain"] for x in across if "scale" in x)
    assert 1.5 < max(row["unseen"] for row in result.levels() if row["unseen"]) <= domain[1]


def test_where_levels_have_no_more_combinations_more_of_them_held_out_or_more_rows_would_tell():
    unseen = (A + 5 * B) % 14 == 0
    wrong = np.where(unseen & (A < 3), "x", np.where(A > B, "n", "m"))
    held = measured(unseen, wrong, np.where(A > B, "n", "m"))
    assert held.verdict == "unclear"
    assert "of the 30 combinations instead of 2 would tell" in held.why
    few = measured(unseen, Y + 9 * (unseen & (A < 3)), Y + 0.1 * np.random.default_rng(5).normal(size=len(A)))
    assert few.gap.low == -few.seen.high  # No error is below 0.
    noise = np.random.default_rng(2).normal(size=len(A))
    noisy = measured((A + B) % 5 == 0, Y + 1.6 * ((A + B) % 5 == 0), Y + noise)
    assert "times as many rows of each combination would tell" in noisy.why


def test_a_gap_across_the_margin_asks_for_no_combinations_that_do_not_exist():
    unseen = (A + B) % 5 == 0
    result = measured(unseen, Y + unseen * np.where(A < 3, 2.0, 0.2))
    assert result.verdict == "unclear"
    assert "all 30 combinations are too few to tell: " in result.why
    assert "times as many" not in result.why
