"""The hold-outs of the forced-rendering paper, counted by hand."""

from __future__ import annotations

import pytest

from recombine.errors import InputError
from recombine.space import FactorSpace, continuous
from recombine.support import corner, cross, diagonal, donut, ell, random, unseen_levels

SQUARE = FactorSpace.of(x=8, y=8)


def test_corner_and_ell_are_the_same_seen_from_both_sides() -> None:
    train = corner(SQUARE, 5).explicit()
    assert len(train) == 64 - 25
    assert train == ell(SQUARE, 3)
    assert {"x": 2, "y": 7} in train
    assert {"x": 3, "y": 3} not in train


def test_cross_takes_values_away_and_says_so() -> None:
    train = cross(SQUARE, 2)
    assert len(train.explicit()) == 36
    assert unseen_levels(train) == {"x": (3, 4), "y": (3, 4)}


def test_composition_hold_outs_leave_every_value() -> None:
    for train in (corner(SQUARE, 5), donut(SQUARE, 4), diagonal(SQUARE, 3), random(SQUARE, 20, 0, cover_levels=True)):
        assert unseen_levels(train) == {}


def test_the_diagonal_band() -> None:
    assert len(diagonal(SQUARE, 1).explicit()) == 56
    assert len(diagonal(SQUARE, 3).explicit()) == 64 - 8 - 14
    assert {"x": 4, "y": 5} not in diagonal(SQUARE, 3)
    assert {"x": 4, "y": 6} in diagonal(SQUARE, 3)


def test_continuous_spaces_have_shares() -> None:
    plane = FactorSpace((continuous("x", 0, 10), continuous("y", 0, 10)))
    assert corner(plane, 0.5).contains([[4.0, 9.0], [6.0, 9.0]]).tolist() == [True, False]
    assert ell(plane, 0.3).contains([[2.0, 9.0], [6.0, 9.0]]).tolist() == [True, False]
    assert cross(plane, 0.2).contains([[4.5, 0.0], [3.5, 0.0]]).tolist() == [False, True]
    with pytest.raises(InputError, match="categorical"):
        diagonal(plane, 1)


@pytest.mark.parametrize("bad", [lambda: corner(SQUARE, 8), lambda: corner(SQUARE, 0), lambda: cross(SQUARE, 8)])
def test_a_hole_must_leave_something(bad) -> None:
    with pytest.raises(InputError, match="leave"):
        bad()
