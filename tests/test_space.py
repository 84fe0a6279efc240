"""Factor spaces: index arithmetic, grids that are never made, sampling, JSON, and what is said of bad input."""

from __future__ import annotations

import itertools
import json
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recombine.errors import InputError, unknown
from recombine.space import Factor, FactorSpace, categorical, continuous, in_order

SHAPES = st.lists(st.integers(1, 6), min_size=1, max_size=5)
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
LEVELS = st.lists(
    st.text(st.characters(codec="utf-8"), max_size=4) | st.integers(-9, 9) | st.floats(-2, 2), min_size=1, max_size=5,
    unique=True,
)  # fmt: skip


def of_shape(shape: list[int]) -> FactorSpace:
    return FactorSpace(tuple(categorical(f"f{i}", n) for i, n in enumerate(shape)))


@st.composite
def spaces(draw: Any) -> FactorSpace:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    factors = []
    for name in names:
        low, width = draw(st.floats(-1e3, 1e3)), draw(st.floats(0.1, 1e3))
        factors.append(draw(st.sampled_from([continuous(name, low, low + width), categorical(name, draw(LEVELS))])))
    cut = draw(st.integers(1, len(names)))
    blocks = [b for b in (names[:cut], names[cut:]) if b]
    return FactorSpace(tuple(factors), tuple(tuple(b) for b in blocks))


@given(SHAPES)
def test_the_grid_lists_every_combination_in_the_order_of_nested_loops(shape: list[int]) -> None:
    space = of_shape(shape)
    expected = list(itertools.product(*(range(n) for n in shape)))
    assert space.size == len(expected) == math.prod(space.shape)
    assert [tuple(row) for row in space.grid().tolist()] == expected


@given(SHAPES, st.data())
def test_index_and_combination_are_inverse(shape: list[int], data: st.DataObject) -> None:
    space = of_shape(shape)
    index = np.array(data.draw(st.lists(st.integers(0, space.size - 1), max_size=20)), dtype=np.int64)
    assert space.index(space.at(index)).tolist() == index.tolist()
    codes = np.array(data.draw(st.lists(st.tuples(*(st.integers(0, n - 1) for n in shape)), max_size=20)))
    assert space.at(space.index(codes)).tolist() == codes.reshape(-1, len(shape)).tolist()


@given(SHAPES, st.integers(1, 50))
def test_chunks_of_a_grid_make_the_grid(shape: list[int], chunk_size: int) -> None:
    space = of_shape(shape)
    chunks = list(space.grid_chunks(chunk_size))
    assert all(len(chunk) == chunk_size for chunk in chunks[:-1])
    assert 1 <= len(chunks[-1]) <= chunk_size
    assert np.array_equal(np.concatenate(chunks), space.grid())


def test_a_grid_far_beyond_memory_is_never_made() -> None:
    space = of_shape([50] * 10)
    tracemalloc.start()
    assert space.size == 50**10 == 97_656_250_000_000_000
    assert space.at([0, 50**10 - 1]).tolist() == [[0] * 10, [49] * 10]
    assert space.grid(50**10 - 3).tolist() == [[49] * 9 + [last] for last in (47, 48, 49)]
    assert space.grid(50**9, 50**9 + 2).tolist() == [[1] + [0] * 9, [1] + [0] * 8 + [1]]
    assert len(next(iter(space.grid_chunks(7)))) == 7
    assert space.index(space.sample(5, seed=0)).max() < space.size
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(("factors", "words"), [(20, "9.54e+33"), (400, "10^680")])
def test_a_grid_without_64_bit_index_says_so_and_still_works_with_codes(factors: int, words: str) -> None:
    space = of_shape([50] * factors)
    assert space.size == 50**factors
    with pytest.raises(InputError, match="no 64-bit index") as caught:
        space.index(np.zeros((1, factors), np.int64))
    assert words in str(caught.value)
    assert words in str(space)
    codes = space.sample(3, seed=1)
    assert codes.shape == (3, factors)
    assert space.check(codes) is not None


def test_positions_outside_the_grid_are_refused() -> None:
    space = of_shape([2, 3])
    with pytest.raises(InputError, match="no position 6"):
        space.at([0, 6])
    with pytest.raises(InputError, match="no position -1"):
        space.at([-1])
    assert space.grid(4, 100).tolist() == [[1, 1], [1, 2]]
    assert space.grid(6).shape == space.grid(9).shape == (0, 2)


