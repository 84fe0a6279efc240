"""Learners that fit in part: which fail on unseen combinations, and which are too weak wherever they are asked."""

from __future__ import annotations

import numpy as np
import pytest
from everything_said import everything

from recombine.mechanisms import Answers, measure_predictions
from recombine.mechanisms.compared.fitting import _least_gap_at_equal_levels
from recombine.space import FactorSpace

SIDE, ROWS = 8, 12
ANIMAL, PLACE = np.indices((SIDE, SIDE)).reshape(2, -1).repeat(ROWS, axis=1)
UNSEEN = (PLACE - ANIMAL) % SIDE > 2  # Each animal is seen at three places.


def measured(said, unseen=UNSEEN, y=ANIMAL):
    rng = np.random.default_rng(1)
    test = unseen | (rng.random(len(unseen)) < 0.25)
    table = {"animal": ANIMAL, "place": PLACE, "part": np.where(test, "test", "train")}
    table |= {name: np.array([f"a{v}" for v in values]) for name, values in (("y", y), ("p", said))}
    return measure_predictions(table, ["animal", "place"], target="y", prediction="p", split="part=test")


def test_what_is_learnt_in_part_and_lost_on_unseen_combinations_fails():
    rng = np.random.default_rng(0)
    of_the_place = (PLACE - rng.integers(3, size=len(PLACE))) % SIDE
    found = measured(np.where(UNSEEN | (rng.random(len(PLACE)) < 0.4), of_the_place, ANIMAL))
    assert found.training.mean > 0.2
    assert found.verdict == "fails"
    assert "It fitted its training data in part alone: its error there is 0.2" in everything(found)
    # Three animals were seen at each place, some on a photograph more: any of them is the place's.
    assert found.mechanisms == ("shortcut by place",)
    by_place = next(e for e in found.evidence if e.named)
    assert by_place.explains > 0.9
    assert by_place.chance == pytest.approx(3 / 8, abs=0.05)
    assert found.to_dict()["members"] == {"judged": 1, "diverged": 0, "not_fitted": 0, "each": []}


@pytest.mark.parametrize("hard", [np.zeros(SIDE, dtype=bool), np.arange(SIDE) < 3])
def test_a_learner_that_is_too_weak_wherever_it_is_asked_does_not_fail(hard):
    rng = np.random.default_rng(0)
    unseen = rng.random((SIDE, SIDE))[ANIMAL, PLACE] < np.where(hard, 0.75, 0.15)[PLACE]  # Above all hard places.
    guess = rng.random(len(PLACE)) < np.where(hard, 0.95, 0.25)[PLACE]
    found = measured(np.where(guess, rng.integers(SIDE, size=len(PLACE)), ANIMAL), unseen)
    assert found.verdict == "not fitted"
    assert (found.gap.low > 0.05) == hard.any()


def test_a_gap_at_equal_levels_is_what_effects_of_levels_leave():
    rng = np.random.default_rng(0)
    space = FactorSpace.of(a=5, b=6)
    a, b = space.grid().T
    levels = rng.normal(size=5)[a] + rng.normal(size=6)[b]
    for seen, gap in (((a + b) % 3 > 0, 0.25), (b > 1, -np.inf)):  # The second: whole levels, so that none is told.
        error = levels + 0.25 * ~seen
        said = error[:, None]
        answers = Answers(space, space.grid(), seen, np.ones(30, dtype=np.int64), error[None], said[None], said, None)
        assert _least_gap_at_equal_levels(answers, error) == pytest.approx(gap)


def test_what_was_never_fitted_is_not_said_to_be_in_part():
    right = (ANIMAL + PLACE) % 2
    wrong = UNSEEN | (np.random.default_rng(0).random(len(right)) < 0.53)
    found = measured(right ^ wrong, y=right)
    assert found.training.mean > found.comparison.trained_constant
    assert (found.verdict, "in part" in found.sentence()) == ("not fitted", False)


@pytest.mark.parametrize(("strength", "verdicts"), [(1.0, ("unclear", "composes")), (0.0, ("not fitted",))])
def test_on_single_rows_the_truth_may_err_more_than_a_rule_that_was_fitted_beside_them(strength, verdicts):
    a, b, c = np.indices((4, 4, 3)).reshape(3, -1)
    rng = np.random.default_rng(39)
    truth = rng.normal(size=4)[a] + rng.normal(size=4)[b] + rng.normal(size=3)[c]
    y, part = truth + 0.7 * rng.normal(size=48), np.where((a + b + c) % 4 == 0, "test", "train")
    table = {"a": a, "b": b, "c": c, "y": y, "p": y.mean() + strength * (truth - y.mean()), "part": part}
    result = measure_predictions(table, ["a", "b", "c"], target="y", prediction="p", split="part=test")
    assert result.verdict in verdicts
