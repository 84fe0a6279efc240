"""What a verdict is said to rest on is what it rests on: the sentence against the numbers that are printed with it."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.mechanisms import MeasureResult, measure_predictions
from recombine.mechanisms.compared.comparing import average
from recombine.statistics import Over

A, B = np.indices((6, 7)).reshape(2, -1).repeat(4, axis=1)
UNSEEN = (A + 2 * B) % 5 == 0
ACROSS = "the gap reaches across the margin of 0.05"


def measured(y: object, p: object) -> MeasureResult:
    table = {"a": A, "b": B, "y": y, "p": p, "part": np.where(UNSEEN, "test", "train")}
    return measure_predictions(table, ["a", "b"], target="y", prediction="p", split="part=test")


@pytest.fixture(scope="module")
def copiers() -> list[MeasureResult]:
    """Learners of noise that know the mean of every seen combination, and copy that of a neighbour elsewhere."""
    found = []
    for seed in range(12):
        y = np.random.default_rng(seed).normal(size=len(A)) + 0.5 * A
        mean = {(a, b): y[(a == A) & (b == B)].mean() for a, b in zip(A, B, strict=True)}
        p = [mean[a, (b + u) % 7] for a, b, u in zip(A, B, UNSEEN, strict=True)]
        found.append(measured(y, p))
    return found


def test_unclear_names_the_margin_only_where_the_gap_reaches_across_it(copiers):
    unclear = [r for r in copiers if r.verdict == "unclear"]
    assert all((r.why == ACROSS) <= (r.gap.low <= 0.05 < r.gap.high) for r in unclear)
    clear = [r for r in unclear if r.gap.low > 0.05]
    assert clear
    for result in clear:
        assert result.seen.mean < result.comparison.floor.mean
        assert "hold some of their rows out of training" in result.sentence()


def test_on_training_rows_nothing_fails_whose_gap_may_be_none():
    value = np.random.default_rng(0).normal(size=(6, 7))
    value[0, 0] = 12.0  # One unseen combination is far off.
    other = np.where(((A + 1) % 6 + 2 * B) % 5 == 0, (A + 2) % 6, (A + 1) % 6)
    result = measured(value[A, B], np.where(UNSEEN, value[other, B], value[A, B]))
    assert result.gap.low <= 0 < 0.05 < result.gap.mean
    assert any(e.speaks for e in result.evidence)
    assert (result.verdict, result.why.startswith(ACROSS)) == ("unclear", True)


def test_noise_of_classes_is_no_more_than_what_is_reached_on_the_same_rows():
    words, few = np.array(["high", "low", "mid"]), []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        chance = rng.dirichlet(np.ones(3), size=6)[A]
        y = words[(rng.random(len(A))[:, None] > chance.cumsum(axis=1)).sum(axis=1)]
        result = measured(y, words[chance.argmax(axis=1)])
        reached = [result.unseen.mean, *(c.error.mean for c in result.comparison.others)]
        assert result.noise[1] <= min(reached) + 1e-12
        few += [why for why in result.left_out.values() if "to tell it from chance" in why]
    assert few
    assert all("unseen combinations it gives an answer that few or no examples there have" in why for why in few)


def test_a_bound_that_is_rounding_is_zero():
    answers = measured(A + 0.1 * B, A + 0.1 * B).answers
    found = average(answers, Over(1, 0), (1.0, np.full((1, len(answers.codes)), -7.6e-18), answers.unseen))
    assert (found.low, found.high) == (0.0, 0.0)
