"""Explicit supports: the algebra of sets, checked against Python's own sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recombine.errors import InputError
from recombine.space import FactorSpace, continuous
from recombine.support import Explicit, Region, full

SPACE = FactorSpace.of(a=3, b=2, c=4)
HUGE = FactorSpace.of(**{f"f{i}": 50 for i in range(12)})
ROWS = st.sets(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)), max_size=24)
EVERYTHING = {tuple(row) for row in SPACE.grid().tolist()}


def support(rows: set[tuple[int, ...]]) -> Explicit:
    return Explicit(SPACE, sorted(rows))


def rows_of(some: Any) -> set[tuple[int, ...]]:
    assert isinstance(some, Explicit)
    assert len(some) == len({tuple(r) for r in some.codes.tolist()})
    return {tuple(row) for row in some.codes.tolist()}


@given(ROWS, ROWS)
def test_operations_are_those_of_sets(a: set[tuple[int, ...]], b: set[tuple[int, ...]]) -> None:
    one, two = support(a), support(b)
    assert rows_of(one | two) == a | b
    assert rows_of(one & two) == a & b
    assert rows_of(one - two) == a - b
    assert rows_of(~one) == EVERYTHING - a
    assert one.contains(SPACE.grid()).tolist() == [tuple(r) in a for r in SPACE.grid().tolist()]


@given(ROWS, ROWS, ROWS)
def test_laws(a: set[tuple[int, ...]], b: set[tuple[int, ...]], c: set[tuple[int, ...]]) -> None:
    one, two, three = support(a), support(b), support(c)
    assert ~~one == one
    assert ~(one | two) == ~one & ~two
    assert ~(one & two) == ~one | ~two
    assert one & (two | three) == (one & two) | (one & three)
    assert one - two == one & ~two
    assert one | ~one == full(SPACE)
    assert len((one & ~one).explicit()) == 0


@given(ROWS, st.integers(0, 2**31))
def test_order_and_repetition_of_rows_do_not_matter(rows: set[tuple[int, ...]], seed: int) -> None:
    listed = list(rows) * 2
    np.random.default_rng(seed).shuffle(listed)
    again = Explicit(SPACE, np.array(listed, dtype=np.int64).reshape(-1, 3))
    assert again == support(rows)
    assert hash(again) == hash(support(rows))
    assert again.sha256() == support(rows).sha256()
    assert again.codes.tolist() == sorted(map(list, rows))


def test_a_support_never_changes() -> None:
    mine = np.array([[0, 0, 0], [1, 1, 1]])
    one = Explicit(SPACE, mine)
    mine[0, 0] = 2
    assert one.codes.tolist() == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(ValueError, match="read-only"):
        one.codes[0, 0] = 2


def test_the_fingerprint_is_of_levels_not_of_codes() -> None:
    one = Explicit.of(FactorSpace.of(a=["x", "y"]), [{"a": "x"}])
    other = Explicit.of(FactorSpace.of(a=["y", "x"]), [{"a": "x"}])
    assert one.codes.tolist() != other.codes.tolist()
    assert one.sha256() == other.sha256()
    assert one.sha256() != Explicit.of(FactorSpace.of(a=["x", "y"]), [{"a": "y"}]).sha256()
    assert one.sha256() != Explicit.of(FactorSpace.of(b=["x", "y"]), [{"b": "x"}]).sha256()


def test_membership_by_record() -> None:
    space = FactorSpace.of(shape=["disc", "square"], size=3)
    some = Explicit.of(space, [{"shape": "disc", "size": 2}])
    assert {"shape": "disc", "size": 2} in some
    assert {"shape": "square", "size": 2} not in some
    assert some.combinations() == [{"shape": "disc", "size": 2}]
    assert repr(some) == "1 of 6 combinations of shape × size"
    with pytest.raises(InputError, match="did you mean 'disc'"):
        _ = {"shape": "disk", "size": 2} in some


def test_samples_are_uniform_over_the_support() -> None:
    some = support({(0, 0, 0), (1, 1, 1), (2, 0, 3)})
    drawn = some.sample(3000, seed=3)
    assert np.array_equal(drawn, some.sample(3000, seed=3))
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == 3
    assert ((counts - 1000) ** 2 / 1000).sum() < 13.8  # 99.9 % point of χ² with 2 degrees of freedom


def test_a_grid_too_large_to_list_keeps_its_algebra() -> None:
    rows = [[0] * 12, [1] * 12, [49] * 12]
    some = Explicit(HUGE, rows)
    probe = np.array([*rows, [2] * 12])
    assert HUGE.size > 2**62
    assert some.contains(probe).tolist() == [True, True, True, False]
    rest = ~some
    assert isinstance(rest, Region)
    assert rest.contains(probe).tolist() == [False, False, False, True]
    assert (~rest).contains(probe).tolist() == [True, True, True, False]
    either = some | Explicit(HUGE, [[2] * 12])
    assert either.contains(probe).all()
    assert (either - some).contains(probe).tolist() == [False, False, False, True]
    assert some & Explicit(HUGE, [[1] * 12, [2] * 12]) == Explicit(HUGE, [[1] * 12])
    assert rest.contains(rest.sample(10, seed=0)).all()
    with pytest.raises(InputError, match="too large to list"):
        rest.explicit()
    assert full(HUGE).contains(probe).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: support(set()).sample(1, seed=0), "cannot draw from an empty support"),
        (lambda: support(set()).require_nonempty("training"), "the training support is empty"),
        (lambda: support(set()) | Explicit(FactorSpace.of(a=2), []), "the same factor space"),
        (lambda: Explicit(FactorSpace((continuous("x"),)), [[0.5]]), "only a space of categorical factors"),
        (lambda: Explicit(SPACE, [[0, 2, 0]]), "factor 'b' goes from 0 to 1, got 2"),
        (lambda: Explicit(SPACE, [[0, 0], [1]]), "rows of other lengths"),
        (lambda: Explicit(SPACE, [[0, 0.5, 1]]), "whole numbers"),
        (lambda: ~Region(FactorSpace((continuous("x"),)), {"box": {}}).explicit(), "cannot be listed"),
    ],
)
def test_bad_supports_are_refused(call: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
