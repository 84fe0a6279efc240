"""What a learner is compared with: rules against brute force, noise by hand, other models and probabilities on the same
rows."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import recombine as rc
from recombine.checks.rules.effects import Effects
from recombine.errors import InputError
from recombine.mechanisms import Answers, Trained, measure_predictions
from recombine.mechanisms.answers.names import ranged
from recombine.mechanisms.compared.baselines import ADDING, CONSTANT, PAIRS, baselines, too_large
from recombine.mechanisms.compared.comparing import Compared, missed_by_others, noise
from recombine.mechanisms.verdicts.verdict_words import beyond
from recombine.space import FactorSpace
from recombine.statistics import Interval, Over, over_combinations
from recombine.statistics.shares import share_ends


def table_of(shape, seen, y, within=None, counts=None, classes=None):
    """Answers of a learner that says nothing, over a whole grid."""
    space = FactorSpace.of(**{f"f{i}": n for i, n in enumerate(shape)})
    codes = space.grid()
    target = np.eye(len(classes))[y] if classes else np.asarray(y, dtype=float)[:, None]
    trained = Trained(codes[seen], target[seen], np.ones(int(seen.sum())))
    n = np.ones(len(codes), dtype=np.int64) if counts is None else counts
    said = np.zeros((1, *target.shape))
    return Answers(space, codes, seen, n, np.zeros((1, len(codes))), said, target, trained, classes, within=within)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_adding_up_is_exact_where_answers_add_up_and_pairs_where_they_are_made_of_pairs(seed):
    rng = np.random.default_rng(seed)
    a, b, c = FactorSpace.of(a=3, b=4, c=3).grid().T
    singles = rng.normal(size=3)[a] + rng.normal(size=4)[b] + rng.normal(size=3)[c]
    pairs = singles + rng.normal(size=(3, 4))[a, b] + rng.normal(size=(4, 3))[b, c] + rng.normal(size=(3, 3))[a, c]
    seen = np.ones(36, dtype=bool)
    seen[rng.choice(36, 2, replace=False)] = False
    added = {r.name: r for r in baselines(table_of((3, 4, 3), seen, singles))}
    np.testing.assert_allclose(added[ADDING].answers[:, 0], singles, atol=1e-3)
    both = {r.name: r for r in baselines(table_of((3, 4, 3), seen, pairs))}
    np.testing.assert_allclose(both[PAIRS].answers[:, 0], pairs, atol=1e-3)
    np.testing.assert_allclose(both[CONSTANT].answers[:, 0], pairs[seen].mean())


@pytest.mark.parametrize("shape", [(30, 25, 3), (60, 40, 3)])
def test_pairs_of_large_tables_are_fitted_to_all_of_them(shape):
    rng = np.random.default_rng(0)
    a, b, c = FactorSpace.of(a=shape[0], b=shape[1], c=3).grid().T
    y = rng.normal(size=shape[0])[a] + rng.normal(size=3)[c] + rng.normal(size=shape[:2])[a, b]
    seen = rng.random(len(y)) < 0.8
    asked = ~seen & (np.bincount(a * shape[1] + b, seen)[a * shape[1] + b] > 0)
    found = {r.name: r for r in baselines(table_of(shape, seen, y))}
    left = {name: np.square(found[name].answers[asked, 0] - y[asked]).mean() for name in (ADDING, PAIRS)}
    assert left[PAIRS] < 0.01 < 0.5 < left[ADDING]


def test_pairs_that_are_too_many_to_fit_are_left_out_and_that_is_said():
    rng = np.random.default_rng(0)
    codes = np.unique(rng.integers(150, size=(3_000, 3)), axis=0)
    space = FactorSpace.of(a=150, b=150, c=150)
    seen, y = rng.random(len(codes)) < 0.8, rng.normal(size=(len(codes), 1))
    trained = Trained(codes[seen], y[seen], np.ones(int(seen.sum())))
    ones, none = np.ones(len(codes), dtype=np.int64), np.zeros((1, len(codes)))
    answers = Answers(space, codes, seen, ones, none, none[..., None], y, trained, None)
    assert [r.name for r in baselines(answers)] == [CONSTANT, ADDING]
    assert "pairs of levels" in too_large(answers)
    assert "adding up" not in too_large(answers)
    assert not too_large(table_of((3, 4, 3), np.ones(36, dtype=bool), rng.normal(size=36)))


def test_a_rule_is_judged_at_each_training_combination_without_it():
    rng = np.random.default_rng(0)
    y = rng.dirichlet(np.ones(3), size=12)
    weights = rng.integers(1, 9, size=12).astype(float)
    answers = table_of((3, 4), np.ones(12, dtype=bool), np.zeros(12, dtype=int), classes=("p", "q", "r"))
    trained = Trained(answers.codes, y, weights)
    rule = next(r for r in baselines(Answers(**{**answers.__dict__, "trained": trained})) if r.name == ADDING)
    fit = Effects(answers.codes, (3, 4), y, 1 / weights, 1)
    for i in range(12):
        keep = np.arange(12) != i
        x, own = fit.dense[keep], fit.sigma2 * fit.noise[keep, None]
        beta = np.linalg.solve(x.T @ (x / own) + np.diag(fit.precision()), x.T @ (y[keep] / own))
        np.testing.assert_allclose(rule.left_out[i], fit.dense[i] @ beta, atol=1e-6)


def test_noise_is_the_variance_within_combinations_or_how_often_the_other_rows_say_something_else():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(20, 30))
    counts = np.full(20, 30)
    numbers = table_of((4, 5), np.ones(20, dtype=bool), rows.mean(1), within=rows.var(1), counts=counts)
    assert noise(numbers)[0].mean == pytest.approx(rows.var(axis=1, ddof=1).mean())
    answers = table_of((4, 5), np.ones(20, dtype=bool), np.zeros(20, dtype=int), counts=counts, classes=("x", "y"))
    assert noise(answers)[0].mean == 0
    share = np.tile([0.8, 0.2], (20, 1))
    flipped = Answers(**{**answers.__dict__, "target": share})
    assert noise(flipped)[0].mean == pytest.approx(0.2)
    known, constant = noise(flipped, {CONSTANT: np.full(20, 0.3), ADDING: np.full(20, 0.15)})
    assert (known.mean, constant) == (pytest.approx(0.15), pytest.approx(0.3))  # The best is no worse than a rule.
    single = table_of((4, 5), np.ones(20, dtype=bool), rows.mean(1), within=np.zeros(20))
    assert math.isnan(noise(single)[0].mean)


def test_noise_of_classes_is_what_two_thirds_of_the_rows_miss_of_the_others():
    for own, more in (((5, 3, 1), (0, 0, 0)), ((2, 1, 0), (2, 4, 0)), ((1, 1, 0), (0, 0, 0)), ((3, 3, 0), (0, 0, 0))):
        rows = [(k, mine) for k in range(3) for mine in [True] * own[k] + [False] * more[k]]
        missed = [
            1 - tops.count(k) / len(tops)
            for drawn in itertools.combinations(range(len(rows)), round(2 * len(rows) / 3))
            for counts in [[sum(rows[i][0] == c for i in drawn) for c in range(3)]]
            for tops in [[c for c in range(3) if counts[c] == max(counts)]]
            for i, (k, mine) in enumerate(rows)
            if mine and i not in drawn
        ]
        found = missed_by_others(np.array([own], float), np.array([more], float))
        assert found[0] == pytest.approx(np.mean(missed), abs=0.06), (own, more)
    pure, clear = missed_by_others(np.array([[4.0, 0.0], [27.0, 3.0]]), np.zeros((2, 2)))
    assert (pure, clear) == (0.0, pytest.approx(0.1))


def test_the_best_answers_to_noisy_classes_are_not_found_wanting():
    """One of two classes with a probability of its own per combination, answered with the likelier: few new rows of
    seen combinations must not look noisier than many of unseen ones."""
    beyond, verdicts = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        own = 1 / (1 + np.exp(-(rng.normal(0, 1.5, 6)[:, None] + rng.normal(0, 1.5, 6))))
        a, b = np.indices((6, 6)).reshape(2, -1).repeat(30, axis=1)
        y, p = rng.random(len(a)) < own[a, b], own[a, b] > 0.5
        seen = (a * b + a + b) % 3 != 1
        part = np.where(seen & (np.tile(np.arange(30), 36) < 24), "train", "test")
        table = {"a": a, "b": b, "y": y.astype(int), "p": p.astype(int), "part": part}
        found = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
        verdicts.append(found.verdict)
        beyond.append(found.gap.mean)
    assert set(verdicts) <= {"composes", "unclear"}
    assert verdicts.count("composes") >= 6
    assert abs(np.mean(beyond)) < 0.015


def test_more_wrong_combinations_lower_no_end_and_leave_no_less_than_an_exact_share():
    for n in (2, 4, 6, 9, 16, 36):
        wrong = np.arange(n)[None, :] < np.arange(n + 1)[:, None]
        found = [Over(1).mean(each[None].astype(float), ranges=[(0, 1)]).within(0, 1) for each in wrong]
        ends = np.array([(f.low, f.high) for f in found[1:-1]])  # Where all are alike, there is none.
        assert (np.diff(ends, axis=0) >= -1e-12).all()
        exact = np.array([share_ends(k, n) for k in range(1, n)])
        assert (ends[:, 0] >= exact[:, 0] - 1e-12).all()
        assert (ends[:, 1] <= exact[:, 1] + 1e-12).all()
    rng = np.random.default_rng(0)
    for least, kind in ((0.95, lambda n: rng.random(n) < 0.2), (0.92, lambda n: rng.beta(0.3, 1.2, n))):
        drawn = [Over(1).mean(kind((1, 9)).astype(float), ranges=[(0, 1)]) for _ in range(400)]
        assert np.mean([f.low <= 0.2 <= f.high for f in drawn if f.high > f.low]) >= least


def test_means_over_combinations_are_those_of_any_statistic():
    rng = np.random.default_rng(2)
    for size in (10, 60):
        values = rng.normal(size=(1, size))
        quick = Over(1).mean(values, -values[:, ::2])
        slow = over_combinations(lambda a, b, v=values: v[:, a].mean(1) - v[:, ::2][:, b].mean(1), [size, size // 2])
        assert quick.mean == pytest.approx(slow.mean)
        assert quick.high - quick.low == pytest.approx(slow.high - slow.low, rel=0.15)
    members = rng.normal(size=(5, 1)) + np.zeros((1, 40))
    assert Over(5).mean(members).whom == "5 members × 40 combinations"
    assert Over(5).mean(members[:, :3]).whom == "5 members"


@pytest.mark.parametrize("times", [1, 3], ids=["no gap", "a gap"])
@pytest.mark.parametrize("kind", ["even", "squared normal", "log-normal", "absolute t"])
def test_the_interval_of_a_gap_covers_it_where_errors_are_skewed(kind, times):
    rng = np.random.default_rng(0)
    draw = {
        "even": lambda n: 1 + 0.3 * rng.normal(size=n),
        "squared normal": lambda n: rng.normal(size=n) ** 2,
        "log-normal": lambda n: rng.lognormal(size=n) / np.exp(0.5),
        "absolute t": lambda n: np.abs(rng.standard_t(3, size=n)) * np.pi / np.sqrt(12),
    }[kind]
    found = [Over(1).mean(times * draw((2, 1, 24)).mean(0), -draw((2, 1, 60)).mean(0)) for _ in range(300)]
    assert 0.9 <= np.mean([gap.low <= times - 1 <= gap.high for gap in found]) <= 0.98


GRID = np.indices((6, 7)).reshape(2, -1).repeat(5, axis=1)
A, B = GRID
PART = np.where((A + 2 * B) % 5 == 0, "test", np.where(np.tile(np.arange(5), 42) == 4, "test", "train"))


def test_an_always_same_answer_is_no_fit_and_a_better_model_than_adding_up_does_not_fail():
    rng = np.random.default_rng(0)
    fraud = (rng.random(len(A)) < 0.03).astype(int)
    table = {"a": A, "b": B, "y": fraud, "p": np.zeros(len(A), dtype=int), "part": PART}
    never = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert never.verdict == "not fitted"
    assert "always giving the same answer costs" in never.sentence()
    y = rng.normal(size=6)[A] + rng.normal(size=(6, 7))[A, B]
    p = y + np.where(PART == "test", 0.3, 0.05) * rng.normal(size=len(y))
    found = measure_predictions({"a": A, "b": B, "y": y, "p": p, "part": PART}, ["a", "b"], target="y",
                                prediction="p", split="part=test")  # fmt: skip
    assert found.verdict in ("composes", "partly")
    adding = next(c for c in found.comparison.others if c.name == ADDING)
    assert adding.difference.high < 0
    assert found.scores()["unseen"]["r2"] > 0.8
    assert found.scores()["unseen"]["rmse"] == pytest.approx(np.sqrt(np.square(p - y)[(A + 2 * B) % 5 == 0].mean()))


def judged(y, p, fitted=0.1, part=PART):
    table = {"a": A, "b": B, "y": y, "p": p, "part": part}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test", fitted=fitted)


def test_what_keeps_a_learner_from_counting_as_fitted_is_what_is_said():
    rng = np.random.default_rng(0)
    words = np.array(["cat", "dog", "owl"])
    noise = words[rng.integers(3, size=len(A))]
    nothing = judged(noise, words[rng.integers(3, size=len(A))])
    floor, constant = nothing.comparison.floor, nothing.comparison.floor_constant
    assert nothing.verdict == "not fitted"
    assert floor.mean <= constant  # Of four or five rows of one combination most do not tell the next.
    said = f"the noise is an error of {ranged(floor)}, where always giving the same answer costs {constant:.2f}"
    assert f"hardly anything to learn: {said}" in nothing.why
    rare = judged(np.where(rng.random(len(A)) < 0.06, "fraud", "fine"), np.full(len(A), "fine"))
    assert "to learn: the noise is" in rare.why
    usual = max(words, key=list(noise[PART == "train"]).count)
    little = judged(noise, np.where(np.arange(len(A)) < 15, noise, usual))  # Better than always the same, not clearly.
    assert little.training.mean < little.comparison.trained_constant
    assert "not clearly less than the" in little.why
    mostly = A + B + 0.1 * rng.normal(size=len(A))
    blurred = mostly + 1.2 * rng.normal(size=len(A))  # learnt something, but less than it may
    found = judged(mostly, blurred)
    error, floor = found.training.mean, found.comparison.floor
    assert found.why == f"its error there is {error:.2f}, more than 0.1 above the noise of {ranged(floor)}"
    assert judged(mostly, blurred, 0.5).fits
    flat = judged(mostly, np.full(len(A), mostly[PART == "train"].mean()))
    assert flat.why == f"its error there is {flat.training.mean:.2f}, where always giving the same answer costs 1.00"
    for result, then in ((nothing, "Next"), (found, "Next"), (flat, "It says the same everywhere: every row gets")):
        assert f"does not count as fitted: {result.why}. {then}" in result.sentence()


def test_the_gap_follows_from_the_errors_and_the_noise_beside_them():
    rng = np.random.default_rng(0)
    unseen = (A + 2 * B) % 5 == 0
    y = A + B + np.where(unseen, 1.4, 1.0) * rng.normal(size=len(A))  # noisier where it is unseen
    part = np.where(unseen | (np.tile(np.arange(5), 42) > 2), "test", "train")
    found = judged(y, A + B, part=part)
    seen, unseen = found.noise
    assert unseen > seen > 0
    assert found.gap.mean == pytest.approx((found.unseen.mean - unseen) - (found.seen.mean - seen))
    assert f"of which {unseen:.2f} and {seen:.2f} are noise: beyond it, a gap" in beyond(found, "a gap")
    assert found.to_dict()["noise"] == {"seen": seen, "unseen": unseen}


def test_answers_as_good_as_the_noise_allows_do_not_fail_however_errors_on_seen_combinations_vary():
    rng = np.random.default_rng(3)
    unseen = (A + 2 * B) % 5 == 0
    y = 3.0 * A + B + 0.8 * rng.normal(size=len(A))
    y[np.flatnonzero((PART == "test") & ~unseen)[:1]] += 30  # One new row of a seen combination is far off.
    found = judged(y, 3.0 * A + B)
    assert found.gap.mean < 0 < 0.05 < found.gap.high
    assert (found.verdict, found.why) == ("composes", "as well as the noise allows")
    assert found.sentence().startswith("It answers unseen combinations as well as the noise allows: error 0.0")
    assert "<h1>It answers unseen combinations as well as the noise allows</h1>" in found._repr_html_()
    worse = judged(y, 3.0 * A + B + 1.5 * np.where(unseen, np.where(A % 2, 1, -1), 0))
    assert worse.verdict == "unclear"


def test_noise_is_taken_off_the_errors_of_no_one_who_is_told_more_than_the_factors():
    rng = np.random.default_rng(0)
    y = A + 0.5 * B + np.where((A + 2 * B) % 5 == 0, 1.0, 5.0) * rng.normal(size=len(A))  # noisier where it is seen
    table = {"a": A, "b": B, "y": y, "p": y + 0.2 * rng.normal(size=len(y)), "part": PART}
    found = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert found.comparison.floor.mean > 10 * found.unseen.mean
    assert found.verdict == "composes"
    assert found.gap.mean == pytest.approx(found.unseen.mean - found.seen.mean, abs=1e-3)
    assert "beyond the noise" not in found.sentence()


@pytest.mark.parametrize(("names", "column", "meant"), [((1, 2), "p", "2"), ((-1, 1), "p", "1"), (("no", "yes"), "p",
                         "yes"), (("no", "yes"), "p_no", "no"), ((False, True), "p", "true")])  # fmt: skip
def test_a_lone_column_of_chances_is_that_of_one_of_two_classes(names, column, meant):
    rng = np.random.default_rng(0)
    chance = np.where((A + B) % 2, 0.8, 0.1)
    y = (rng.random(len(A)) < chance).astype(int)
    plain = {"a": A, "b": B, "part": PART, "y": y, "p": chance}
    said = 1 - chance if column == "p_no" else chance
    named = {**plain, "y": np.array(names)[y], column: said}
    first, second = (
        measure_predictions(t, ["a", "b"], target="y", prediction=c, split="part=test")
        for t, c in ((plain, "p"), (named, column))
    )
    assert any(f"taken as chances of {meant!r}" in note for note in second.notes)
    assert (first.verdict, first.unseen, first.gap) == (second.verdict, second.unseen, second.gap)
    assert first.scores()["unseen"]["log loss"] == pytest.approx(second.scores()["unseen"]["log loss"])


def test_answers_that_are_all_alike_or_copied_or_nobodys_are_said():
    rng = np.random.default_rng(0)
    table = {"a": A, "b": B, "part": PART, "y": np.full(len(A), "ash"), "p": np.full(len(A), "ash ")}
    options = {"target": "y", "prediction": "p", "split": "part=test"}
    with pytest.raises(InputError, match="every answer in 'y' is 'ash'"):
        measure_predictions(table, ["a", "b"], **options)
    table |= {"y": np.array(["ash", "oak"])[A % 2], "p": np.array(["ash ", "oak"])[A % 2]}
    right = measure_predictions(table, ["a", "b"], **options)
    assert (right.unseen.mean, right.notes) == (0, ())
    odd = measure_predictions({**table, "p": np.where(B == 0, "elm", table["y"])}, ["a", "b"], **options)
    assert any("no row of the table has ('elm')" in note for note in odd.notes)
    y = A + B + rng.normal(size=len(A))
    for said, copied in ((y, True), (A + B, False), (y + 1e-9, False)):
        result = measure_predictions({**table, "y": y, "p": said}, ["a", "b"], **options)
        assert ("may have been made from 'y'" in result.sentence()) == copied
        assert result.verdict == "unclear" or not copied
    with pytest.raises(InputError, match="noise is 100, but answers vary by no more than"):
        measure_predictions({**table, "y": y, "p": y}, ["a", "b"], noise=100, **options)
    for own in ({"a": [1], "p": [2.0]}, pl.DataFrame({"a": [1], "p": [2.0]}), "predictions.csv"):
        with pytest.raises(InputError, match="at hand ask measure_predictions"):
            rc.measure(own, prediction="p")
    with pytest.raises(InputError, match="say what the model is asked"):
        rc.measure(lambda x: x)
    exact = measure_predictions({**table, "y": 0.1234 * (A + B), "p": 0.1234 * (A + B)}, ["a", "b"], **options)
    assert exact.verdict == "composes"
    assert "made from" not in exact.sentence()


def test_what_a_few_large_errors_hide_from_the_mean_is_said_combination_by_combination():
    sides = [(8, 1, "better on 8 of 9 combinations"), (0, 6, "worse on 6 of 6 combinations"), (7, 2, ""), (0, 0, "")]
    for less, more, said in sides:
        assert Compared("another", Interval(0.1), Interval(0, -1, 1), 0.1, sides=(less, more)).mostly == said


def test_two_models_are_compared_on_the_same_rows():
    rng = np.random.default_rng(3)
    y = A + 0.5 * B
    table = {"a": A, "b": B, "y": y, "good": y + 0.1 * rng.normal(size=len(y)), "poor": y + rng.normal(size=len(y)),
             "part": PART}  # fmt: skip
    found = measure_predictions(table, ["a", "b"], target="y", prediction="good", against="poor", split="part=test")
    other = next(c for c in found.comparison.others if not c.rule)
    assert other.name == "poor"
    assert other.difference.high < 0
    back = measure_predictions(table, ["a", "b"], target="y", prediction="poor", against="good", split="part=test")
    assert back.unseen == other.error  # The error that its own table has, and its interval.
    assert back.verdict == other.verdict
    assert json.loads(back.to_json())["others"][-1]["name"] == "good"
    holes = {**table, "poor": [None, *table["poor"][1:]]}
    with pytest.raises(InputError, match="compare them on the same rows"):
        measure_predictions(holes, ["a", "b"], target="y", prediction="good", against="poor", split="part=test",
                            missing="drop")  # fmt: skip


def test_probabilities_are_classes_with_a_log_loss():
    p = np.clip(0.5 + 0.3 * np.where(A % 2, 1, -1), 0.01, 0.99)
    table = pl.DataFrame({"a": A, "b": B, "y": A % 2, "p": p, "part": PART})
    found = measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")
    assert found.answers.kind == "class"
    assert found.unseen.mean == 0
    assert found.scores()["unseen"]["log loss"] == pytest.approx(-math.log(0.8))
    kinds = np.array(["cat", "dog", "owl"])[A % 3]
    shares = {f"p_{k}": np.where(kinds == k, 0.6, 0.2) for k in ("cat", "dog", "owl")}
    several = pl.DataFrame({"a": A, "b": B, "y": kinds, **shares, "p": p, "part": PART})
    found = measure_predictions(several, ["a", "b"], target="y", prediction=list(shares), split="part=test")
    assert found.unseen.mean == 0
    assert found.scores()["seen"]["log loss"] == pytest.approx(-math.log(0.6))
    with pytest.raises(InputError, match=r"none is for 'owl' \(zeros, if"):
        measure_predictions(several, ["a", "b"], target="y", prediction=["p_cat", "p_dog"], split="part=test")
    with pytest.raises(InputError, match="called like none of the classes"):
        measure_predictions(several, ["a", "b"], target="y", prediction=["p_cat", "p"], split="part=test")


class Guess:
    """A classifier of 0 and 1 by hand."""

    classes_ = np.array([0, 1])

    def predict_proba(self, rows):
        one = np.where(np.asarray(rows)[:, 0] % 2, 0.9, 0.1)
        return np.stack([1 - one, one], axis=1)

    def predict(self, rows):
        return (self.predict_proba(rows)[:, 1] > 0.5).astype(int)


class Number:
    """A regressor by hand."""

    def predict(self, rows):
        return np.asarray(rows, dtype=float) @ [1.0, 0.5]


def test_an_estimator_is_asked_about_a_table():
    table = pl.DataFrame({"a": A, "b": B, "y": A % 2, "z": A + 0.5 * B, "part": PART})
    found = rc.measure(Guess(), table, factors=["a", "b"], target="y", inputs=["a", "b"], split="part=test")
    assert found.unseen.mean == 0
    assert found.scores()["unseen"]["log loss"] == pytest.approx(-math.log(0.9))
    number = rc.measure(Number(), table, factors=["a", "b"], target="z", inputs=["a", "b"], split="part=test",
                        against={"half": Guess()})  # fmt: skip
    assert number.verdict == "composes"
    assert number.comparison.others[-1].name == "half"
    with pytest.raises(InputError, match=r"inputs=\[…\]"):
        rc.measure(Number(), table, factors=["a"], target="z", split="part=test")
    with pytest.raises(InputError, match="say which columns are factors"):
        rc.measure(Number(), table)
    with pytest.raises(InputError, match="is no task"):
        rc.measure(lambda x: x, table)


def test_scikit_learn_is_asked_about_frames_it_was_fitted_on():
    pandas = pytest.importorskip("pandas")
    from sklearn.ensemble import RandomForestRegressor

    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": A, "b": B, "y": A * B + rng.normal(size=len(A)), "part": PART})
    train = frame[frame.part == "train"]
    forest = RandomForestRegressor(30, random_state=0).fit(train[["a", "b"]], train.y)
    found = rc.measure(forest, frame, factors=["a", "b"], target="y", split="part=test")
    said = forest.predict(frame[["a", "b"]])
    unseen = (A + 2 * B) % 5 == 0
    assert found.scores()["unseen"]["rmse"] == pytest.approx(np.sqrt(np.square(said - frame.y)[unseen].mean()))


def pipeline(rows: pl.DataFrame, target: str, names: list[str]) -> object:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    return make_pipeline(OneHotEncoder(), LogisticRegression()).fit(rows[names], rows[target])


def test_probabilities_of_text_classes_are_judged_too():
    kinds = np.array(["low", "middle", "high"])[A % 3]
    table = pl.DataFrame({"a": A, "b": B, "kind": kinds, "part": PART}).with_columns(pl.col("a", "b").cast(pl.String))
    model = pipeline(table.filter(part="train"), "kind", ["a", "b"])
    found = rc.measure(model, table, factors=["a", "b"], target="kind", split="part=test")
    right = model.predict_proba(table[["a", "b"]])[np.arange(len(A)), np.searchsorted(model.classes_, kinds)]
    unseen = (A + 2 * B) % 5 == 0
    assert found.scores()["unseen"]["log loss"] == pytest.approx(-np.log(right[unseen]).mean())


def test_an_estimator_fitted_on_other_columns_says_which():
    table = pl.DataFrame({"a": A, "b": B, "y": A % 2, "part": PART}).with_columns(pl.col("a", "b").cast(pl.String))
    model = pipeline(table.filter(part="train"), "y", ["a", "b"])
    with pytest.raises(InputError, match=r"was fitted on 'b', which the table does not have .*fit a pipeline"):
        rc.measure(model, table.rename({"b": "c"}), factors=["a", "c"], target="y", split="part=test")


def test_numbers_of_a_file_are_numbers_to_an_estimator(tmp_path):
    from sklearn.linear_model import LinearRegression

    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": A, "b": B, "x": rng.normal(size=len(A)), "part": PART})
    table = table.with_columns(y=pl.col("x") * 2 + pl.col("a"))
    rows = table.filter(part="train")
    model = LinearRegression().fit(rows[["a", "b", "x"]], rows["y"])
    table.write_csv(tmp_path / "table.csv")
    found = rc.measure(model, tmp_path / "table.csv", factors=["a", "b"], target="y", split="part=test")
    assert found.unseen.mean == pytest.approx(0, abs=1e-9)


@pytest.mark.filterwarnings("error:X has feature names")
def test_scikit_learn_is_asked_about_arrays_where_it_was_fitted_without_names():
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    table = pl.DataFrame({"a": A, "b": B, "y": A + 0.5 * B, "part": PART})
    line = make_pipeline(StandardScaler(), LinearRegression()).fit(table.select("a", "b").to_numpy(), table["y"])
    found = rc.measure(line, table, factors=["a", "b"], target="y", inputs=["a", "b"], split="part=test")
    assert found.unseen.mean == pytest.approx(0, abs=1e-12)


def test_the_noise_of_classes_is_that_of_the_answers_whoever_answers():
    rng = np.random.default_rng(0)
    a, b = np.indices((6, 6)).reshape(2, -1).repeat(12, axis=1)
    right = (a + b) % 3
    table = {"a": a, "b": b, "y": np.where(rng.random(len(a)) < 0.25, (right + 1) % 3, right)}
    table |= {"best": right, "worse": np.where(a == 0, 0, right)}
    table |= {"part": np.where(((a - b) % 6 == 2) | (np.arange(len(a)) % 4 == 0), "test", "train")}
    options = {"target": "y", "split": "part=test", "target_kind": "class"}
    best, worse = (measure_predictions(table, ["a", "b"], prediction=p, **options) for p in ("best", "worse"))
    assert worse.unseen.mean > best.unseen.mean
    assert min(best.noise) > 0
    assert worse.noise == best.noise