def test_a_sample_is_a_function_of_its_seed_and_uniform() -> None:
    space = FactorSpace((categorical("a", 4), continuous("x", -1, 3)))
    one, again, other = space.sample(4000, seed=5), space.sample(4000, seed=5), space.sample(4000, seed=6)
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    counts = np.bincount(one[:, 0].astype(int), minlength=4)
    assert ((counts - 1000) ** 2 / 1000).sum() < 16.3  # 99.9 % point of χ² with 3 degrees of freedom
    assert abs(one[:, 1].mean() - 1) < 5 * (4 / math.sqrt(12)) / math.sqrt(4000)
    assert one[:, 1].min() >= -1
    assert one[:, 1].max() <= 3
    assert of_shape([2, 2]).sample(0, seed=0).shape == (0, 2)
    assert of_shape([2, 2]).sample(3, seed=0).dtype == np.int64


@given(spaces())
def test_json_gives_an_equal_space_with_an_equal_hash(space: FactorSpace) -> None:
    again = FactorSpace.from_json(space.to_json())
    assert again == space
    assert hash(again) == hash(space)
    assert again.components == space.components
    assert json.loads(again.to_json()) == json.loads(space.to_json())


@given(spaces(), st.integers(0, 2**32))
def test_decoding_and_encoding_give_the_points_back(space: FactorSpace, seed: int) -> None:
    points = space.sample(5, seed)
    assert np.array_equal(space.encode(space.decode(points)), points)


def test_a_space_is_a_value() -> None:
    space = FactorSpace.of(shape=["disc", "square"], size=3)
    assert space == FactorSpace.of(shape=("disc", "square"), size=range(3))
    assert len({space, FactorSpace.of(shape=["disc", "square"], size=3)}) == 1
    assert space != FactorSpace.of([["shape", "size"]], shape=["disc", "square"], size=3)
    with pytest.raises(AttributeError):
        space.factors = ()  # type: ignore[misc]
    assert str(space) == "shape (2) × size (3) = 6 combinations"
    assert str(FactorSpace((continuous("x", 0, 2.5),))) == "x [0, 2.5]"
    assert (len(space), space.names, space["size"].levels) == (2, ("shape", "size"), (0, 1, 2))
    assert space.components == (("shape",), ("size",))
    assert space.finite
    assert not FactorSpace((continuous("x"),)).finite


def test_records_and_codes() -> None:
    space = FactorSpace((categorical("shape", ["disc", "square"]), continuous("x", 0, 1)))
    points = space.encode([{"shape": "square", "x": 0.25}, {"x": 1, "shape": "disc"}])
    assert points.tolist() == [[1, 0.25], [0, 1]]
    assert space.decode(points) == [{"shape": "square", "x": 0.25}, {"shape": "disc", "x": 1.0}]
    assert space.encode([]).shape == (0, 2)


