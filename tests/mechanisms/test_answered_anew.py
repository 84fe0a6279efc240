"""Combinations that are answered one way on training rows and another on test rows are no overfitting."""

from __future__ import annotations

import numpy as np
import pytest
from everything_said import everything

from recombine.mechanisms import MeasureResult, measure_predictions

A, B = np.indices((7, 7)).reshape(2, -1).repeat(6, axis=1)
UNSEEN = (A + 2 * B) % 5 == 0
TEST = UNSEEN | (np.tile(np.arange(6), 49) < 2)
RNG = np.random.default_rng(3)
ONE, TWO = RNG.normal(size=(2, 7))
Y = 3 + ONE[A] + TWO[B] + 0.3 * RNG.normal(size=len(A))
WORDS = np.array(["ash", "birch", "cedar"])
SAID = "the same combination is answered one way on training rows and another on test rows"
LOOK = "Look first at how test rows were encoded: "


def measured(y: object, p: object) -> MeasureResult:
    table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(TEST, "test", "train")}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


def answer(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(3 + ONE[a] + TWO[b])


@pytest.mark.parametrize("order", [np.roll(np.arange(7), 1), np.array([0, 2, 1, 3, 4, 6, 5])])
def test_levels_that_are_numbered_anew_on_test_rows_are_said_to_be(order):
    result = measured(Y, np.where(TEST, answer(A, order[B]), answer(A, B)))
    assert (result.verdict, result.why) == ("unclear", SAID)
    assert result.look.startswith(LOOK)
    assert "one encoder" in result.look
    assert "overfits" not in result.sentence()
    apart = np.abs(TWO - TWO[order]) > 0.05 * np.std(np.where(TEST, answer(A, order[B]), answer(A, B)))
    cells = {*zip(A[~UNSEEN], B[~UNSEEN], strict=True)}
    assert f"{sum(bool(apart[b]) for _, b in cells)} of {len(cells)} seen combinations" in result.look


def test_and_of_classes():
    right = np.random.default_rng(0).integers(3, size=(7, 7))
    y, p = right[A, B], np.where(TEST, right[A, (B + 1) % 7], right[A, B])
    result = measured(WORDS[y], WORDS[p])
    assert (result.verdict, result.why) == ("unclear", SAID)


@pytest.mark.parametrize("other", ["the same", "right at a shift", "units", "rows told apart", "rounded"])
def test_nothing_is_said_of_who_is_right_or_reads_rows(other):
    right, y = answer(A, B), Y
    if other == "right at a shift":  # A column that differs between the parts, and is read rightly.
        y, right = Y + 2 * TEST, right + 2 * TEST
    elif other == "units":
        right = np.where(TEST, 100 * right, right)
    elif other == "rows told apart":
        right = np.where(TEST, answer(A, (B + 1) % 7) + 0.05 * RNG.normal(size=len(A)), right)
    elif other == "rounded":
        right = np.where(TEST, right.round(1), right)
    result = measured(y, right)
    assert SAID not in result.sentence()
    assert LOOK not in result.sentence()


def test_where_all_of_them_are_of_one_level_that_level_is_told():
    p = answer(A, B)
    result = measured(Y, np.where(TEST & (A == 2), answer(A, 6 - B), p))
    assert SAID not in result.sentence()
    assert "a = 2" in everything(result)
