"""Predictions beside the wrong test rows, or all alike, are told apart from overfitting."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.mechanisms import MeasureResult, measure_predictions

A, B = np.indices((7, 7)).reshape(2, -1).repeat(6, axis=1)
UNSEEN = (A + 2 * B) % 5 == 0
TEST = UNSEEN | (np.tile(np.arange(6), 49) < 2)
RNG = np.random.default_rng(3)
ONE, TWO = RNG.normal(size=(2, 7))
SUM = 3 + ONE[A] + TWO[B]
Y = SUM + 0.3 * RNG.normal(size=len(A))
WORDS = np.array(["ash", "birch", "cedar"])
CLASS = (A + B) % 3
NOISY = np.where(RNG.random(len(A)) < 0.1, (CLASS + 1) % 3, CLASS)
FIRST = "Look first at how predictions were put beside test rows"


def measured(y: object, p: object) -> MeasureResult:
    table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(TEST, "test", "train")}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


def with_test_rows(p: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Predictions whose test rows are others."""
    found = p.copy()
    found[TEST] = of
    return found


@pytest.mark.parametrize("classes", [False, True])
def test_test_rows_in_another_order_are_no_overfitting(classes):
    y, right = (WORDS[NOISY], WORDS[CLASS]) if classes else (Y, SUM)
    result = measured(y, with_test_rows(right, np.random.default_rng(0).permutation(right[TEST])))
    assert result.verdict == "unclear"
    assert "predictions of test rows have nothing to do with their answers" in result.why
    assert result.look.startswith(FIRST)
    assert ("kappa = " if classes else "r = ") in result.look
    assert FIRST not in measured(y, right).sentence()


@pytest.mark.parametrize(("how", "said"), [(1, "moved by one row"), (-1, "moved by one row"), (None, "turned round")])
def test_rows_that_are_moved_or_turned_round_are_named_as_such(how, said):
    there = SUM[TEST]
    result = measured(Y, with_test_rows(SUM, there[::-1] if how is None else np.roll(there, how)))
    assert f"{said} they would go with the answers at r = 0.9" in result.look
    # Noisier answers, of which most stand beside rows of their own combination all the same.
    noisier = measured(SUM + 2.7 * (Y - SUM), with_test_rows(SUM, there[::-1] if how is None else np.roll(there, how)))
    assert f"{said} they would go with the answers at r = 0.9" in noisier.look


@pytest.mark.parametrize("classes", [False, True])
def test_one_answer_to_all_test_rows_is_no_overfitting(classes):
    y, right, one = (WORDS[NOISY], WORDS[CLASS], "birch") if classes else (Y, SUM, 0.0)
    result = measured(y, np.where(TEST, one, right))
    assert (result.verdict, result.mechanisms) == ("unclear", ())
    assert "every test row, of seen combinations too, gets one and the same answer" in result.why
    assert result.look.startswith("Look first at how test rows were predicted")
    only_unseen = measured(y, np.where(UNSEEN, one, right))
    assert only_unseen.verdict in ("fails", "partly")
    assert not only_unseen.look


def test_who_knows_training_rows_by_heart_overfits():
    scattered = 3 + Y.std() * np.random.default_rng(1).normal(size=len(A))
    result = measured(Y, np.where(TEST, scattered, Y))
    assert (result.verdict, result.look) == ("overfits", "")
    assert measured(Y, np.where(TEST, Y.mean(), Y)).verdict == "overfits"


def test_without_seen_combinations_among_test_rows_nothing_is_said():
    kept = UNSEEN | ~TEST
    table = {"a": A, "b": B, "y": Y, "p": np.where(TEST, 0.0, SUM), "part": np.where(TEST, "test", "train")}
    table = {name: values[kept] for name, values in table.items()}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert not result.look


def test_who_knows_combinations_of_noise_by_heart_overfits():
    rng = np.random.default_rng(0)
    cell, y, test = rng.integers(250, size=400), rng.normal(size=400), rng.random(400) < 0.25
    rows = np.bincount(cell[~test], minlength=250)
    means = np.bincount(cell[~test], y[~test], minlength=250) / np.maximum(rows, 1)
    table = {"a": cell // 16, "b": cell % 16, "y": y, "part": np.where(test, "test", "train")}
    both = {"p": means[cell], "moved": np.where(test, rng.permutation(means[cell]), means[cell])}
    learnt, moved = (
        measure_predictions(table | both, ["a", "b"], target="y", prediction=name, split="part=test") for name in both
    )
    assert learnt.verdict in ("overfits", "unclear")
    assert not learnt.look
    # What training rows of the same combinations get tells that these are others.
    assert moved.look.startswith(FIRST)


@pytest.mark.parametrize("classes", [False, True])
def test_unseen_rows_alone_in_another_order_are_suspected(classes):
    y, right = (WORDS[NOISY], WORDS[CLASS]) if classes else (Y, SUM)
    rng = np.random.default_rng(1)
    moved = right.copy()
    moved[UNSEEN] = rng.permutation(right[UNSEEN])
    result = measured(y, moved)
    assert result.verdict == "fails"
    assert "put beside rows of unseen combinations (their order; join by a key)" in result.look
    # Whoever answers seen rows differently as well reads more than the factors; whoever is right at times is no join.
    other = np.where(UNSEEN & (rng.random(len(A)) < 0.6), moved, right) if classes else moved + Y - SUM
    assert "their order" not in measured(y, other).sentence()


def test_classes_that_were_drawn_are_no_wrong_join_first():
    rng = np.random.default_rng(1)
    result = measured(WORDS[NOISY], np.where(UNSEEN, rng.choice(WORDS, len(A)), WORDS[CLASS]))
    assert "it draws its answers there, " in result.look
    assert "Look first" not in result.look
