"""Answers that are right but for how they are written are told apart from answers that are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from everything_said import everything

from recombine.errors import InputError
from recombine.mechanisms import MeasureResult, measure_predictions

A, B = np.indices((7, 7)).reshape(2, -1).repeat(4, axis=1)
UNSEEN = (A + 2 * B) % 5 == 0
FRESH = ~UNSEEN & (np.tile(np.arange(4), 49) == 0)
ONE, TWO, *_ = np.random.default_rng(3).normal(size=(4, 7))
SUM = 3 + ONE[A] + TWO[B]
NOISE = np.random.default_rng(4).normal(size=len(A))
Y = SUM + 0.1 * NOISE
WORDS = np.array(["ash", "birch", "cedar"])


def measured(y: object, p: object, prediction: object = "p", **more: object) -> MeasureResult:
    table = {"a": A, "b": B, "y": y, "part": np.where(UNSEEN | FRESH, "test", "train")}
    table |= p if isinstance(p, dict) else {"p": p}
    return measure_predictions(table, ["a", "b"], target="y", prediction=prediction, split="part=test", **more)


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (SUM + 10, "Predictions of seen combinations, too, lie above the answers, by 10"),
        (SUM - 10, "Predictions of seen combinations, too, lie below the answers, by 10"),
        (-SUM, "Predictions are about the answers with the other sign. Put right"),
        (6 - SUM, "less the predictions. Put right"),
        (100 * SUM, "Predictions are about 100 [99"),
        (SUM / 1000, "times the predictions. Put right"),
        (32 + 1.8 * SUM, "times the predictions. Put right"),
    ],
    ids=["high", "low", "sign", "turned", "per cent", "thousands", "Fahrenheit"],
)
def test_numbers_in_other_units_are_said_to_be(p, said):
    result = measured(Y, p)
    assert result.verdict == "not fitted"
    assert said in result.sentence()
    assert "check units, signs, and how answers were scaled or centred for training, and measure" in result.sentence()
    assert not any("Put right" in note for note in result.notes)  # Once.


@pytest.mark.parametrize(("loosely", "slope", "little"), [(0.5, 15.7, True), (0.5, 100.0, False), (0.0, 15.7, False)])
def test_numbers_that_follow_the_answers_but_loosely_were_trained_too_little(loosely, slope, little):
    off = loosely * np.random.default_rng(5).normal(size=(7, 7))[A, B] * SUM.std()
    text = measured(Y, SUM.mean() + (SUM - SUM.mean() + off) / slope).sentence()
    assert ("It looks trained too little" in text and "train on, and check units" in text) == little
    assert ("times the predictions" in text) != little


def test_one_level_that_is_too_high_is_named_and_no_unit_of_all_predictions():
    ones, highest = ONE.copy(), int(ONE.argmax())
    ones[highest] += 3 * SUM.std()  # So that a factor for all predictions would make most of the error good.
    right = ones[A] + TWO[B]
    high = right + 3 * right.std() * (highest == A)
    text = measured(right + 0.1 * NOISE, high).sentence()
    assert f"Look first at a = {highest} (labels, units, data)" in text
    assert "check units" not in text
    assert "check units" in measured(right + 0.1 * NOISE, right + 3 * right.std()).sentence()


def test_nothing_is_put_right_that_unseen_combinations_would_lose_by():
    text = measured(Y, np.where(UNSEEN, SUM, 100 * SUM)).sentence()
    assert "Put right" not in text
    assert "Put right" in measured(Y, 100 * SUM).sentence()


def test_what_is_put_right_is_told_of_either_side():
    off = 2 * SUM.std() * np.random.default_rng(5).normal(size=(7, 7))[A, B] * UNSEEN
    (error,) = [part for part in measured(Y, SUM + 10 + off).sentence().split(". ") if "Put right" in part]
    seen, unseen = (float(error.split(f" on {side}")[0].split()[-1]) for side in ("seen", "unseen"))
    assert seen < 0.01
    assert unseen == pytest.approx(np.square(off[UNSEEN]).mean() / Y[~UNSEEN & ~FRESH].var(), rel=0.1)


@pytest.mark.parametrize(
    ("undone", "name"),
    [
        (np.log, "natural logarithms of the"),
        (np.log1p, "natural logarithms of 1 more than the"),
        (np.log10, "logarithms to base 10 of the"),
    ],
)
def test_logarithms_that_were_never_undone_are_said_to_be(undone, name):
    right = np.exp(ONE[A] + TWO[B])
    text = measured(right * np.exp(0.05 * NOISE), undone(right)).sentence()
    assert f"Predictions are about {name}" in text


def test_log_odds_are_told_from_probabilities():
    odds = 2 * (ONE[A] + TWO[B])
    y = (np.random.default_rng(0).random(len(A)) < 1 / (1 + np.exp(-odds))).astype(int)
    assert "Predictions are about log-odds of the answers" in measured(y, odds, target_kind="number").sentence()
    with pytest.raises(InputError, match=r"become probabilities by 1/\(1 \+ exp"):
        measured(y, odds)
    with pytest.raises(InputError, match="dividing by 100"):
        measured(y, 100 / (1 + np.exp(-odds)))
    both = {"p_no": -odds, "p_yes": odds}
    with pytest.raises(InputError, match="give exp\\(x\\) over its sum"):
        measured(np.array(["no", "yes"])[y], both, [*both])


def test_classes_under_other_names_are_told_which():
    right = (A + B) % 3
    text = measured(WORDS[right], WORDS[(right + 1) % 3]).sentence()
    assert "ash is called birch, birch is called cedar, cedar is called ash. Named back, the error would fall" in text
    assert "from 1.00 to 0.00 on seen combinations and from 1.00 to 0.00 on unseen ones" in text
    swapped = measured(WORDS[right], WORDS[np.array([1, 0, 2])[right]]).sentence()
    assert "other names: ash is called birch, birch is called ash. Named back" in swapped


@pytest.mark.parametrize(
    ("given", "how"),
    [
        (lambda q: q - 1, "one too low (as where they are counted from 0)"),
        (lambda q: 6 - q, "numbered from the other end."),
        (lambda q: 5 - q, "numbered from the other end, and one too low"),
        (lambda q: q, ""),
    ],
)
def test_ratings_that_are_counted_otherwise_are_told_how(given, how):
    right, noisy = (np.clip(np.round(3 + SUM - SUM.mean() + e), 1, 5).astype(int) for e in (0 * NOISE, 0.3 * NOISE))
    text = measured(noisy, given(right), target_kind="class").sentence()
    assert (f"Predictions seem to be {how}" in text) if how else ("seem to" not in text)


def test_an_offset_that_counts_as_fitted_is_a_note():
    result = measured(10 * Y + 50 * np.random.default_rng(1).normal(size=(7, 7))[A, B], 0 * Y, fitted=0.1)
    assert not any("Put right" in text for text in (result.sentence(), *result.notes))
    rest = 3 * np.random.default_rng(1).normal(size=(7, 7))[A, B]
    result = measured(Y + rest, SUM + rest + 0.45 * (SUM + rest).std())
    assert result.verdict == "composes"
    assert sum("lie above the answers" in note for note in result.notes) == 1


@pytest.mark.parametrize("kind", ["constant", "far", "noise", "echo", "guess", "few"])
def test_answers_that_follow_nothing_are_not_said_to_be_written_otherwise(kind):
    rng, level = np.random.default_rng(7), Y.mean()
    p = {
        "constant": np.full(len(Y), level), "far": np.full(len(Y), level + 20), "noise": rng.normal(size=len(Y)),
        "echo": (Y.sum() - Y) / (len(Y) - 1), "guess": WORDS[rng.integers(3, size=len(Y))], "few": SUM + 10,
    }[kind]  # fmt: skip
    y = WORDS[(A + B) % 3] if kind == "guess" else Y
    if kind == "few":  # Five seen combinations do not tell.
        at = (A == 0) & (B < 7)
        table = {"a": A[at], "b": B[at], "y": y[at], "p": p[at], "part": np.where(UNSEEN | FRESH, "test", "train")[at]}
        result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    else:
        result = measured(y, p)
    assert not any(word in text for text in (result.sentence(), *result.notes) for word in ("Put right", "other names"))


@pytest.mark.parametrize("turned", [False, True])
def test_probabilities_of_the_other_class_are_said_though_cut_at_one_half_they_give_one(turned):
    rng = np.random.default_rng(0)
    chance = 1 / (1 + np.exp(2.5 - 1.5 * ONE[A] - 1.5 * TWO[B]))
    y = (rng.random(len(A)) < chance).astype(int)
    result = measured(y, 1 - chance if turned else chance)
    text = " ".join([result.sentence(), *result.notes])
    assert ("Probabilities go against the answers" in text or "other names" in text) == turned


def test_probabilities_at_random_do_not_go_against_the_answers():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = (rng.random(len(A)) < 1 / (1 + np.exp(-ONE[A] - TWO[B]))).astype(int)
        result = measured(y, rng.uniform(0.01, 0.99, size=(7, 7))[A, B])
        assert "go against" not in " ".join([result.sentence(), *result.notes])


@pytest.mark.parametrize("off", [0.0, 2.0])
def test_a_shift_where_unseen_is_said_though_single_training_rows_leave_it_unclear(off):
    kept = np.tile(np.arange(4), 49) == 0
    table = {"a": A, "b": B, "y": Y, "p": SUM + off * UNSEEN, "part": np.where(UNSEEN, "test", "train")}
    table = {name: values[kept] for name, values in table.items()}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    said = "nswers to unseen combinations are too high by 2.0"
    assert (said in everything(result)) == (result.verdict == "unclear") == (off > 0)
    lone = {name: values[table["part"] == "test"] for name, values in table.items()}
    seen = {name: table[name][table["part"] == "train"] for name in "aby"}
    unasked = measure_predictions(lone, ["a", "b"], target="y", prediction="p", train=seen)
    assert unasked.verdict == "nothing seen"
    assert (said in " ".join(unasked.notes)) == (off > 0)


@pytest.mark.parametrize(("off", "uneven", "verdict"), [(1.0, 0.0, "partly"), (1.5, 0.0, "fails"), (2.0, 1.5, "fails")])
def test_one_number_for_all_unseen_combinations_is_a_shift_and_in_part_only_while_one_answer_is_no_better(
    off, uneven, verdict
):
    result = measured(Y, SUM + UNSEEN * (off + uneven * (-1.0) ** A))
    assert result.verdict == verdict
    assert ("look first whether right answers are shifted there" in everything(result)) == (not uneven)


def test_a_chance_has_no_unit_that_could_shift_it():
    rng = np.random.default_rng(0)
    chance = 1 / (1 + np.exp(5 - ONE[A] - TWO[B])).repeat(10)
    y = (rng.random(len(chance)) < chance).astype(int)
    unseen = UNSEEN.repeat(10)
    table = {"a": A.repeat(10), "b": B.repeat(10), "y": y, "p": chance + 0.5 * unseen}
    table["part"] = np.where(unseen | FRESH.repeat(10), "test", "train")
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.verdict == "fails"
    assert "shifted there" not in result.sentence()
