"""Heavy tails are said where they are, and seldom of normal errors; what is told apart in a combination is no noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recombine import FactorSpace
from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.compared.comparing import unread
from recombine.mechanisms.rivals.tails import heavy_tails
from recombine.statistics import Over

SPACE = FactorSpace.of(a=6, b=10)
SEEN = np.arange(60) % 3 > 0


def answers(error: np.ndarray, **more) -> Answers:
    many = np.ones((60, 1))
    return Answers(SPACE, SPACE.grid(), SEEN, np.full(60, 4), error[None], many[None], many, None, **more)


@pytest.mark.parametrize("rows", [1, 4])
def test_heavy_tails_are_said_of_one_in_twenty_normal_tables_at_most(rows):
    rng = np.random.default_rng(0)
    drawn = [np.square(rng.normal(size=(60, rows))).mean(axis=1) for _ in range(400)]
    assert np.mean([bool(heavy_tails(answers(error), Over(1))) for error in drawn]) <= 0.05


def test_heavy_tails_are_said_of_most_that_have_them_with_what_mean_absolute_errors_say():
    rng = np.random.default_rng(0)
    drawn = [np.square(rng.standard_t(3, size=60)) for _ in range(100)]
    said = [heavy_tails(answers(e, scores={"mae": np.sqrt(e)[None]}), Over(1)) for e in drawn]
    assert np.mean([bool(text) for text in said]) > 0.6
    assert all("Mean absolute errors hang less on a few" in text for text in said if text)
    assert not heavy_tails(answers(drawn[0] > 1, classes=("0", "1")), Over(1))


def test_where_it_is_said_intervals_hold_the_truth_as_seldom_as_the_note_says():
    """Squares of t with three degrees of freedom have the mean 3; the gap is twice that of seen ones."""
    rng, held = np.random.default_rng(0), []
    for _ in range(400):
        error = np.square(rng.standard_t(3, size=60)) * np.where(SEEN, 1, 3)
        if heavy_tails(answers(error), Over(1)):
            gap = Over(1).mean(error[None, ~SEEN], -error[None, SEEN])
            held.append(gap.low <= 6 <= gap.high)
    assert len(held) > 200
    assert 0.75 <= np.mean(held) <= 0.93


def test_where_few_hardly_tell_it_is_said_how_many_intervals_hold():
    rng, held = np.random.default_rng(0), []
    for _ in range(300):
        error = np.square(rng.standard_t(3, size=60))
        few = answers(error).at(np.arange(30))
        if "which 30 combinations hardly tell, about 7 in 10 hold" in heavy_tails(few, Over(1)):
            found = Over(1).mean(few.error[:, few.unseen])
            held.append(found.low <= 3 <= found.high)
    assert len(held) > 150
    assert 0.6 <= np.mean(held) <= 0.8


def test_of_numbers_what_is_not_told_apart_is_left():
    inside = np.full(60, 0.5)
    told = answers(np.full(60, 0.5), within=inside)  # Its mean answer is right: what is left is the noise.
    assert unread(told) == 1
    assert unread(replace(told, error=np.full((1, 60), 0.1))) == pytest.approx(0.2)
    off = replace(told, error=np.full((1, 60), 1.1), predicted=np.full((1, 60, 1), 2.0))  # The same, off by 1.
    assert unread(off) == pytest.approx(0.2)
    leaked = replace(told, error=np.where(SEEN, 0.0, 0.5)[None])
    assert (unread(leaked), unread(leaked, ~SEEN)) == (0, 1)
    assert unread(replace(leaked, varies=False)) == 1


def test_of_classes_it_is_told_against_the_same_answers_dealt_anew():
    half = np.full((60, 2), 0.5)
    dealt = answers(np.full(60, 0.5), classes=("0", "1"))
    dealt = replace(dealt, predicted=half[None], target=half)
    assert unread(dealt) == 1
    assert unread(replace(dealt, error=np.full((1, 60), 0.1))) == pytest.approx(0.2)
