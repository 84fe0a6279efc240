"""What is said of a learner is no stronger than its rows: copies, leaks, new levels, overfitting, training rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from everything_said import everything

from recombine.errors import InputError
from recombine.mechanisms import measure_predictions
from recombine.mechanisms.answers.names import ranged, told_apart
from recombine.mechanisms.verdicts.verdict_words import beyond
from recombine.reporting.measured import error_rows, measured_page
from recombine.statistics import Interval

A, B = np.indices((7, 7)).reshape(2, -1).repeat(6, axis=1)
UNSEEN = (A + 2 * B) % 5 == 0
FRESH = ~UNSEEN & (np.tile(np.arange(6), 49) == 0)
KNOWN = ~UNSEEN & ~FRESH
ONE, TWO = np.random.default_rng(0).normal(size=(2, 7))
SUM = ONE[A] + TWO[B]
NOISE = np.random.default_rng(1).normal(size=len(A))


def frame(y, **predictions):
    part = np.where(UNSEEN | FRESH, "test", "train")
    return pl.DataFrame({"a": A, "b": B, "y": y, "part": part, **predictions})


def measured(y, p, split="part=test", **more):
    return measure_predictions(frame(y, p=p), ["a", "b"], target="y", prediction="p", split=split, **more)


def test_single_rows_that_are_repeated_are_copies_and_near_misses_are_none():
    y = SUM + 0.5 * NOISE
    pairs = zip(A, B, UNSEEN, strict=True)
    first = [np.flatnonzero(KNOWN & (a == A) & (u | (b == B)))[0] for a, b, u in pairs]
    result = measured(y, y[first])
    assert (result.verdict, result.mechanisms) == ("fails", ("memorization: a copied answer",))
    assert "a training row's own, to 6 digits: 1.00" in result.sentence()
    assert measured(y, y[first] + 0.01 * NOISE).mechanisms == ()
    whole = np.round(2 * y)  # Numbers that recur are no sign of a copy.
    assert all(e.id != "copy of a row" for e in measured(whole, whole[first]).evidence)


def test_a_copied_row_alone_convicts_nobody():
    y = SUM + 0.5 * NOISE
    near = [np.flatnonzero(KNOWN & (np.arange(len(A)) != i))[np.abs(SUM - s)[KNOWN & (np.arange(len(A)) != i)].argmin()]
            for i, s in enumerate(SUM)]  # fmt: skip
    at = ~FRESH
    result = measure_predictions(frame(y, p=np.where(KNOWN, y, y[near])).filter(at), ["a", "b"], target="y",
                                 prediction="p", split="part=test")  # fmt: skip
    assert result.verdict == "unclear"


@pytest.mark.parametrize(
    ("kept", "why"),
    [("all", ""), ("all but a little", ""), ("sum", "less of what does not add up"), ("low", "besides a shift")],
)
def test_a_leak_makes_all_of_an_answer_smaller(kept, why):
    rest = 2 * (ONE[A] - ONE.mean()) * (TWO[B] - TWO.mean())
    y = SUM + rest
    off = 0.1 * y.std() * np.random.default_rng(2).normal(size=(7, 7))[A, B]
    p = {"all": 0.4 * y, "all but a little": 0.4 * y + off, "sum": SUM + 0.1 * rest, "low": 0.8 * y - 3}
    result = measured(y, np.where(UNSEEN, p[kept], y))
    leak = next(e for e in result.evidence if e.id == "leak")
    assert leak.named == (not why)
    assert (why in leak.why) or not leak.value.high < 0.95
    if kept == "all but a little":
        assert 0.2 < leak.explained.low < leak.explains < 0.95
        assert f"explains {ranged(leak.explained)} of the error" in result.sentence()
    assert (kept == "low") == ("nswers to unseen combinations are too low by" in everything(result))


def test_a_leak_of_a_corner_is_a_leak_and_no_shift():
    corner = (A > 3) & (B > 3)
    seen_mean = (A + B)[~corner & ~FRESH].mean()
    p = np.where(corner, seen_mean + 0.5 * (A + B - seen_mean), A + B)
    table = {"a": A, "b": B, "y": A + B + 0.1 * NOISE, "p": p, "part": np.where(corner | FRESH, "test", "train")}
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.mechanisms == ("memorization leak",)


def test_a_few_rows_that_are_labelled_amiss_hide_no_shortcut():
    right = np.where(A < 4, B, (A + B) % 7)
    amiss = np.where(UNSEEN & (np.arange(len(A)) % 6 == 0), B, right)
    for p, named in ((B, ("shortcut by b",)), (right, ())):
        assert measured(amiss, np.where(UNSEEN, p, right), target_kind="class").mechanisms == named


def test_a_gap_of_noisy_classes_has_a_width_and_few_rows_are_told():
    words = np.array(["x", "y", "z"])
    p, place = (A + B) % 3, np.tile(np.arange(6), 49)
    exact = measured(words[p], words[p])
    assert exact.unseen.high == pytest.approx(1 - 0.05 ** (6 / UNSEEN.sum()))
    table = frame(words[np.where(place == 1, (p + 1) % 3, p)], p=words[p]).with_columns(
        part=pl.Series(np.where(UNSEEN | (place < 3), "test", "train"))  # One row in six is noise, wherever it is.
    )
    noisy = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert noisy.noise[1] == pytest.approx(1 / 6)
    for result in (exact, noisy):
        assert (result.verdict, result.gap.mean) == ("composes", 0.0)
        assert result.gap.low < 0 < result.gap.high
    few = measure_predictions(
        frame(words[p], p=words[p])[5::6], ["a", "b"], target="y", prediction="p", split="part=test"
    )
    assert "as it answers seen ones, as far as 10 of them tell" in few.sentence()


def test_who_overfits_is_said_to_and_no_more():
    rng = np.random.default_rng(4)
    y = SUM + 0.1 * NOISE
    p = y + np.where(KNOWN, 0.01, rng.uniform(0.8, 1.2, size=len(A))) * rng.normal(size=len(A))
    open_ = measured(y, p)
    assert (open_.verdict, open_.gap.high > 0.05) == ("overfits", True)
    assert open_.sentence().startswith("It overfits, and whether it fails on unseen combinations besides is not clear")
    assert "whether it fails on unseen combinations besides is not clear</h1>" in measured_page(open_)
    failing = measured(y, p + 4 * UNSEEN)
    assert failing.verdict == "fails"
    assert "It overfits besides: the error on training rows is" in everything(failing)


def test_a_level_that_is_new_is_the_worst_and_does_not_count_against_others():
    new = (A == 6) | UNSEEN
    p = np.where(A == 6, SUM + 3 + 3 * (B == 0), SUM)
    table = frame(SUM, p=p).with_columns(part=pl.Series(np.where(new | FRESH, "test", "train")))
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert result.worst_level is not None
    assert (result.worst_level["factor"], result.worst_level["level"], result.worst_level["new"]) == ("a", 6, True)
    assert sum(row["new"] for row in result.levels()) == 1


def test_other_models_have_a_verdict_of_their_own():
    table = frame(SUM, p=SUM, zero=0 * SUM)
    result = measure_predictions(table, ["a", "b"], target="y", prediction="p", against="zero", split="part=test")
    assert result.to_dict()["others"][-1]["verdict"] == "not fitted"
    assert "(not fitted)" in result.sentence()


def test_figures_of_page_and_sentence_are_the_same():
    result = measured(SUM + 0.3 * NOISE, SUM + 0.1 * UNSEEN)
    for figure in (result.unseen, result.gap):
        assert ranged(figure) in result.sentence()
        assert ranged(figure) in str(error_rows(result))


@pytest.mark.parametrize(
    ("start", "kind", "said"), [(0, "class", "number"), (1, "class", "number"), (7, "number", "class")]
)
def test_labels_written_as_whole_numbers_are_classes_and_either_way_it_is_said(start, kind, said):
    y = start + (A + B) % 4
    p = np.where(NOISE > 1.5, start + A % 4, y)  # Several answers per combination.
    result = measured(y, p)
    assert result.answers.kind == kind
    assert any(f"--target-kind {said}" in note for note in result.notes)
    assert not any("--target-kind" in note for note in measured(y, p, target_kind="number").notes)
    assert measured(y, np.where(NOISE > 1.5, p + 0.5, p)).answers.kind == "number"


def test_probabilities_on_one_side_are_told():
    y = (NOISE > 1.3).astype(int)
    for right, coded in (
        (y, "; --target-kind"),
        (np.where(y, "yes", "no"), "1 for 'yes' and 0 for 'no', --target-kind"),
    ):
        notes = measured(right, 0.05 + 0.1 * (A > 3), target_kind="class").notes
        assert any("lie on one side of 0.5" in note and coded in note for note in notes)


def test_training_rows_in_a_table_of_predictions_are_no_new_rows():
    y = SUM + 0.3 * NOISE
    whole = frame(y, p=np.where(KNOWN, y, y + NOISE))
    rows = whole.filter(part="train")

    def compared(table, train):
        return measure_predictions(table, ["a", "b"], target="y", prediction="p", train=train)

    assert compared(whole, rows.select("a", "b", "y")).compared_on == "training rows"
    assert compared(whole.filter(part="test"), rows.select("a", "b", "y")).compared_on == "new rows"
    bare = compared(whole, rows.select("a", "b"))
    assert bare.compared_on == "training rows"
    assert "training’s own are not known" in measured_page(bare)


def test_training_rows_that_are_noisier_than_those_asked_about_may_be_fitted():
    y = SUM + np.where(KNOWN, 1.5, 0.1) * NOISE
    assert measured(y, SUM).verdict != "not fitted"


def test_true_probabilities_of_a_rare_event_are_fitted():
    chance = 1 / (1 + np.exp(3 - ONE[A] - TWO[B]))
    y = (np.random.default_rng(3).random(len(A)) < chance).astype(int)
    cut = measured(y, chance, target_kind="class")
    assert (cut.verdict, "--target-kind number judges them" in everything(cut)) == ("unclear", True)
    assert measured(y, chance).verdict == measured(y, chance, target_kind="number").verdict in ("composes", "unclear")
    assert measured(y, 0 * chance + y.mean()).verdict == "not fitted"


def test_a_blank_does_not_say_that_a_row_was_trained_on():
    table = frame(SUM, p=SUM).with_columns(part=pl.when(pl.col("a") == 0).then(pl.lit(" ")).otherwise("part"))
    how = {"target": "y", "prediction": "p", "split": "part=test"}
    with pytest.raises(InputError, match="42 rows have no 'part'"):
        measure_predictions(table, ["a", "b"], **how)
    result = measure_predictions(table, ["a", "b"], missing="drop", **how)
    assert any(note.startswith("42 rows were left out: no 'part'") for note in result.notes)
    assert 0 not in result.to_frame()["a"]


def test_columns_that_the_table_lacks_and_margins_beyond_all_are_refused():
    table = frame(SUM, p=SUM)
    with pytest.raises(InputError, match=r"there are: a, b, y, part, p\.$"):
        measure_predictions(table, ["a", "shape"], target="y", prediction="p", split="part=test")
    with pytest.raises(InputError, match="from 0 to 1"):
        measured(SUM, SUM, margin=5)


def test_the_interval_of_a_difference_is_no_narrower_than_t():
    more = UNSEEN | (A == 6)  # 16 unseen combinations.
    off = np.random.default_rng(5).normal(size=(7, 7))[A, B]
    table = frame(SUM, p=SUM + more * off, q=SUM).with_columns(part=pl.Series(np.where(more | FRESH, "test", "train")))
    found = measure_predictions(table, ["a", "b"], target="y", prediction="p", against="q", split="part=test")
    each = found.answers.error[0, found.answers.unseen]
    apart, error = found.comparison.others[-1].difference, each.std(ddof=1) / len(each) ** 0.5
    assert len(each) == 16
    assert (apart.mean - apart.low) / error == pytest.approx(2.13, rel=0.01)
    assert (apart.high - apart.mean) / error > 2.13  # Squared errors are skewed.


def test_no_gap_is_larger_than_what_unseen_combinations_cost_beyond_the_noise():
    y = SUM + 1.2 * np.where(FRESH, 0.55, 1.0) * NOISE  # New rows of seen combinations happen to be near the mean.
    result = measured(y, SUM)
    assert result.seen.mean < result.unseen.mean / 3
    assert result.gap.mean == pytest.approx(0, abs=1e-9)
    assert result.verdict in ("composes", "unclear")


@pytest.mark.parametrize(("size", "kept"), [(40, 0.5), (20, 0.7)])
def test_of_many_levels_less_of_every_answer_is_a_leak_and_no_copy(size, kept):
    rng = np.random.default_rng(140)
    one, two = np.indices((size, size)).reshape(2, -1).repeat(2, axis=1)
    right = rng.normal(size=size)[one] + rng.normal(size=size)[two]
    hidden = (rng.random((size, size)) < 100 / size**2)[one, two]
    table = {"a": one, "b": two, "y": right + rng.normal(0, 0.3, len(right)), "p": right * np.where(hidden, kept, 1)}
    table["part"] = np.where(hidden | (np.arange(len(one)) % 4 == 0), "test", "train")
    found = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert found.mechanisms == ("memorization leak",)


@pytest.mark.parametrize(("kept", "named"), [("shrunk", True), ("shifted", True), ("halved", False), ("true", False)])
def test_answers_that_vary_with_one_factor_alone_are_a_shortcut_whatever_it_gave_in_training(kept, named):
    rng = np.random.default_rng(3)
    one, two = np.indices((9, 9)).reshape(2, -1).repeat(4, axis=1)
    by_one, by_two = rng.normal(size=9)[one], rng.normal(size=9)[two]
    hidden = (one + 2 * two) % 3 == 0
    p = {"shrunk": 0.6 * by_one, "shifted": by_one + 0.8, "halved": by_one + by_two / 2, "true": by_one + 0.8}[kept]
    right = by_one + by_two * (kept != "true")
    table = {"a": one, "b": two, "y": right + 0.1 * rng.normal(size=len(one)), "p": np.where(hidden, p, right)}
    table["part"] = np.where(hidden | (np.arange(len(one)) % 4 == 0), "test", "train")
    found = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert (found.verdict in ("fails", "partly"), found.mechanisms) == (True, ("shortcut by a",) * named)


def unseen_alone(y, p):
    known = frame(y).filter(pl.Series(KNOWN)).drop("part")
    asked = frame(y, p=p).filter(pl.Series(UNSEEN)).drop("part")
    return measure_predictions(asked, ["a", "b"], target="y", prediction="p", train=known)


def test_unseen_rows_alone_say_what_to_add_and_which_shortcut_it_may_be():
    y, p = (np.array(["no", "yes"])[factor % 2] for factor in (A, B))
    y = np.where(UNSEEN, y, np.where(A % 2 == B % 2, y, p))  # In training both factors tell it.
    result = unseen_alone(y, p)
    assert (result.verdict, result.mechanisms) == ("nothing seen", ())
    assert "can be judged: add predictions for training rows or, better, for new rows of seen" in result.sentence()
    assert "Its wrong answers are those of a shortcut by b (" in everything(result)
    assert "or of swapped classes: predictions for training rows would tell which." in everything(result)
    assert "wrong answers are those" not in unseen_alone(y, y).sentence()


@pytest.mark.parametrize("seed", range(2000, 2006))
def test_an_error_that_is_all_noise_is_said_to_be(seed):
    result = measured(SUM + np.random.default_rng(seed).normal(size=len(A)), SUM)
    parts = zip(("unseen", "seen"), result.noise[::-1], (result.unseen.mean, result.seen.mean), strict=True)
    every = [side for side, noise, error in parts if noise == pytest.approx(error)]
    said = {0: ("of which", " are noise"), 1: (f"all on {every[0]}" if every else "",), 2: ("all of it noise",)}
    words = beyond(result, "")
    assert all(part in words for part in said[len(every)])
    told = words.replace("nearly all", "most")
    assert ("all on " in told or "all of it" in told) == bool(every)


def test_two_numbers_that_are_compared_do_not_look_alike():
    assert told_apart(0.1003, 0.1) == ("0.1003", "0.1")
    assert told_apart(0.3, 0.2) == ("0.30", "0.20")
    assert told_apart(0.25, 0.25) == ("0.25", "0.25")


def test_an_end_that_is_nothing_beside_the_rest_is_zero() -> None:
    def said(mean: float, low: float, high: float) -> str:
        return ranged(Interval(mean, low, high))

    assert said(0.021, 9.1e-9, 0.16) == "0.021 [0.00, 0.16]"
    assert said(2e-7, 1e-7, 4e-7) == "2e−07 [1e−07, 4e−07]"
