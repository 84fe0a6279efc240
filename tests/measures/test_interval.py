"""Intervals over members: t for few, a bootstrap for many, never of something that is not finite."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from recombine.measures import interval, summarise
from recombine.measures.interval import share_interval, shares_apart

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=15)


@given(NUMBERS, st.sampled_from([0.9, 0.95, 0.99]))
@settings(max_examples=50)
def test_few_members_have_scipys_t_interval(values: list[float], level: float) -> None:
    figure = interval(values, level)
    error = stats.sem(values)
    assert figure.mean == pytest.approx(np.mean(values))
    assert figure.values == tuple(values)
    assert figure.members == len(values)
    if error == 0:
        assert figure.low == figure.mean == figure.high
    else:
        low, high = stats.t.interval(level, len(values) - 1, loc=np.mean(values), scale=error)
        assert (figure.low, figure.high) == pytest.approx((low, high), rel=1e-9, abs=1e-9)


def test_three_members_by_hand() -> None:
    figure = interval([1, 2, 3])
    assert figure.mean == 2
    assert figure.high - 2 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)  # t(0.975; 2) = 4.302653, sd = 1


def test_many_members_have_a_bootstrap() -> None:
    values = np.random.default_rng(1).exponential(size=200)
    figure = interval(values)
    low, high = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=4000, rng=np.random.default_rng(9)
    ).confidence_interval
    width = high - low
    assert abs(figure.low - low) < 0.06 * width
    assert abs(figure.high - high) < 0.06 * width
    assert figure == interval(values)
    assert interval(values, seed=1).low != figure.low
    assert abs(interval(values, seed=1).low - figure.low) < 0.06 * width


def test_where_one_method_ends_the_other_begins() -> None:
    values = np.random.default_rng(0).normal(size=16)
    t = stats.t.interval(0.95, 14, loc=values[:-1].mean(), scale=stats.sem(values[:-1]))
    assert interval(values[:-1]).low == pytest.approx(t[0])
    wrong = stats.t.interval(0.95, 15, loc=values.mean(), scale=stats.sem(values))
    assert abs(interval(values).low - wrong[0]) > 1e-3


def test_the_t_interval_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(4)
    covered = [(f := interval(rng.normal(size=5))).low <= 0 <= f.high for _ in range(1000)]
    assert abs(np.mean(covered) - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 1000)


def test_one_member_and_none() -> None:
    one, none = interval([3.5]), interval([])
    assert (one.mean, one.members) == (3.5, 1)
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    assert math.isnan(none.mean)
    assert none.members == 0
    assert str(interval([1.0, 2.0])) == "1.5 [-4.85, 7.85], 2 members"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("count", [1, 3, 40])
def test_what_is_not_finite_is_never_averaged(bad: float, count: int) -> None:
    with pytest.raises(ValueError, match="diverged members must be set aside"):
        interval([0.5] * count + [bad])


def test_one_value_a_member() -> None:
    with pytest.raises(ValueError, match="one value a member"):
        interval(np.zeros((3, 2)))


def test_a_summary_has_a_row_for_each_group_and_leaves_out_what_diverged() -> None:
    table = pl.DataFrame(
        {
            "setting": ["b"] * 4 + ["a"] * 3,
            "step": [0, 0, 1, 1, 0, 0, 0],
            "value": [1.0, 3.0, 5.0, math.nan, 1.0, None, 2.0],
        }
    )
    got = summarise(table, "value", ["setting", "step"])
    assert got.columns == ["setting", "step", "mean", "low", "high", "members"]
    assert got.rows()[0][:3] == ("b", 0, 2.0)
    assert got["members"].to_list() == [2, 1, 2]
    assert got["mean"].to_list() == [2, 5, 1.5]
    expected = interval([1.0, 3.0])
    assert (got["low"][0], got["high"][0]) == (expected.low, expected.high)


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [
        (2, 3, 0.094299, 0.991596),
        (1, 2, 0.012579, 0.987421),
        (5, 10, 0.187086, 0.812914),
        (0, 3, 0.0, 1 - 0.025 ** (1 / 3)),
        (3, 3, 0.025 ** (1 / 3), 1.0),
        (0, 1, 0.0, 0.975),
    ],
)
def test_a_share_of_few_members_has_the_exact_interval(hits: int, count: int, low: float, high: float) -> None:
    figure = share_interval([1.0] * hits + [0.0] * (count - hits))
    assert (figure.mean, figure.low, figure.high) == pytest.approx((hits / count, low, high), abs=1e-6)
    assert figure.members == count


@given(st.integers(1, 40), st.data())
def test_the_interval_of_a_share_is_scipys_and_never_a_point(count: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, count))
    figure = share_interval([1.0] * hits + [0.0] * (count - hits))
    exact = stats.binomtest(hits, count).proportion_ci(0.95, method="exact")
    assert (figure.low, figure.high) == pytest.approx((exact.low, exact.high))
    assert 0 <= figure.low <= figure.mean <= figure.high <= 1
    assert figure.low < figure.high


def test_a_share_is_of_zeros_and_ones() -> None:
    assert math.isnan(share_interval([]).mean)
    for bad in ([0.5, 1.0], [math.nan, 0.0], [[0.0, 1.0]]):
        with pytest.raises(ValueError, match="one 0 or 1 a member"):
            share_interval(bad)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((10, 10), (0, 20), (0.6791, 1.0)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
    ],
)
def test_the_difference_of_two_shares_has_newcombes_interval(
    first: tuple[int, int], second: tuple[int, int], expected: tuple[float, float]
) -> None:
    """Method 10 of his table II (Statistics in Medicine 17, 1998)."""
    found = shares_apart(first[0] / first[1], first[1], second[0] / second[1], second[1])
    assert found == pytest.approx(expected, abs=5e-5)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 500), st.integers(1, 500), st.floats(0, 0.5))
@settings(max_examples=100)
def test_shares_below_the_least_count_as_the_least(
    first: float, second: float, count: int, other: int, least: float
) -> None:
    low, high = shares_apart(first, count, second, other, least)
    apart = max(first, least) - max(second, least)
    assert -1 + least - 1e-9 <= low <= apart + 1e-9
    assert apart - 1e-9 <= high <= 1 - least + 1e-9


def test_the_interval_of_a_difference_covers_it() -> None:
    rng = np.random.default_rng(0)
    drawn = rng.binomial(60, (0.3, 0.8), size=(2000, 2)) / 60
    inside = [low <= -0.5 <= high for low, high in (shares_apart(a, 60, b, 60) for a, b in drawn)]
    assert 0.93 < np.mean(inside) < 0.98
