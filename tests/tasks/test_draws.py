"""Random numbers by address: the same whoever asks, independent by purpose, uniform, and never silently other."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings, strategies as st

from recombine.tasks import Draws
from recombine.tasks.draws import key

MASK = (1 << 64) - 1

GOLDEN_KEY = 1942213764164467922
GOLDEN_BITS = [-654696650911256038, 1064255786689253183, 1323165377184997729, 1303167173290527767]
GOLDEN_ORDER = [[[1, 5, 0, 4], [1, 0, 3, 2]], [[0, 3, 1, 4], [2, 5, 3, 4]]]
GOLDEN_NORMAL = [0.5603852035232614, 1.3316394379587175, -0.18352940012037505, -2.747545003485904]


def splitmix64(state: int) -> int:
    """Steele, Lea and Flood 2014, as published: add gamma, then mix."""
    z = (state + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def test_a_stream_is_splitmix64_started_at_its_key() -> None:
    state, expected = key(7, "evaluation"), []
    for _ in range(50):
        expected.append(splitmix64(state))
        state = (state + 0x9E3779B97F4A7C15) & MASK
    assert [b & MASK for b in Draws.single(7).bits((50,)).tolist()] == expected
    assert splitmix64(1234567) == 6457827717110365317  # the first output of the reference implementation


def test_golden_values() -> None:
    """These numbers are in every stored run: should they ever change, descriptions must change their version."""
    assert key(0, 3, "init") == GOLDEN_KEY
    draws = Draws.of([0, 5], range(2, 4), seed=1)
    assert draws("noise").bits((2, 2, 1)).flatten().tolist() == GOLDEN_BITS
    assert draws("order").shuffled(6, 4).tolist() == GOLDEN_ORDER
    assert draws("z").normal((2, 2, 1), torch.float64).flatten().tolist() == pytest.approx(GOLDEN_NORMAL, rel=1e-14)


@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=5, unique=True), st.integers(0, 10**6), st.integers(1, 4),
    st.integers(-(2**63), 2**63 - 1), st.integers(1, 7),
)  # fmt: skip
@settings(max_examples=40)
def test_an_address_has_one_number_whatever_is_drawn_beside_it(
    members: list[int], first: int, count: int, seed: int, size: int
) -> None:
    block = Draws.of(members, range(first, first + count), seed)("noise")
    whole = block.uniform((count, len(members), size))
    for i, member in enumerate(members):
        for s in range(count):
            alone = Draws.of([member], range(first + s, first + s + 1), seed)("noise")
            assert torch.equal(alone.uniform((1, 1, size))[0, 0], whole[s, i])
            assert torch.equal(alone.uniform((1, 1, size + 3))[0, 0, :size], whole[s, i])
            assert torch.equal(
                alone.uniform((1, 1, size, 2)).flatten()[: 2 * size], alone.uniform((1, 1, 2 * size)).flatten()
            )
    assert whole.min() >= 0
    assert whole.max() < 1


@given(st.integers(1, 40), st.integers(1, 50), st.integers(0, 30), st.integers(1, 5))
@settings(max_examples=60)
def test_shuffled_visits_each_position_once_an_epoch(count: int, size: int, first: int, members: int) -> None:
    steps = -(-3 * count // size) + 1
    order = Draws.of(range(members), range(first, first + steps), seed=2)("order").shuffled(count, size)
    assert order.shape == (steps, members, size)
    start = first * size
    for i in range(members):
        visited = order[:, i].flatten().tolist()
        skip = -start % count  # up to the first epoch that begins within these steps
        epochs = [visited[at : at + count] for at in range(skip, len(visited) - count + 1, count)]
        assert len(epochs) >= 1
        assert all(sorted(epoch) == list(range(count)) for epoch in epochs)
    one = Draws.of([members - 1], range(first + 1, first + 2), seed=2)("order").shuffled(count, size)
    assert torch.equal(one[0, 0], order[1, members - 1]) if steps > 1 else True


def test_epochs_are_shuffled_anew_and_evenly() -> None:
    order = Draws.of(range(600), range(4), seed=0)("order").shuffled(4, 4)
    assert order.shape == (4, 600, 4)
    assert not torch.equal(order[0], order[1])
    permutations = Counter(tuple(row) for row in order.reshape(-1, 4).tolist())
    assert len(permutations) == 24
    assert sum((n - 100) ** 2 / 100 for n in permutations.values()) < 49.7  # 99.9 % point of χ², 23 degrees


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_uniform_numbers_are_uniform_and_below_one(dtype: torch.dtype) -> None:
    drawn = Draws.single(11)("u").uniform((40_000,), dtype)
    assert drawn.dtype == dtype
    assert drawn.max() < 1
    assert drawn.min() >= 0
    counts = torch.histc(drawn.float(), bins=16, min=0, max=1)
    assert float(((counts - 2500) ** 2 / 2500).sum()) < 37.7  # 99.9 % point of χ² with 15 degrees of freedom


@pytest.mark.parametrize("high", [1, 3, 7, 1000])
def test_integers_are_uniform_below_their_bound(high: int) -> None:
    drawn = Draws.single(5)("i").integers(high, (20 * high + 20_000,))
    counts = torch.bincount(drawn, minlength=high).double()
    assert counts.shape == (high,)
    expected = len(drawn) / high
    chi = float(((counts - expected) ** 2 / expected).sum())
    assert chi < high - 1 + 4 * math.sqrt(2 * max(high - 1, 1)) + 10


def test_normal_numbers_have_the_moments_of_a_normal() -> None:
    drawn = Draws.single(3).normal((100_000,), torch.float64)
    error = 1 / math.sqrt(len(drawn))
    assert abs(float(drawn.mean())) < 4 * error
    assert abs(float(drawn.var()) - 1) < 4 * math.sqrt(2) * error
    assert abs(float((drawn**4).mean()) - 3) < 4 * math.sqrt(96) * error
    assert torch.isfinite(drawn).all()


def test_streams_of_other_purposes_members_steps_and_seeds_are_uncorrelated() -> None:
    block = Draws.of([0, 1], range(2), seed=0)
    shape = (2, 2, 20_000)
    streams = [
        *block("a").uniform(shape, torch.float64).flatten(0, 1),
        *block("b").uniform(shape, torch.float64).flatten(0, 1),
    ]
    streams += list(Draws.of([0, 1], range(2), seed=1)("a").uniform(shape, torch.float64).flatten(0, 1))
    streams += [
        block("a")("b").uniform(shape, torch.float64)[0, 0],
        block("b")("a").uniform(shape, torch.float64)[0, 0],
    ]
    table = torch.corrcoef(torch.stack(streams))
    table.fill_diagonal_(0)
    assert float(table.abs().max()) < 5 / math.sqrt(20_000)


def test_a_shape_that_does_not_begin_with_the_streams_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"must begin with \(2, 3\)"):
        Draws.of([0, 1, 2], range(2), seed=0).uniform((3, 2, 4))


def test_keys_of_other_addresses_differ() -> None:
    keys = {key(s, m, p) for s in range(10) for m in range(10) for p in ("init", "data", "inside")}
    assert len(keys) == 300
    assert key(1, 2) != key(2, 1)
    assert key("a", 1) != key(1, "a")
    assert key(-1) == key(MASK)
