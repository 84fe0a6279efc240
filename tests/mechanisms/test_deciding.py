"""What decides beyond the mean, and what is said of test rows that training had."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.mechanisms import MeasureResult, measure_predictions


@pytest.mark.parametrize(("wrong", "verdict"), [(10, "fails"), (5, "unclear")])
def test_a_failure_of_most_is_a_failure_however_far_the_worst_is_off(wrong, verdict):
    rng = np.random.default_rng(0)
    cell = np.repeat(np.arange(48), 10)
    unseen = cell < 10
    right = (cell % 8) + 2.0 * (cell // 8)
    off = np.where(cell < wrong, np.where(cell == 0, 60.0, 2.0), 0.0)
    part = np.where(unseen | (np.arange(len(cell)) % 2 == 0), "test", "train")
    table = {"a": cell % 8, "b": cell // 8, "y": right + 0.1 * rng.standard_normal(len(cell)), "p": right + off}
    result = measure_predictions({**table, "part": part}, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.gap.low <= 0.05
    assert result.verdict == verdict or (verdict == "unclear" and result.verdict == "partly")
    assert ("10 of 10 unseen combinations err by more than the margin" in result.why) == (verdict == "fails")


@pytest.mark.parametrize(
    ("unseen", "said", "verdict"),
    [(3, "right", "composes"), (3, "one answer", "unclear"), (3, "dealt anew", "unclear"), (2, "right", "unclear")],
)
def test_the_right_rule_is_told_from_luck_from_three_unseen_combinations_on(unseen, said, verdict):
    a, b = np.indices((4, 4)).reshape(2, -1)
    hidden = np.isin(4 * a + b, [1, 6, 11][:unseen])
    right = np.array([0.0, 2.0, -1.0, 4.0])[a] + np.array([1.0, -2.0, 3.0, 0.0])[b]
    wrong = {"right": right, "one answer": np.full(16, right.mean()), "dealt anew": right[::-1]}[said]
    table = {"a": a, "b": b, "y": right, "p": np.where(hidden, wrong, right)}
    table["part"] = np.where(hidden, "test", "train")
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.verdict == verdict
    assert ("hold out 6 or more" in result.why) == (unseen == 2)
    assert ("could still fail" in result.sentence()) == (verdict == "composes")


@pytest.mark.parametrize("copied", [0, 5])
def test_test_rows_with_a_training_row_s_answer_are_pointed_out(copied):
    rng = np.random.default_rng(1)
    cell, part = np.repeat(np.arange(12), 8), np.tile(["train", "test"], 48)
    y = cell + rng.standard_normal(96)
    y[1 : 2 * copied : 2] = y[0 : 2 * copied : 2]
    table = {"a": cell % 4, "b": cell // 4, "y": y, "p": cell, "part": np.where(cell == 11, "test", part)}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    said = [note for note in result.notes if "to all digits" in note]
    assert [note[:6] for note in said] == (["5 rows"] if copied else [])


@pytest.mark.parametrize(("labels", "verdict"), [(0.25, "composes"), (0.0, "unclear")], ids=["noise", "no noise"])
def test_few_rows_of_seen_combinations_that_are_all_right_do_not_say_that_there_is_no_noise(labels, verdict):
    rng = np.random.default_rng(0)
    a, b = np.indices((4, 10)).reshape(2, -1).repeat(3, axis=1)
    unseen = rng.permutation(40)[a * 10 + b] < 16
    y = np.where(rng.random(120) < labels, rng.integers(4, size=120), a)
    test = unseen | ((rng.random(120) < 0.15) & (y == a) & (np.tile(range(3), 40) > 0))
    p = np.where(unseen & (b % 3 == 0), b % 4, a) if labels == 0 else a
    table = {"a": a, "b": b, "y": np.array(list("wxyz"))[y], "p": np.array(list("wxyz"))[p]}
    table["part"] = np.where(test, "test", "train")
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert (result.verdict, result.seen.mean, result.gap.low < 0.05) == (verdict, 0.0, True)


def judged(cell: np.ndarray, y: np.ndarray, p: np.ndarray, test: np.ndarray) -> MeasureResult:
    table = {"a": cell // 10, "b": cell % 10, "y": y, "p": p, "part": np.where(test, "test", "train")}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


def test_errors_of_more_rows_do_not_rank_above_those_of_fewer_by_themselves():
    rng = np.random.default_rng(5)
    unseen = rng.permutation(100) < 25
    cell = np.arange(100).repeat(np.where(unseen, 30, 4))
    test = unseen[cell] | (np.diff(cell, prepend=-1) > 0)  # One new row of each seen combination.
    y = rng.normal(size=10)[cell // 10] + 1.5 * rng.normal(size=len(cell))
    means = np.array([y[~test & (cell // 10 == level)].mean() for level in range(10)])
    assert judged(cell, y, means[cell // 10], test).verdict == "unclear"


def test_noisier_rows_of_unseen_combinations_are_no_failure_where_few_tell_the_noise():
    rng = np.random.default_rng(7)
    unseen, kind = rng.permutation(100) < 25, rng.integers(3, size=100)
    cell = np.arange(100).repeat(np.where(kind == 0, 2, 1 + (kind == 1) * ~unseen))
    new = (kind[cell] == 0) & (np.diff(cell, prepend=-1) > 0)
    right = rng.normal(size=10)[cell // 10] + rng.normal(size=10)[cell % 10]
    away = unseen[cell]
    y = right + np.where(away, 0.9, 0.2) * rng.normal(size=len(cell))
    result = judged(cell, y, right, away | new)
    assert result.verdict == "unclear"
    assert "rows of unseen combinations are noisier than others, and so few of them" in result.why
    assert judged(cell, y, np.where(away, 0.2, 1.0) * right, away | new).verdict == "fails"
