"""Combinations that are clearly wrong where the others are not are named; of learners that err alike, none is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from everything_said import everything

from recombine.mechanisms import MeasureResult, measure_predictions

A, B = np.indices((8, 8)).reshape(2, -1).repeat(10, axis=1)
ROW = np.tile(np.arange(10), 64)
UNSEEN = (A + 2 * B) % 4 == 0
WRONG = ((A == 0) & (B == 0)) | ((A == 4) & (B == 2))
WORDS = np.array(["x", "y", "z"])


def measured(y: object, p: object, margin: float = 0.05, **more: object) -> MeasureResult:
    table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(UNSEEN | (ROW < 3), "test", "train"), **more}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test", margin=margin)


def answered(number: bool, share: float, wrong: object, seed: int) -> MeasureResult:
    """A sum with noise, or a class with some errors, wholly wrong at some combinations."""
    rng = np.random.default_rng(seed)
    if not number:
        off = np.where(wrong, 1, np.where(rng.random(len(A)) < share, 2, 0))
        return measured(WORDS[A % 3], WORDS[(A + off) % 3])
    off = share * rng.normal(size=(8, 8))[A, B] + 6.0 * np.asarray(wrong)
    return measured(1.0 * A + B + rng.normal(size=len(A)), A + B + off)


@pytest.mark.parametrize("number", [False, True], ids=["classes", "numbers"])
def test_those_that_are_wholly_wrong_are_named(number):
    result = answered(number, 0.02, WRONG, 0)
    assert result.verdict == "partly"
    assert "2 of 16 unseen combinations are clearly wrong and the others are not shown to be: a = " in result.sentence()
    found = [tuple(row.values()) for row in result.to_dict()["standing_out"]]
    assert sorted(found) == [(0, 0), (4, 2)]


@pytest.mark.parametrize("number", [False, True], ids=["classes", "numbers"])
def test_the_more_combinations_are_wrong_the_harder_the_verdict(number):
    at = (A < 6) & (B < 6)
    unseen = (A + 2 * B) % 4 == 0
    order = np.random.default_rng(1).permutation(np.unique((8 * A + B)[at & unseen]))
    found = []
    for k in (0, 2, 3, 4, 5, 9):
        wrong, noise = np.isin(8 * A + B, order[:k]), np.random.default_rng(0).normal(size=len(A))
        y, p = (
            (A + B + 0.5 * noise, A + B + 6.0 * wrong * (-1.0) ** B)
            if number
            else (WORDS[A % 3], WORDS[(A + wrong) % 3])
        )
        table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(unseen | (ROW < 3), "test", "train")}
        table = {name: np.asarray(values)[at] for name, values in table.items()}
        found.append(measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test"))
    part = 3 if number else 2  # Five of nine right, of three classes: a guess is not ruled out.
    assert [result.verdict for result in found] == ["composes", *["partly"] * part, *["fails"] * (5 - part)]
    assert ("Guessing is not ruled out" in found[3].sentence()) is not number
    assert [len(result.outliers) for result in found[:4]] == [0, 2, 3, 4]


@pytest.mark.parametrize(("others", "verdict"), [(0.5, "partly"), (4.0, "fails")])
def test_where_most_err_clearly_it_fails_and_not_where_two_are_far_off(others, verdict):
    rng = np.random.default_rng(0)
    off = UNSEEN * others * np.sign(rng.normal(size=(8, 8)))[A, B] + 11.0 * WRONG
    result = measured(1.0 * A + B + 5 * rng.normal(size=len(A)), A + B + off)
    assert result.comparison.constant is not None
    assert result.unseen.mean > result.comparison.constant.error.mean
    assert result.verdict == verdict
    assert ("combinations err by more than the margin of 0.05" in result.sentence()) == (verdict == "fails")


@pytest.mark.parametrize(("rows", "off", "says"), [(1, 5, "are clearly wrong"), (10, 1.6, "make most of the error")])
def test_unclear_says_which_few_weigh_most(rows, off, says):
    noise = np.random.default_rng(2).normal(size=len(A))
    table = {"a": A, "b": B, "y": A + B + 0.5 * noise, "p": A + B + off * WRONG}
    table["part"] = np.where(UNSEEN | ((ROW < 3) & (rows > 1)), "test", "train")
    table = {name: values[rows > ROW] for name, values in table.items()}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.verdict == "unclear"
    assert f"2 of 16 unseen combinations {says}" in everything(result)
    assert all(f"{a}, b = {b} (error" in result.why for a, b in ((0, 0), (4, 2)))


def test_combinations_too_few_to_be_held_against_each_other_are_held_against_their_own_rows():
    at = (A < 4) & (B < 4)
    unseen, noise = A == B, np.random.default_rng(0).normal(size=len(A))
    y = 3.0 * A - 2 * B + 0.5 * noise
    table = {"a": A, "b": B, "y": y, "p": np.where(unseen, 0.9, 3.0 * A - 2 * B)}
    table |= {"part": np.where(unseen | (ROW < 3), "test", "train")}
    few = {name: np.asarray(values)[at] for name, values in table.items()}
    result = measure_predictions(few, ["a", "b"], target="y", prediction="p", split="part=test")
    assert (result.verdict, result.why[:40]) == ("fails", "every unseen combination gets one and th")


@pytest.mark.parametrize("number", [False, True], ids=["classes", "numbers"])
def test_a_level_that_fails_is_named_and_is_no_failure_of_the_whole(number):
    result = answered(number, 0.02, UNSEEN & (A == 4), 0)
    assert (result.verdict, result.to_dict()["standing_out_levels"]) == ("partly", [{"factor": "a", "level": 4}])
    assert "nseen combinations of a = 4 (mean error " in result.why
    assert result.why.endswith(" on its 4) are clearly wrong and the others are not shown to be")
    assert "The other 12 err by " in result.sentence() or result.mechanisms
    one = replace(result, rest=(1, 0.1), evidence=()).sentence()
    assert "The other one errs by 0.10, seen ones by" in one


def test_levels_that_err_alike_are_not_named():
    found = [answered(number, share, False, seed) for number, share in ((False, 0.2), (True, 2.0)) for seed in range(4)]
    assert sum(len(result.bad_levels) for result in found) <= 1


def test_one_answer_for_all_unseen_combinations_is_no_composing_in_part():
    y = np.where(A + B < 4, "yes", "no")
    result = measured(y, np.where(UNSEEN, "no", y))
    assert (result.verdict, "gets one and the same answer" in result.why) == ("fails", True)
    assert "the others are not shown" not in result.why
    assert measured(y, np.where(WRONG, "no", y)).verdict == "partly"


@pytest.mark.parametrize(("number", "share"), [(False, 0.05), (False, 0.3), (True, 0.2), (True, 2.0)])
def test_of_combinations_that_err_alike_none_is_named(number, share):
    assert sum(len(answered(number, share, False, seed).outliers) > 0 for seed in range(4)) <= 1


def test_one_that_is_noisier_is_not_wrong():
    rng = np.random.default_rng(0)
    noise = np.where(WRONG, 0.55, 0.02)
    y = WORDS[(A + np.where(rng.random(len(A)) < noise, rng.integers(1, 3, size=len(A)), 0)) % 3]
    assert measured(y, WORDS[A % 3]).outliers == ()
    y = A + B + np.where(WRONG, 12.0, 1.0) * rng.normal(size=len(A))
    assert measured(y, 1.0 * A + B).outliers == ()


def test_models_of_several_classes_are_compared_by_their_probabilities_and_the_worst_recall_is_said():
    due = np.eye(3)[A % 3] * 0.8 + 0.1
    lost = np.where((UNSEEN & (A % 3 == 2))[:, None], np.eye(3)[0] * 0.8 + 0.1, due)
    table = {"a": A, "b": B, "y": WORDS[A % 3], "part": np.where(UNSEEN | (ROW < 3), "test", "train")}
    table |= {f"{m}_{w}": p[:, i] for m, p in (("p", due), ("q", lost)) for i, w in enumerate(WORDS)}
    names = [[f"{m}_{w}" for w in WORDS] for m in "pq"]
    same, other = (
        measure_predictions(table, ["a", "b"], target="y", prediction=one, against=[two], split="part=test")
        for one, two in (names, names[::-1])
    )
    assert [c.name for c in same.comparison.others if not c.rule] == ["q"]
    assert same.comparison.others[-1].difference.high < 0
    assert "Recall of z, the worst class on unseen ones: 1.00 on seen, 0.00 on unseen" in everything(other)
    assert "Recall" not in everything(same)


def of_few(rows: int, unseen: int, wrong: int, elsewhere: int = 0) -> MeasureResult:
    """Some of a grid's combinations unseen, the first of them wholly wrong, and some of the seen ones."""
    a, b = np.indices((8, 8)).reshape(2, -1).repeat(rows, axis=1)
    place, row = (3 * (8 * a + b)) % 64, np.tile(np.arange(rows), 64)
    off = (place < wrong) | ((place >= unseen) & (place < unseen + elsewhere))
    table = {"a": a, "b": b, "y": WORDS[a % 3], "p": WORDS[(a + off) % 3]}
    table["part"] = np.where((place < unseen) | (row < max(1, rows // 6)), "test", "train")
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


def test_one_of_few_is_named_with_the_interval_of_its_own_rows():
    result = of_few(20, 5, 1)
    assert result.verdict == "unclear"
    assert (
        "1 of 5 unseen combinations is clearly wrong: a = 0, b = 0 (error 1.00 [0.83, 1.00] by its own rows, 20)"
        in (result.sentence())
    )
    assert "by its own rows" not in of_few(20, 5, 0).sentence()
    assert "by its own rows" not in of_few(2, 5, 1).sentence()  # Two rows do not tell.
    assert "by its own rows" not in of_few(20, 16, 1).sentence()  # Of many it is held against the others.


def test_of_few_it_counts_where_seen_ones_are_rarely_as_wrong():
    assert [of_few(20, 3, 1).verdict, of_few(20, 3, 1, 6).verdict] == ["partly", "unclear"]
    assert "1 of 3 unseen combinations is clearly wrong: a = 0" in of_few(20, 3, 1, 6).sentence()


def test_few_rows_that_are_wrong_convict_where_seen_ones_are_hardly_ever_wrong():
    sure, open_ = of_few(2, 1, 1), of_few(2, 1, 1, 4)
    assert [sure.verdict, open_.verdict] == ["fails", "unclear"]
    assert "2 rows, 2 of them wrong, tell little where up to 0.14 of rows may be wrong anyway" in open_.why


def test_one_combination_that_is_right_stands_for_no_other():
    found = of_few(20, 1, 0), of_few(100, 1, 0)
    assert [result.verdict for result in found] == ["unclear"] * 2  # Many rows of it change nothing.
    assert all("one stands for no others: it takes two of each" in result.why for result in found)


def test_two_combinations_of_one_class_may_be_so_by_chance():
    """The one that is right and the one that is wrong get the same class: not all is lost of what is known."""
    a, b = np.indices((8, 8)).reshape(2, -1).repeat(20, axis=1)
    unseen, row = ((a == 0) & (b == 0)) | ((a == 1) & (b == 5)), np.tile(np.arange(20), 64)
    table = {"a": a, "b": b, "y": WORDS[a % 3], "p": np.where(unseen, "y", WORDS[a % 3])}
    table["part"] = np.where(unseen | (row < 3), "test", "train")
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.verdict == "partly"
    assert "1 of 2 unseen combinations is clearly wrong and the others are not shown to be: a = 0" in everything(result)
    assert "what is right there may be luck" in result.why


def best_answers(seed: int, wrong: bool = False) -> MeasureResult:
    """The better of two classes, many of them near a coin flip; but where it is wholly wrong, at the first and last."""
    rng, shape = np.random.default_rng(seed), (5, 6, 4)
    levels = np.indices(shape).reshape(3, -1)
    odds = 0.5 * sum(rng.normal(size=n)[codes] for n, codes in zip(shape, levels, strict=True))
    unseen = rng.permutation(120) < 30
    off = wrong & unseen & np.isin(np.cumsum(unseen), [1, 30])
    y = rng.random((120, 25)) < np.where(off, 1.0, 1 / (1 + np.exp(-odds)))[:, None]
    test = unseen[:, None] | (rng.random((120, 25)) < 0.2)
    table = {name: codes.repeat(25) for name, codes in zip("abc", levels, strict=True)}
    table |= {"y": np.where(y, "yes", "no").ravel(), "p": np.where((odds > 0) & ~off, "yes", "no").repeat(25)}
    table |= {"part": np.where(test, "test", "train").ravel()}
    return measure_predictions(table, ["a", "b", "c"], target="y", prediction="p", split="part=test")


def test_the_best_answer_to_a_coin_flip_is_not_wrong():
    found = [best_answers(seed) for seed in range(8)]
    assert not any(result.outliers or result.bad_levels for result in found)
    assert [len(best_answers(seed, True).outliers) for seed in range(2)] == [2, 2]


@pytest.mark.parametrize(("others", "says"), [(0.0, "are clearly wrong and the others are not shown to be: "),
                                              (0.9, "are clearly wrong by themselves: ")])  # fmt: skip
def test_what_is_said_of_the_others_is_so(others, says):
    rng = np.random.default_rng(0)
    off = UNSEEN * others * np.sign(rng.normal(size=(8, 8)))[A, B] + 8.0 * WRONG
    result = measured(1.0 * A + B + 0.5 * rng.normal(size=len(A)), A + B + off, margin=0.1)
    assert result.verdict == "partly"
    assert f"2 of 16 unseen combinations {says}" in result.why
    assert "The other 14 err by " in result.sentence()


def test_where_the_others_are_off_too_and_most_is_lost_it_fails():
    rng = np.random.default_rng(0)
    off = UNSEEN * 1.3 * rng.normal(size=(8, 8))[A, B] + 12.0 * WRONG
    result = measured(1.0 * A + B + 0.5 * rng.normal(size=len(A)), A + B + off)
    assert (result.verdict, result.gap.low < 0.05) == ("fails", True)
    assert "is lost, all unseen ones taken together" in result.why


@pytest.mark.parametrize(("off", "verdict"), [(4.0, "partly"), (0.0, "composes")])
def test_a_level_that_is_wrong_is_no_open_question_where_the_noise_of_single_rows_is_said(off, verdict):
    a, b = np.indices((8, 8)).reshape(2, -1)
    rng = np.random.default_rng(2)
    unseen = (a + 2 * b) % 3 == 0
    mean = 2 * rng.normal(size=8)[a] + 2 * rng.normal(size=8)[b]
    part = np.where(unseen, "test", "train")
    p = mean + off * (unseen & (b == 3))
    table = {"a": a, "b": b, "y": mean + 0.4 * rng.normal(size=64), "p": p, "part": part}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test", noise=0.4)
    assert result.verdict == verdict
    assert ("Unseen combinations of b = 3" in result.sentence()) == (off > 0)


@pytest.mark.parametrize("seed", [7, 9])
def test_a_single_row_of_noise_with_heavy_tails_is_no_combination_that_is_wrong(seed):
    y = A + B + 0.5 * np.random.default_rng(seed).standard_t(3, len(A))
    table = {"a": A, "b": B, "y": y, "p": A + B, "part": np.where(UNSEEN | (ROW < 2), "test", "train")}
    table = {name: values[(ROW < 1) | (~UNSEEN & (ROW < 4))] for name, values in table.items()}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert (result.verdict, result.outliers) == ("unclear", ())


@pytest.mark.parametrize("seed", [9, 35])
def test_a_level_that_is_as_noisy_where_seen_does_not_stand_out(seed):
    rng = np.random.default_rng(seed)
    a, b = np.indices((8, 7)).reshape(2, -1).repeat(2, axis=1)
    first, unseen = np.tile([True, False], 56), (rng.random(56) < 0.3).repeat(2)
    y = a + b + np.where(a == 2, 3.0, 0.6) * rng.normal(size=112)
    table = {"a": a, "b": b, "y": y, "p": a + b, "part": np.where(unseen | first, "test", "train")}
    table = {name: values[first | ~unseen] for name, values in table.items()}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.bad_levels == ()


@pytest.mark.parametrize(("off", "verdict"), [(4.0, "partly"), (20.0, "fails")])
def test_nothing_composes_in_part_that_is_clearly_worse_than_one_answer_for_all(off, verdict):
    wrong = UNSEEN & (A % 4 == 0)
    noise = np.random.default_rng(0).normal(size=len(A))
    result = measured(A + B + noise, A + B + off * wrong * (-1.0) ** B)
    assert result.verdict == verdict
    assert "clearly wrong" in result.why
    assert result.why.count("lways giving the same answer is clearly better there") == (verdict == "fails")


@pytest.mark.parametrize("dealt", [True, False])
def test_small_numbers_that_were_dealt_compose_in_part_at_most_where_the_large_ones_are_wrong(dealt):
    rng = np.random.default_rng(9)
    right = np.exp(rng.normal(size=8)[:, None] + rng.normal(size=8))
    said, unseen = right.copy(), (A * 8 + B)[UNSEEN]
    said.flat[np.unique(unseen)] = rng.permutation(right.flat[np.unique(unseen)])
    y = right[A, B] + 0.5 * right.std() * rng.normal(size=len(A))
    result = measured(y, said[A, B] if dealt else right[A, B] + 4 * right.std() * WRONG)
    assert result.verdict == "partly"
    assert ("guessing is not ruled out" in result.why) == dealt
    assert result.sentence().startswith("It composes in part at most: ") == dealt


def overshot(times: float, seed: int) -> MeasureResult:
    """Answers to seven of 36 combinations that are so many times as far from the mean as right ones."""
    rng = np.random.default_rng(seed)
    a, b = np.indices((6, 6)).reshape(2, -1).repeat(16, axis=1)
    right = rng.normal(size=6)[a] + rng.normal(size=6)[b]
    unseen = np.isin(6 * a + b, rng.permutation(36)[:7])
    p = np.where(unseen, right.mean() + times * (right - right.mean()), right)
    table = {"a": a, "b": b, "y": right + 0.5 * rng.normal(size=len(a)), "p": p}
    table["part"] = np.where(unseen | (np.arange(len(a)) % 5 == 0), "test", "train")
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


@pytest.mark.parametrize("seed", [1, 8])
def test_some_that_are_clearly_wrong_rule_composing_out_though_the_mean_of_all_leaves_open_whether_it_fails(seed):
    result = overshot(1.8, seed)
    assert (result.verdict, result.gap.low < 0.05, len(result.outliers) > 0) == ("partly", True, True)
    assert result.sentence().startswith("It composes in part at most: ")
    assert "Whether it fails altogether is open: by mean errors more than half" in result.sentence()
    assert overshot(1.0, seed).verdict in ("composes", "unclear")


@pytest.mark.parametrize("apart", [1.0, 3.0])
def test_many_rows_of_one_combination_are_held_against_seen_ones_beyond_the_noise_of_their_few(apart):
    rng = np.random.default_rng(0)
    cell = np.concatenate([np.arange(81).repeat(4), np.full(400, 40)])
    a, b = np.divmod(cell, 9)
    unseen, truth = (a + 2 * b) % 4 == 0, apart * (rng.normal(size=9)[a] + rng.normal(size=9)[b])
    new = np.arange(len(cell)) % 4 == 0
    table = {"a": a, "b": b, "y": truth + 0.5 * rng.normal(size=len(cell)), "p": truth + (cell == 40)}
    table["part"] = np.where(unseen | new, "test", "train")
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.verdict == "partly"
    assert "1 of 23 unseen combinations is clearly wrong and the others are not shown to be: a = 4, b = 4" in result.why
