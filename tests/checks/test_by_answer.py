"""What is missing where answers are low is named, beyond chance; holes of any other kind are not."""

from __future__ import annotations

import numpy as np
import pytest
from planted_tables import grid

import recombine as rc
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.holes.by_answer import by_answer


class Sums:
    """A rule that answers sums of the numbers of levels."""

    def answer(self, codes):
        return codes.sum(axis=1, keepdims=True).astype(float)


def found(seen: np.ndarray, shape=(8, 7), on_grid=True, asked=None):
    codes = grid(*shape)
    known = Identifiability(codes[seen], shape, 1)
    return by_answer(known, codes[~seen] if asked is None else codes[asked], Sums(), on_grid)


def test_the_lowest_and_the_highest_missing_by_hand():
    total = grid(8, 7).sum(axis=1)
    low = found(total >= 5)
    assert (low.low, low.end) == (True, "low")
    assert low.asked == pytest.approx(total[total < 5].mean())
    assert low.seen == pytest.approx(total[total >= 5].mean())
    high = found(total <= 8)
    assert not high.low
    assert "higher fitted answers than the seen ones" in high.words


def test_what_a_single_factor_shows_is_no_answer_that_is_missing():
    codes = grid(8, 7)
    assert found(codes[:, 0] >= 2) is None  # whole levels
    assert found((codes[:, 0] < 6) | (codes[:, 1] % 2 == 0)) is None  # the end of half of the series
    assert found((codes.sum(axis=1) % 3) > 0) is None  # bands


def test_random_holes_are_named_as_often_as_meant():
    named = 0
    for seed in range(200):
        named += found(np.random.default_rng(seed).random(56) > 0.35) is not None
    assert named <= 4


def test_who_asks_about_the_best_of_random_holes_asks_about_no_missing_answers():
    rng, codes = np.random.default_rng(3), grid(8, 7)
    seen, high = rng.random(56) > 0.4, codes.sum(axis=1) > 7
    assert found(seen, on_grid=False, asked=~seen & high) is None
    assert found(codes.sum(axis=1) <= 8, on_grid=False) is not None


def answers(seed: int, by_answer: bool) -> rc.CheckResult:
    rng, codes = np.random.default_rng([31, seed]), grid(6, 5, 4)
    y = 50 + sum(rng.normal(0, 5, n)[codes[:, k]] for k, n in enumerate((6, 5, 4))) + rng.normal(0, 3, 120)
    seen = y >= np.quantile(y, 0.3) if by_answer else rng.random(120) > 0.3
    table = {name: [f"{name}{c}" for c in codes[seen, k]] for k, name in enumerate("abc")}
    return rc.check(table | {"y": y[seen].tolist()}, ["a", "b", "c"], target="y", draws=9)


def test_adding_up_is_not_shown_where_the_lowest_answers_are_missing():
    result = answers(1, by_answer=True)
    assert result.verdict == "assumption unsupported"
    assert result.fails(["assumption"]) == ["assumption"]
    assert "if none is missing because its answer is low" in result.expected
    assert "and if they are missing because these are low, no seen one tells them" in result.sentence()
    assert any("left out, stopped or not reported because their answers are low?" in note for note in result.notes)
    assert result.to_dict()["forecast"]["by_answer"]["low"] is True
    other = answers(1, by_answer=False)
    assert other.verdict == "determined"
    assert other.to_dict()["forecast"]["by_answer"] is None
