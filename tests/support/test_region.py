"""Supports given by a rule: the same algebra, judged by membership; hostile rules are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from recombine.errors import InputError
from recombine.space import FactorSpace, categorical, continuous
from recombine.support import Explicit, Region

SPACE = FactorSpace((continuous("x", 0, 1), continuous("y", -2, 2), categorical("z", 3)))
POINTS = SPACE.sample(400, seed=0)
GRID = FactorSpace.of(a=4, b=5)


def interval(low: float, high: float) -> st.SearchStrategy[list[float]]:
    return st.tuples(st.floats(low, high), st.floats(low, high)).map(sorted)


BOXES = st.fixed_dictionaries(
    {}, optional={"x": interval(0, 1), "y": interval(-2, 2), "z": st.tuples(st.integers(0, 1), st.integers(1, 2))}
).map(lambda sides: {"box": sides})
RULES = st.recursive(
    BOXES,
    lambda inner: st.one_of(
        inner.map(lambda rule: {"not": rule}),
        st.lists(inner, min_size=1, max_size=3).map(lambda rules: {"any": rules}),
        st.lists(inner, min_size=1, max_size=3).map(lambda rules: {"all": rules}),
    ),
    max_leaves=5,
)
REGIONS = RULES.map(lambda rule: Region(SPACE, rule))


def inside(rule: Any, point: Any) -> bool:
    """A rule, read by hand."""
    ((word, argument),) = rule.items()
    if word == "box":
        place = dict(zip(SPACE.names, point, strict=True))
        return all(low <= place[name] <= high for name, (low, high) in argument.items())
    if word == "not":
        return not inside(argument, point)
    return (any if word == "any" else all)(inside(one, point) for one in argument)


@given(RULES)
@settings(max_examples=40)
def test_membership_is_what_the_rule_says(rule: Any) -> None:
    expected = [inside(rule, point) for point in POINTS[:50].tolist()]
    assert Region(SPACE, rule).contains(POINTS[:50]).tolist() == expected


@given(REGIONS, REGIONS)
@settings(max_examples=40)
def test_operations_and_laws_by_membership(one: Region, two: Region) -> None:
    a, b = one.contains(POINTS), two.contains(POINTS)
    assert np.array_equal((one | two).contains(POINTS), a | b)
    assert np.array_equal((one & two).contains(POINTS), a & b)
    assert np.array_equal((one - two).contains(POINTS), a & ~b)
    assert np.array_equal((~one).contains(POINTS), ~a)
    assert np.array_equal((~~one).contains(POINTS), a)
    assert np.array_equal((~(one | two)).contains(POINTS), (~one & ~two).contains(POINTS))


@given(RULES.filter(lambda rule: Region(SPACE, rule).contains(POINTS).mean() > 0.2), st.integers(0, 99))
@settings(max_examples=25)
def test_samples_lie_inside_and_hang_on_the_seed_alone(rule: Any, seed: int) -> None:
    region = Region(SPACE, rule)
    drawn = region.sample(50, seed)
    assert drawn.shape == (50, 3)
    assert region.contains(drawn).all()
    assert np.array_equal(drawn, Region(SPACE, rule).sample(50, seed))


def test_rejection_leaves_the_density_flat() -> None:
    x = Region(SPACE, {"box": {"x": [0.5, 1.0]}}).sample(4000, seed=1)[:, 0]
    counts, _ = np.histogram(x, bins=8, range=(0.5, 1))
    assert ((counts - 500) ** 2 / 500).sum() < 24.3  # 99.9 % point of χ² with 7 degrees of freedom


def test_an_empty_region_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.support.support.MOST_TRIES", 3)
    with pytest.raises(InputError, match="found 0 of 5 points after 3 rounds"):
        Region(SPACE, {"not": {"box": {}}}).sample(5, seed=0)


def test_a_region_of_a_finite_space_can_be_listed() -> None:
    region = Region(GRID, {"box": {"a": (1, 2), "b": (0, 0)}})
    assert region.explicit() == Explicit(GRID, [[1, 0], [2, 0]])
    assert isinstance(region | region, Explicit)
    assert Region(GRID, {"points": [[3, 4], [0, 0]]}).explicit() == Explicit(GRID, [[0, 0], [3, 4]])


def test_a_rule_is_kept_as_its_file_would_give_it_back() -> None:
    sides: dict[str, Any] = {"x": (0.25, 0.5)}
    region = Region(SPACE, {"box": sides})
    assert region == Region(SPACE, {"box": {"x": [0.25, 0.5]}})
    assert hash(region) == hash(Region(SPACE, {"box": {"x": [0.25, 0.5]}}))
    sides["x"] = (0.0, 1.0)
    assert region.rule == {"box": {"x": [0.25, 0.5]}}
    assert region.contains(np.array([[0.1, 0, 0]])).tolist() == [False]
    assert region != Region(GRID, {"box": {}})
    assert "0.25" in repr(region)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"bix": {}}, "unknown rule 'bix'; did you mean 'box'"),
        ({}, "a rule is one of"),
        ({"box": {}, "not": {}}, "a rule is one of"),
        ([1], "a rule is one of"),
        ({"box": {"w": [0, 1]}}, "unknown factor 'w'"),
        ({"box": {"x": [0]}}, "two ends"),
        ({"box": {"x": [0, 1, 2]}}, "two ends"),
        ({"box": {"x": 3}}, "two ends"),
        ({"box": {"x": ["a", "b"]}}, "two ends"),
        ({"box": {"x": [0, 10**400]}}, "two ends"),
        ({"box": {"x": [1, 0]}}, "low must not exceed high"),
        ({"box": {"x": [float("nan"), 1]}}, "low must not exceed high"),
        ({"box": [1]}, "a box has an interval"),
        ({"any": []}, "need a list of rules"),
        ({"all": {}}, "need a list of rules"),
        ({"any": "box"}, "need a list of rules"),
        ({"not": None}, "a rule is one of"),
        ({"points": [[0, 0, 0]]}, "only a space of categorical factors"),
        ({"points": 3}, "listed as rows"),
        ({"points": "012"}, "listed as rows"),
        ({"box": {"x": (np.float32(0), np.float32(1))}}, "plain values"),
    ],
)
def test_hostile_rules_are_refused(rule: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        Region(SPACE, rule)
    assert words in str(caught.value)


@pytest.mark.parametrize("row", [[0.0, 0], [True, 0], ["0", 0], [None, 0], [2**70, 0], [0, 9], [0], "00", 3])
def test_points_of_a_rule_are_whole_numbers_of_the_space(row: Any) -> None:
    with pytest.raises(InputError):
        Region(GRID, {"points": [row]})
    with pytest.raises(InputError):
        Region(GRID, {"points": [[0, 0], row]})
