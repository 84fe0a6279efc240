"""A rare class that is found on seen combinations and missed on unseen ones is named; one that nobody finds is not."""

from __future__ import annotations

import numpy as np

from recombine.mechanisms import MeasureResult, measure_predictions

ROWS = 40
A, B = np.indices((8, 6)).reshape(2, -1).repeat(ROWS, axis=1)
UNSEEN = (A + 2 * B) % 4 == 0
TEST = UNSEEN | (np.arange(len(A)) % 4 == 0)
USUAL = np.where((A % 2 == 0) ^ (B < 3), "a", "b")
DRAWN = np.random.default_rng(0).random((2, len(A)))


def measured(y: np.ndarray, p: np.ndarray) -> MeasureResult:
    table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(TEST, "test", "train")}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


def test_a_rare_class_that_is_missed_on_unseen_combinations_alone_does_not_compose():
    fraud = DRAWN[0] < 0.015
    result = measured(np.where(fraud, "fraud", USUAL), np.where(fraud & ~UNSEEN, "fraud", USUAL))
    assert result.gap.high < 0.05  # What alone would be taken for composing.
    assert result.verdict in ("partly", "unclear")
    assert "the class 'fraud' is mostly lost: 0.00 of its rows are found on unseen combinations, 1.00" in result.why


def test_a_class_that_is_usual_at_no_unseen_combination_or_is_nothing_but_noise_there_is_not_lost():
    rare = np.where((A == 1) & ~UNSEEN, "c", USUAL)
    few = measured(np.where(DRAWN[0] < 0.03, "c", rare), rare)
    noisy = measured(np.where(UNSEEN & (DRAWN[0] < 0.3), np.array([*"abc"])[(3 * DRAWN[1]).astype(int)], rare), rare)
    assert [few.verdict, noisy.verdict] == ["composes", "composes"]
