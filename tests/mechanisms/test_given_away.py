"""A factor that gives the answer away in training alone, or that numbers rows, is named; one that is of use is not."""

from __future__ import annotations

import numpy as np

from recombine.mechanisms import MeasureResult, measure_predictions

A, B = np.indices((7, 7)).reshape(2, -1).repeat(6, axis=1)
UNSEEN = (A + 2 * B) % 5 == 0
FRESH = ~UNSEEN & (np.tile(np.arange(6), 49) < 2)
KNOWN = ~UNSEEN & ~FRESH
Y = (A + B) % 3
WORDS = np.array(["ash", "birch", "cedar"])


def measured(code: object, p: object, y: object = WORDS[Y]) -> MeasureResult:
    table = {"a": A, "b": B, "code": code, "y": y, "p": p, "part": np.where(KNOWN, "train", "test")}
    return measure_predictions(table, ["a", "b", "code"], target="y", prediction="p", split="part=test")


def noted(result: MeasureResult) -> str:
    return " ".join(result.notes)


def test_a_code_made_from_training_answers_gives_them_away():
    code = np.where(KNOWN, Y, np.random.default_rng(0).integers(3, size=len(A)))
    result = measured(code, WORDS[code])
    assert "code gives the answer away in training: alone it leaves an error of 0.00 there" in noted(result)
    assert "(off by 0.00 from what its levels gave in training" in noted(result)
    # Who does not follow it was not taken in.
    assert "gives the answer away" not in noted(measured(code, WORDS[Y]))


def test_a_code_that_tells_the_answer_of_new_rows_too_gives_nothing_away():
    assert "gives the answer away" not in noted(measured(Y, WORDS[Y]))


def test_numbers_are_given_away_too():
    y = np.random.default_rng(1).normal(size=7)[A] + np.random.default_rng(2).normal(size=7)[B]
    rank = np.searchsorted(np.quantile(y, np.arange(1, 8) / 8), y)
    code = np.where(KNOWN, rank, np.random.default_rng(3).permutation(rank))
    means = np.array([y[KNOWN & (code == c)].mean() for c in range(8)])
    assert "code gives the answer away" in noted(measured(code, means[code], y))


def test_a_factor_with_a_level_for_each_row_is_named_and_one_with_few_is_not():
    result = measured([f"row {i}" for i in range(len(A))], WORDS[Y])
    assert f"code has {KNOWN.sum():,} levels in {KNOWN.sum():,} training rows" in noted(result)
    asked = f"{(~KNOWN).sum():,} of {(~KNOWN).sum():,} rows of unseen combinations have a level of it that training"
    assert asked in noted(result)
    assert "levels in" not in noted(measured(Y, WORDS[Y]))
