"""The supports people ask for by name, against small cases counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recombine.errors import InputError
from recombine.space import FactorSpace, categorical, continuous
from recombine.support import Explicit, Region, anchors, donut, full, leave_out, random

NINE = FactorSpace.of(first=range(-4, 5), second=range(-4, 5))
SMALL = FactorSpace.of(shape=["disc", "square"], colour=["red", "blue", "green"])
SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def of_shape(shape: list[int]) -> FactorSpace:
    return FactorSpace(tuple(categorical(f"f{i}", n) for i, n in enumerate(shape)))


@pytest.mark.parametrize(("chosen", "train"), [([0], 17), ([-4], 17), ([-4, 4], 32), ([-2, 2], 32)])
def test_anchors_of_symbolic_addition(chosen: list[int], train: int) -> None:
    """kernel_theory.md, section 2: 17/64 with one anchor value, 32/49 with two."""
    some = anchors(NINE, {"first": chosen, "second": chosen}).explicit()
    assert (len(some), len((~some).explicit())) == (train, 81 - train)
    records = some.combinations()
    assert all(r["first"] in chosen or r["second"] in chosen for r in records)
    assert all(r["first"] not in chosen and r["second"] not in chosen for r in (~some).explicit().combinations())


def test_anchors_of_one_factor_are_whole_lines() -> None:
    assert len(anchors(NINE, {"first": [0, 1]}).explicit()) == 18


@pytest.mark.parametrize(("side", "train"), [(1, 80), (3, 72), (5, 56), (7, 32)])
def test_a_donut_of_nine_by_nine_has_a_hole_in_the_middle(side: int, train: int) -> None:
    some = donut(NINE, side).explicit()
    assert len(some) == train == 81 - side**2
    half = (side - 1) // 2
    hole = (~some).explicit().combinations()
    assert {abs(v) <= half for r in hole for v in r.values()} == {True}


def test_the_outermost_ring_is_never_in_the_hole() -> None:
    ring = donut(NINE, 7).explicit()
    assert len(ring) == 4 * 8
    assert np.isin(ring.codes, [0, 8]).any(axis=1).all()
    assert len(donut(FactorSpace.of(a=5, b=5, c=5), 3).explicit()) == 125 - 27
    assert donut(NINE, (1.0, 7.0)) == ring


def test_a_continuous_donut_keeps_the_share_of_its_area() -> None:
    space = FactorSpace((continuous("x", 0, 2), continuous("y", -1, 1)))
    region = donut(space, 0.5)
    assert isinstance(region, Region)
    points = np.array([[1, 0], [0.51, 0.49], [0.49, 0], [1.0, 0.51], [0, -1]])
    assert region.contains(points).tolist() == [False, False, True, True, True]
    assert abs(region.contains(space.sample(4000, seed=0)).mean() - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 4000)


def test_leave_out_names_whole_or_part_of_combinations() -> None:
    one = leave_out(SMALL, {"shape": "disc", "colour": "red"}).explicit()
    assert len(one) == 5
    assert {"shape": "disc", "colour": "red"} not in one
    assert len(leave_out(SMALL, {"colour": "red"}).explicit()) == 4
    both = leave_out(SMALL, {"colour": "red"}, {"shape": "disc", "colour": "blue"}, {"shape": "disc", "colour": "red"})
    assert len(both.explicit()) == 3
    assert leave_out(SMALL) == full(SMALL)
    assert len(full(SMALL).explicit()) == 6


def test_full_of_a_space_that_cannot_be_listed_is_a_rule() -> None:
    space = FactorSpace((continuous("x"), categorical("a", 2)))
    assert full(space).contains(space.sample(50, seed=0)).all()


@given(SHAPES, st.integers(0, 2**32), st.data())
def test_random_draws_distinct_combinations(shape: list[int], seed: int, data: st.DataObject) -> None:
    space = of_shape(shape)
    count = data.draw(st.integers(1, space.size))
    some = random(space, count, seed)
    assert len(some.explicit()) == count
    assert some == random(space, count, seed)


@given(SHAPES, st.integers(0, 2**32))
def test_random_can_cover_every_level(shape: list[int], seed: int) -> None:
    space = of_shape(shape)
    some = random(space, min(space.size, max(shape) + 1), seed, cover_levels=True).explicit()
    assert [len(set(some.codes[:, i].tolist())) for i in range(len(shape))] == shape


def test_random_hangs_on_its_seed_and_is_uniform() -> None:
    assert random(NINE, 20, seed=0) != random(NINE, 20, seed=1)
    counts = np.zeros(6)
    for seed in range(1200):
        counts[SMALL.index(random(SMALL, 2, seed).explicit().codes)] += 1
    assert ((counts - 400) ** 2 / 400).sum() < 20.5 * (4 / 5)  # χ² with 5 degrees, drawn without replacement


def test_random_draws_from_a_grid_far_beyond_memory() -> None:
    space = FactorSpace.of(**{f"f{i}": 50 for i in range(10)})
    assert len(random(space, 100, seed=0, cover_levels=True).explicit()) == 100


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: leave_out(SMALL, {"shap": "disc"}), "did you mean 'shape'"),
        (lambda: leave_out(SMALL, {"shape": "disk"}), "did you mean 'disc'"),
        (lambda: leave_out(SMALL, {"shape": "disc"}, {"shape": "square"}), "the training support is empty"),
        (lambda: leave_out(SMALL, {}), "the training support is empty"),
        (lambda: anchors(SMALL, {"shape": []}), "the anchor support is empty"),
        (lambda: anchors(SMALL, {"shape": ["disk"]}), "did you mean 'disc'"),
        (lambda: random(SMALL, 7, seed=0), "cannot draw 7 of 6 combinations"),
        (lambda: random(SMALL, 0, seed=0), "cannot draw 0 of 6"),
        (lambda: random(NINE, 8, seed=0, cover_levels=True), "covering every level takes 9"),
        (lambda: donut(NINE, 9), "does not lie inside factor 'first'"),
        (lambda: donut(NINE, 0), "does not lie inside"),
        (lambda: donut(NINE, 8), "does not lie inside"),
        (lambda: donut(NINE, (5, 2)), "does not lie inside"),
        (lambda: donut(SMALL, 1), "does not lie inside factor 'shape'"),
        (lambda: donut(FactorSpace((continuous("x"),)), 1.0), "does not lie inside"),
    ],
)
def test_bad_requests_are_one_sentence(call: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("rest", [{f"f{i}": 50 for i in range(10)}, {}])
def test_builders_give_a_rule_where_the_grid_cannot_be_listed(rest: dict[str, int]) -> None:
    more = tuple(categorical(name, n) for name, n in rest.items()) or (continuous("x", 0, 49),)
    space = FactorSpace((categorical("a", 4), *more))
    points = np.array([[a, *[20] * len(more)] for a in range(4)])
    assert leave_out(space, {"a": 1}, {"a": 3}).contains(points).tolist() == [True, False, True, False]
    assert anchors(space, {"a": [1, 3]}).contains(points).tolist() == [False, True, False, True]
    assert isinstance(leave_out(space, {"a": 1}), Region)
    with pytest.raises(InputError, match="unknown level"):
        leave_out(FactorSpace((continuous("x"),)), {"x": 0.5})


def test_every_builder_gives_a_support_of_its_space() -> None:
    for some in (
        full(NINE),
        leave_out(NINE, {"first": 0}),
        anchors(NINE, {"first": [0]}),
        random(NINE, 5, 0),
        donut(NINE, 3),
    ):
        assert isinstance(some, Explicit)
        assert some.space == NINE
