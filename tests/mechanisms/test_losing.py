"""What a gap within the margin would hide: a factor that is ignored, a rare class that is lost, inverted answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from everything_said import everything

from recombine.mechanisms import MeasureResult, measure_predictions
from recombine.mechanisms.compared.comparing import noise_within
from recombine.mechanisms.compared.losing import leaked
from recombine.statistics import Over

A, B = np.indices((8, 6)).reshape(2, -1).repeat(20, axis=1)
ROW = np.tile(np.arange(20), 48)
UNSEEN = (A + 2 * B) % 4 == 0
NOISE = np.random.default_rng(0).normal(size=len(A))


def measured(y: object, p: object, **more: object) -> MeasureResult:
    table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(UNSEEN | (ROW < 6), "test", "train")}
    options = {"factors": ["a", "b"], "target": "y", "prediction": "p", "split": "part=test", **more}
    return measure_predictions(table, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("small", [0.1, 0.02], ids=["a factor that adds little", "one that adds hardly anything"])
def test_a_factor_that_is_ignored_is_no_composing_however_little_it_adds(small):
    y = 1.0 * A + small * (B - 2.5) ** 3 / 5 + small / 10 * NOISE
    rule = 1.0 * A + small * (B - 2.5) ** 3 / 5
    result = measured(y, np.where(UNSEEN, 1.0 * A, rule))
    assert (result.verdict, result.gap.high < 0.05) == ("partly", True)
    assert "It is worse than on seen ones and than adding up, by less than the margin of 0.05" in result.sentence()
    assert measured(y, rule).verdict == "composes"


def test_far_worse_than_adding_up_is_no_composing_where_every_combination_has_one_row():
    a, b, unseen, noise, off = (column[ROW == 0] for column in (A, B, UNSEEN, NOISE, np.sign(NOISE[::-1])))
    rule = a + 0.2 * (b - 2.5)
    table = {"a": a, "b": b, "y": rule + 0.01 * noise, "part": np.where(unseen, "test", "train")}
    options = {"factors": ["a", "b"], "target": "y", "prediction": "p", "split": "part=test"}
    for p, told, verdict in (
        (rule + 0.35 * unseen * off, 0.01, "partly"),
        (rule + 0.35 * unseen * off, None, "unclear"),
        (rule, 0.01, "composes"),
    ):
        result = measure_predictions({**table, "p": p}, noise=told, **options)
        assert (result.verdict, "overfitting may explain any gap" in result.why) == (verdict, verdict == "unclear")


def test_a_gap_that_is_small_beside_the_noise_is_harmless():
    y = 1.0 * A + B + NOISE
    result = measured(y, 1.0 * A + B + UNSEEN * np.where(A % 2, 0.5, -0.5))
    assert (result.verdict, result.gap.low > 0) == ("composes", True)
    assert "worse than seen ones, but by less than the margin" in result.sentence()


@pytest.mark.parametrize(
    ("every", "missed", "verdict", "said"),
    [
        (20, 1.0, "fails", "More than half of what it knows of seen ones"),
        (20, 0.4, "unclear", "more than half of what it knows of seen ones, beyond always giving the same answer, may"),
        (4, 0.4, "partly", "but more than a quarter of what it knows of seen ones"),
        (20, 0.0, "composes", "as it answers seen ones"),
    ],
)
def test_a_rare_class_is_judged_by_what_there_was_to_lose(every, missed, verdict, said):
    place = 5 * A + 3 * B + ROW
    rare = place % every == 0  # As many rows of each combination.
    lost = UNSEEN & ((place // 4 + A) % 5 < 5 * missed if every == 4 else 20 * missed > (7 * A + 3 * B) % 20)
    margin = 1.0 / every
    result = measured(np.where(rare, "defect", "ok"), np.where(rare & ~lost, "defect", "ok"), margin=margin)
    assert result.verdict == verdict
    assert result.gap.mean < margin + 1e-9
    assert said in result.sentence()


def test_answers_worse_than_always_the_same_one_fail_where_there_is_hardly_anything_to_learn():
    y = np.where((ROW + 3 * A + 5 * B) % 12 == 0, "yes", "no")
    result = measured(y, np.where(UNSEEN, "yes", "no"))
    assert result.verdict == "fails"
    assert "Always giving the same answer is clearly better there" in result.sentence()
    assert measured(y, np.full(len(y), "no")).verdict == "not fitted"


def test_a_collapse_is_said_where_there_is_nothing_to_learn_and_nothing_was_fitted():
    size = np.random.default_rng(1).normal(size=(8, 6))[A, B]
    far = measured(NOISE, np.where(UNSEEN, 2.0, 0.05) * size)
    clause = "Unseen combinations are answered clearly worse: error "
    assert (far.verdict, "hardly anything to learn" in far.sentence()) == ("not fitted", True)
    costs = f"{far.unseen.mean:.2f}, where always giving the same answer costs {far.comparison.constant.error.mean:.2f}"
    assert clause + costs in far.sentence()
    assert clause not in measured(NOISE, 2.0 * size).sentence()  # As bad at seen ones.


@pytest.mark.parametrize(("off", "verdict"), [(-4.0, "fails"), (1.0, "unclear")])
def test_a_few_combinations_that_err_most_hide_no_collapse(off, verdict):
    mean = np.random.default_rng(2).standard_t(2, size=(8, 6))[A, B] / 2
    kept = ~UNSEEN | np.isin(10 * A + B, np.unique((10 * A + B)[UNSEEN])[:6])
    part = np.where(UNSEEN | (ROW < 6), "test", "train")
    table = {"a": A, "b": B, "y": mean + 3 * NOISE, "p": np.where(UNSEEN, off, 1.0) * mean, "part": part}
    table = {name: values[kept] for name, values in table.items()}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.comparison.constant.difference.low < 0
    assert (result.verdict, "same answer is clearly better there" in result.sentence()) == (verdict, verdict == "fails")


def test_others_that_one_answer_for_all_suits_as_well_are_no_composing_in_part():
    right = np.random.default_rng(0).normal(size=(8, 6))[A, B] ** 3 / 3
    result = measured(right + NOISE / 2, np.where(UNSEEN, -right, right))
    assert result.verdict == "fails"
    assert "2 of 12 unseen combinations are clearly wrong" in result.sentence()


def test_one_answer_to_all_unseen_combinations_is_said_where_it_is_not_clear_that_they_fail():
    y = 0.3 * A + 3 * NOISE
    said = "Every unseen combination gets one and the same answer, and seen ones do not"
    result = measured(y, np.where(UNSEEN, 1.05, 0.3 * A))
    assert (result.verdict, said in everything(result)) == ("unclear", True)
    assert said not in everything(measured(y, 0.3 * A))
    one = UNSEEN & ((A > 0) | (B > 0))
    table = {"a": A, "b": B, "y": y, "p": 0.3 * A, "part": np.where(UNSEEN | (ROW < 6), "test", "train")}
    table = {name: values[~one] for name, values in table.items()}
    assert said not in measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test").sentence()


def test_the_likelier_of_rare_classes_is_no_misfit_though_a_few_rows_more_are_wrong_by_chance():
    rng = np.random.default_rng(4)
    chance = 1 / (1 + np.exp(2.2 - 1.2 * rng.normal(size=8)[A] - rng.normal(size=6)[B]))
    for seed in range(6):
        y = np.where(np.random.default_rng(seed).random(len(A)) < chance, "yes", "no")
        result = measured(y, np.where(chance > 0.5, "yes", "no"))
        assert result.verdict in ("unclear", "composes")


@pytest.mark.parametrize(("tested", "verdict"), [(2, "unclear"), (12, "composes")])
def test_few_unseen_combinations_leave_much_open_and_two_tell_nothing(tested, verdict):
    kept = ~UNSEEN | np.isin(10 * A + B, np.unique((10 * A + B)[UNSEEN])[:tested])
    y = 1.0 * A + B + NOISE / 10
    part = np.where(UNSEEN | (ROW < 6), "test", "train")
    table = {"a": A[kept], "b": B[kept], "y": y[kept], "p": (1.0 * A + B)[kept], "part": part[kept]}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.verdict == verdict
    left = "Only 12 unseen combinations were tested: up to 22% of all others could still fail (95 %"
    assert (left in result.sentence()) == (verdict == "composes")


def test_probabilities_that_collapse_where_the_class_stays_right_compose_in_part():
    share = np.where(B % 2, 0.9, 0.1)
    y = (10 * share > (ROW + A + B) % 10).astype(int)
    flat = measured(y, np.where(UNSEEN, np.where(share > 0.5, 0.51, 0.49), share))
    assert (flat.verdict, flat.gap.mean) == ("partly", pytest.approx(0, abs=0.02))
    assert "Its probabilities are worse: log loss 0.68 on unseen against 0.3" in flat.sentence()
    assert measured(y, np.where(UNSEEN, np.where(share > 0.5, 0.8, 0.2), share)).verdict == "composes"
    # Classes that are noisier where unseen cost every probability more.
    share = np.where(UNSEEN, np.where(B % 2, 0.75, 0.25), share)
    y = (20 * share > (7 * ROW + A + B) % 20).astype(int)
    assert measured(y, share).verdict == "composes"


def test_rows_known_by_heart_among_the_test_rows_are_a_leak_and_no_failure():
    y, rule = 1.0 * A + B + 2 * NOISE, 1.0 * A + B
    result = measured(y, np.where(UNSEEN, rule, y))
    assert result.verdict == "unclear"
    assert "a leak of training rows into the test rows" in result.sentence()
    assert ["rightly" in note for note in result.notes if "apart" in note] == [False]
    assert measured(y, np.where(UNSEEN, rule[::-1], y)).verdict == "fails"
    rule = np.array(["x", "y", "z"])[(A + B) % 3]
    y = np.where(NOISE > 0.8, "x", rule)
    result = measured(y, np.where(UNSEEN, rule, y))
    assert (result.verdict, "a leak of training rows" in result.why) == ("unclear", True)
    assert "leak" not in measured(y, rule).why


def test_a_leak_needs_unseen_ones_within_the_noise_and_explains_the_gap():
    found = measured(A + B + NOISE, 1.0 * A + B)
    each, rows = noise_within(found.answers), np.arange(len(found.answers.codes))
    assert each is not None

    def leak(seen: float, *unseen: float) -> bool:
        share = np.where(found.answers.unseen, np.resize(unseen, len(rows)), seen)
        return leaked(replace(found.answers, error=(share * each)[None]), found.comparison, Over(1, 0))

    assert leak(0.5, 1.0)
    assert leak(0.5, 0.9)
    assert not leak(1.0, 1.0)
    assert leak(0.5, 1.1)  # What few rows leave open.
    assert not leak(0.5, 1.2)  # Clearly worse than the noise, however far below the margin.
    assert leak(0.7, 0.2, 2.0)
    assert not leak(0.95, 0.2, 2.0)  # Seen ones are lucky by less than unseen ones are worse.


def test_seen_rows_that_are_answered_too_well_excuse_no_error_of_many_times_the_noise():
    rule = 1.0 * A + B
    y, off = rule + 0.01 * NOISE, np.where(A % 2, 0.35, -0.35)
    result = measured(y, np.where(UNSEEN, rule + off, 0.8 * y + 0.2 * rule))
    assert (result.verdict, result.gap.high < 0.05) == ("partly", True)
    assert "leak of training rows" not in result.sentence()


def test_levels_that_training_never_shows_cannot_be_known():
    y, new = 1.0 * A + B + NOISE / 10, A == 7
    table = {"a": A, "b": B, "y": y, "p": 1.0 * A + B, "part": np.where(new | (ROW < 6), "Train", "rest")}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=Train")
    assert (result.verdict, result.left_open.levels) == ("unclear", 6)
    assert "all of these hold a level that training never shows" in result.sentence()
    assert any(note.startswith("--split part=Train says that rows with this value were not") for note in result.notes)


@pytest.mark.parametrize(("wrong", "verdict"), [(1, "unclear"), (4, "fails")])
def test_one_wrong_combination_of_few_does_not_speak_for_others(wrong, verdict):
    few = np.isin(10 * A + B, [0, 11, 24, 35])
    off = np.isin(10 * A + B, [0, 11, 24, 35][:wrong])
    y = A % 3
    part = np.where(few | (ROW < 6), "test", "train")
    table = {"a": A, "b": B, "y": [f"k{v}" for v in y], "p": [f"k{v}" for v in (y + off) % 3], "part": part}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert (result.verdict, result.unseen.over) == (verdict, "combinations" if wrong == 1 else "examples")


def test_the_recall_of_a_rare_class_is_counted():
    rng = np.random.default_rng(1)
    rare, given = rng.random((2, len(A))) < [[0.06], [0.01]]
    given |= rare & (rng.random(len(A)) < 0.7)
    result = measured(np.where(rare, "defect", "ok"), np.where(given, "defect", "ok"), margin=1.0, fitted=1.0)
    for side, rows in (("seen", ~UNSEEN & (ROW < 6)), ("unseen", UNSEEN)):
        assert result.scores()[side]["recall of defect"] == pytest.approx((given & rare)[rows].sum() / rare[rows].sum())
    assert "Recall of defect: 0." in everything(result)
    even = np.where(B % 2, "x", "y")
    assert "Recall" not in measured(even, even).sentence()


@pytest.mark.parametrize(("right", "verdict"), [(0.0, "unclear"), (-4.0, "composes")])
def test_one_answer_for_all_unseen_combinations_tells_nothing_where_it_is_training_s_mean(right, verdict):
    due = np.where(UNSEEN, right + 0.2 * (A % 3 - 1), 1.0 * A + B - 6)
    result = measured(due + 0.5 * NOISE, np.where(UNSEEN, right, due))
    assert (result.verdict, result.gap.high < 0.05) == (verdict, True)
    assert ("Every unseen combination gets one and the same answer" in result.sentence()) == (verdict == "unclear")
