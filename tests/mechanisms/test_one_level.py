"""What goes wrong in one level, on test rows alone, at new levels or for want of a factor is no failure to compose."""

from __future__ import annotations

import numpy as np
import pytest
from everything_said import everything

from recombine.mechanisms import MeasureResult, measure_predictions

A, B = np.indices((8, 7)).reshape(2, -1).repeat(6, axis=1)
PLACE = np.tile(np.arange(6), 56)
UNSEEN = (A + 2 * B) % 5 == 0
FRESH = ~UNSEEN & (PLACE < 2)
WORDS = np.array(["ash", "birch", "cedar"])


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums that are known, and the same with noise."""
    rng = np.random.default_rng(seed)
    right = 20 + 2 * rng.normal(size=8)[A] + 2 * rng.normal(size=7)[B]
    return right, right + 0.5 * rng.normal(size=len(A))


def measured(y: object, p: object, train: object = None) -> MeasureResult:
    test = UNSEEN | FRESH if train is None else ~np.asarray(train)
    table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(test, "test", "train")}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


@pytest.mark.parametrize("how", ["units", "bias"])
def test_one_level_that_is_wrong_seen_or_unseen_is_what_to_look_at_first(how):
    right, y = drawn(1)
    result = measured(y, np.where(A == 3, 32 + 1.8 * right if how == "units" else right + 3, right))
    assert "Look first at a = 3 (labels, units, data): its seen combinations err by" in result.sentence()
    assert result.sentence().endswith("Without this level the verdict would be 'composes'.")
    assert result.verdict not in ("fails", "partly")
    assert (result.worst_level or {})["level"] == 3


def test_a_level_whose_labels_are_swapped_is_no_failure_to_compose():
    y = (A + B) % 3
    result = measured(WORDS[y], WORDS[np.where(A == 2, np.array([1, 2, 0])[y], y)])
    first = "Look first at a = 2 (labels, units, data): its seen combinations err by 1.00, all other seen ones by 0.00"
    assert first in result.sentence()


def test_a_true_failure_beside_a_wrong_level_stays_one():
    right, y = drawn(2)
    off = 6 * np.random.default_rng(0).normal(size=(8, 7))[A, B] * UNSEEN
    result = measured(y, np.where(A == 3, right + 2, right + off))
    assert result.verdict == "fails"
    assert "Without this level the verdict would be 'fails'." in everything(result)


def test_leaving_a_level_out_is_not_offered_where_less_is_clear_then():
    right, y = drawn(1)
    unseen = (A == 3) & (B < 3) | (A == 5) & (B == 1)  # one combination is left without the level
    test = unseen | (PLACE < 2)
    table = {"a": A, "b": B, "y": y, "p": np.where(A == 3, right + 3, right), "part": np.where(test, "test", "train")}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert "Look first at a = 3" in result.sentence()
    assert "Without this level" not in result.sentence()


def test_a_level_whose_unseen_combinations_are_answered_well_is_not_blamed():
    right, y = drawn(1)
    off = 6 * np.random.default_rng(0).normal(size=(8, 7))[A, B] * UNSEEN
    result = measured(y, np.where(A == 3, right + 3 * ~UNSEEN, right + off))
    assert "Look first at a = 3" not in result.sentence()
    assert result.level == ()


@pytest.mark.parametrize("kind", ["right", "noisy level", "bad", "shortcut", "unseen alone"])
def test_no_level_is_blamed_where_none_is_wrong_by_itself(kind):
    said = 0
    for seed in range(10, 16):
        rng, (right, y) = np.random.default_rng(seed), drawn(seed)
        p = {
            "right": right, "noisy level": right, "bad": right + 3 * rng.normal(size=(8, 7))[A, B],
            "shortcut": np.array([right[a == A].mean() for a in range(8)])[A],
            "unseen alone": right + 4 * (UNSEEN & (A == 3)),
        }[kind]  # fmt: skip
        y = y + 2 * rng.normal(size=len(y)) * (A == 3) if kind == "noisy level" else y
        said += bool(measured(y, p).look)
    assert said == 0


def test_test_rows_in_other_units_are_not_overfitting():
    right, y = drawn(3)
    result = measured(y, np.where(UNSEEN | FRESH, right / 1000, right))
    assert result.verdict == "unclear"
    assert "times the predictions." in result.sentence()
    assert "overfits" not in result.sentence()
    assert everything(result).count("Put right") == 1


def test_new_rows_that_are_pulled_towards_the_mean_still_are_overfitting():
    right, y = drawn(4)
    pulled = y[~UNSEEN & ~FRESH].mean() + 0.4 * (right - y[~UNSEEN & ~FRESH].mean())
    assert measured(y, np.where(UNSEEN | FRESH, pulled, y)).verdict == "overfits"


def test_a_factor_that_is_ignored_where_seen_is_told():
    right, y = drawn(5)
    shortcut = np.array([right[a == A].mean() for a in range(8)])[A]
    found = measured(y, shortcut)
    assert found.sentence().startswith("Answers to seen combinations, too, hardly vary with b (")
    assert "reaches the model, and train on. On its training data" in found.sentence()
    assert "hardly vary" not in measured(y, 32 + 1.8 * right).sentence()


def test_a_level_that_training_never_shows_is_told_from_known_ones():
    right, y = drawn(6)
    new = B == 6
    by_one = np.array([right[(a == A) & ~new].mean() for a in range(8)])[A]
    result = measured(y, np.where(new, by_one - 5, right), train=~(UNSEEN | FRESH | new))
    assert result.verdict in ("fails", "partly")
    assert "those of levels that training never shows (b = 6) err by" in everything(result)
    assert not result.mechanisms
    result = measured(y, np.where(new, by_one - 5, right), train=~FRESH & ~new)
    assert result.verdict == "unclear"
    assert "all of these hold a level that training never shows" in result.sentence()


def test_labels_swapped_in_test_rows_alone_are_no_noise_of_these():
    y = (A + B) % 2
    turned = (A == 2) & (UNSEEN | FRESH)
    result = measured(WORDS[np.where(turned, 1 - y, y)], WORDS[y])
    assert "Look first at a = 2 (labels, units, data): its seen combinations err by 1.00" in result.sentence()
    assert "Look first" not in measured(WORDS[y], WORDS[y]).sentence()


def test_a_pair_of_levels_that_is_wrong_is_named_and_not_its_levels():
    a, b, c = np.indices((4, 4, 4)).reshape(3, -1).repeat(8, axis=1)
    unseen = (a + 2 * b + 3 * c) % 5 == 0
    train = ~unseen & (np.tile(np.arange(8), 64) < 5)
    right, region = WORDS[(a + c) % 2], (a == 1) & (b == 2)
    table = {"a": a, "b": b, "c": c, "y": right, "part": np.where(train, "train", "test")}
    table["p"] = np.where(region & ~train, WORDS[(a + c + 1) % 2], right)
    result = measure_predictions(table, ["a", "b", "c"], target="y", prediction="p", split="part=test")
    assert (
        "Look first at a = 1 with b = 2 (labels, units, data): its seen combinations err by 1.00" in result.sentence()
    )
    assert "Without this pair of levels the verdict would be" in result.sentence()


@pytest.mark.parametrize("kind", ["off", "noisy"])
def test_single_rows_tell_a_level_that_is_off_to_one_side_from_a_noisy_one(kind):
    single = np.tile(np.arange(len(A) // 56), 56) == 0
    right, y = drawn(7)
    y = y + 3 * (A == 2) * (np.random.default_rng(0).normal(size=len(A)) if kind == "noisy" else 1.0)
    table = {"a": A, "b": B, "y": y, "p": right, "part": np.where(UNSEEN, "test", "train")}
    table = {name: values[single] for name, values in table.items()}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert (result.level == ((0, 2),)) == (kind == "off")