SPACE = FactorSpace.of(shape=["disc", "square"], size=3)
MIXED = FactorSpace((categorical("shape", 2), continuous("x", 0, 1)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: SPACE["shap"], "unknown factor 'shap'; did you mean 'shape'"),
        (lambda: SPACE.position("colour"), "unknown factor 'colour'; there are: shape, size."),
        (lambda: SPACE["shape"].code("disk"), "unknown level of factor 'shape' 'disk'; did you mean 'disc'"),
        (lambda: SPACE["shape"].code([1]), "unknown level of factor 'shape'"),
        (lambda: SPACE.encode([{"shape": "disc", "size": 7}]), "unknown level of factor 'size' '7'"),
        (lambda: SPACE.encode([{"shape": "disc"}]), "missing the factor 'size'"),
        (lambda: SPACE.encode([{"shape": "disc", "size": 1, "sise": 1}]), "unknown factor 'sise'; did you mean 'size'"),
        (lambda: MIXED.encode([{"shape": 0, "x": "much"}]), "are numbers"),
        (lambda: FactorSpace.of(), "at least one factor"),
        (lambda: FactorSpace((categorical("a", 2), categorical("a", 3))), "two factors are called 'a'"),
        (lambda: FactorSpace.of([["a"]], a=2, b=2), "each factor exactly once"),
        (lambda: FactorSpace.of([["a"], ["a", "b"]], a=2, b=2), "each factor exactly once"),
        (lambda: FactorSpace.of([["a"], ["c"]], a=2, b=2), "unknown factor 'c'"),
        (lambda: SPACE.encode({"shape": "disc", "size": 1}), "put a single one in brackets"),
        (lambda: SPACE.sample(-1, seed=0), "0 or more points"),
        (lambda: SPACE.sample(1, seed=-1), "a seed of 0 or more"),
        (lambda: FactorSpace.of(shape="disc"), "factor 'shape' needs a list of levels or their number, got 'disc'"),
        (lambda: categorical("a", True), "needs a list of levels or their number, got True"),
        (lambda: categorical("a", 2.5), "needs a list of levels or their number, got 2.5"),
        (lambda: categorical("a", []), "factor 'a' has no levels"),
        (lambda: categorical("a", 0), "factor 'a' has no levels"),
        (lambda: categorical("a", ["x", "y", "x"]), "the level 'x' twice"),
        (lambda: categorical("a", [0, False]), "the level False twice"),
        (lambda: categorical("a", [1.0, math.nan]), "the level nan"),
        (lambda: categorical("a", [1.0, math.inf]), "the level inf"),
        (lambda: categorical("a", [10**400]), "the level 1000"),
        (lambda: categorical("a", ["\ud800"]), "has the level"),
        (lambda: categorical("a", [None]), "the level None"),  # type: ignore[list-item]
        (lambda: categorical("", 2), "non-empty text"),
        (lambda: categorical("\ud800", 2), "non-empty text"),
        (lambda: Factor(3, (1,)), "non-empty text"),  # type: ignore[arg-type]
        (lambda: Factor("a"), "needs levels, or both low and high"),
        (lambda: Factor("a", low=0.0), "needs levels, or both low and high"),
        (lambda: Factor("a", (1,), 0.0, 1.0), "both levels and a range"),
        (lambda: continuous("x", 1, 1), "low < high"),
        (lambda: continuous("x", 0, math.inf), "finite range"),
        (lambda: Factor("x", None, 0, 10**400), "finite range"),
        (lambda: Factor("x", None, "0", "1"), "finite range"),  # type: ignore[arg-type]
        (lambda: len(continuous("x")), "is continuous"),
        (lambda: SPACE.check([[0, 1, 2]]), "rows of 2 numbers (shape, size), got shape (1, 3)"),
        (lambda: SPACE.check([[0, 1], [0]]), "rows of other lengths"),
        (lambda: SPACE.check([[0, 3]]), "factor 'size' goes from 0 to 2, got 3"),
        (lambda: SPACE.check([[-1, 0]]), "factor 'shape' goes from 0 to 1, got -1"),
        (lambda: SPACE.check([[0.5, 0]]), "whole numbers"),
        (lambda: SPACE.check([[math.nan, 0]]), "got nan"),
        (lambda: SPACE.check([["disc", 0]]), "are numbers"),
        (lambda: SPACE.check([[2**70, 0]]), "are numbers"),
        (lambda: MIXED.check([[0.5, 0.5]]), "whole numbers; factor 'shape'"),
        (lambda: MIXED.check([[0, math.nan]]), "factor 'x' goes from 0.0 to 1.0, got nan"),
        (lambda: FactorSpace.from_json("{"), "this is not JSON"),
        (lambda: FactorSpace.from_json("[" * 100_000), "this is not JSON"),
        (lambda: FactorSpace.from_json("[1]"), "not the description of a factor space"),
        (lambda: FactorSpace.from_json('{"factors": [{"levels": [1]}]}'), "not the description of a factor space"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_sentence(call: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_name_shows_what_there_is() -> None:
    assert str(unknown("study", "zzz", [])) == "unknown study 'zzz'; there are none."
    many = str(unknown("factor", "zzz", [f"factor {i}" for i in range(20)]))
    assert "factor 11 …" in many
    assert "factor 12" not in many
    assert len(str(unknown("factor", "z" * 5000, ["a"]))) < 200


@pytest.mark.parametrize(
    ("levels", "listed"),
    [
        (["100C", "20C", "40C"], ["20C", "40C", "100C"]),
        (["0.25 mg", "0.5 mg", "10 mg"], ["0.25 mg", "0.5 mg", "10 mg"]),
        (["M10", "M2", "N1"], ["M2", "M10", "N1"]),
        (["b", "a1", "a"], ["b", "a1", "a"]),
        ([3, 1], [3, 1]),
    ],
)
def test_levels_are_listed_by_the_numbers_in_them(levels: list[Any], listed: list[Any]) -> None:
    assert [levels[i] for i in in_order(levels)] == listed
