"""Training rows that are answered better by their noise alone are no overfitting; those known by heart are."""

from __future__ import annotations

import numpy as np
import pytest
from everything_said import everything

from recombine.mechanisms import MeasureResult, measure_predictions

A, B = np.indices((7, 7)).reshape(2, -1).repeat(8, axis=1)
UNSEEN = (A + 2 * B) % 5 == 0
TEST = UNSEEN | (np.tile(np.arange(8), 49) < 3)
RNG = np.random.default_rng(5)
ONE, TWO = RNG.normal(size=(2, 7))
SUM = 3 + ONE[A] + TWO[B]
NOISE = RNG.normal(size=len(A))
CLASS = (A + B) % 2
WRONG = RNG.random(len(A)) < 0.2


def measured(y: object, p: object, rows: object = slice(None), **more: float) -> MeasureResult:
    table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(TEST, "test", "train")}
    table = {name: np.asarray(values)[rows] for name, values in table.items()}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test", **more)


def test_the_truth_overfits_nothing_where_test_rows_are_noisier():
    result = measured(SUM + np.where(TEST, 1.5, 0.3) * NOISE, SUM)
    assert result.seen.low > result.training.mean + 0.05  # What alone would be taken for overfitting.
    assert "overfits" not in result.sentence()


def test_nor_do_right_classes_where_test_labels_are_hurried():
    y = np.array(["no", "yes"])[np.where(TEST & WRONG, 1 - CLASS, CLASS)]
    result = measured(y, np.array(["no", "yes"])[CLASS])
    assert result.training.mean == 0
    assert result.seen.low > 0.05
    assert "overfits" not in result.sentence()


@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_noise_known_by_heart_is_overfitting_where_all_rows_are_as_noisy(noise):
    y = SUM + noise * NOISE
    blur = noise * np.random.default_rng(1).normal(size=len(A))
    result = measured(y, np.where(TEST, SUM + blur, y))
    assert result.verdict == "overfits"
    assert "noisier" not in result.sentence()
    assert "It overfits besides" in everything(measured(y, np.where(TEST, SUM, y)))


def test_classes_known_by_heart_are_overfitting_where_all_rows_are_as_noisy():
    y = np.where(WRONG, 1 - CLASS, CLASS)
    new = np.where(np.random.default_rng(2).random(len(A)) < 0.25, 1 - CLASS, CLASS)
    words = np.array(["no", "yes"])
    assert "overfits" in measured(words[y], words[np.where(TEST, new, y)]).sentence()


def test_where_rows_do_not_tell_their_noise_that_is_a_condition():
    once = np.tile(np.isin(np.arange(8), (0, 7)), 49)  # One new row and one training row of each seen combination.
    y = SUM + np.where(UNSEEN & (np.tile(np.arange(8), 49) > 0), 0.0, 0.5) * NOISE
    kept = once & ~(UNSEEN & (np.tile(np.arange(8), 49) > 0))
    p = np.where(TEST, SUM + 1.5 * np.random.default_rng(3).normal(size=len(A)), y)
    condition = "(unless test rows are noisier than training rows, which too few rows tell)"
    open_, told = measured(y, p, kept), measured(y, p, kept, noise=0.5)
    assert "overfits" in open_.sentence()
    assert condition in open_.sentence()
    assert "overfits" in told.sentence()
    assert condition not in told.sentence()


def test_one_answer_for_all_unseen_combinations_is_said_beside_overfitting():
    y = SUM + 2 * NOISE
    known = np.where(TEST, SUM + 2 * np.random.default_rng(1).normal(size=len(A)), y)
    result = measured(y, np.where(UNSEEN, y[~TEST].mean(), known))
    assert result.verdict == "overfits"
    assert result.sentence().startswith("It overfits, and every unseen combination gets one and the same answer: ")
