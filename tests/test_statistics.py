"""Intervals, rank correlations and tests: exact answers, then scipy's, then how often they cover."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import spearmanr

from recombine.errors import InputError
from recombine.statistics import (
    Interval,
    by_base,
    crossed_interval,
    difference,
    handed_out,
    interval,
    jackknife,
    jackknife_spearman,
    more_often,
    over_combinations,
    over_examples,
    partial_spearman,
    share_interval,
    shares_apart,
    sign_flip,
    spearman,
    summarise,
    wild_cluster,
)

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=15)
WHOLE = st.lists(st.integers(-5, 5), min_size=4, max_size=20)


def test_three_members_by_hand() -> None:
    figure = interval([1, 2, 3])
    assert figure.mean == 2
    assert figure.high - 2 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)  # t(0.975; 2) = 4.302653, sd = 1


def test_values_that_share_rows_and_columns_are_no_more_than_these() -> None:
    """Values that depend on the row alone are as many as there are rows; those in rows and columns of their own, as
    many as there are."""
    places = [(row, column) for row in range(3) for column in range(7)]
    of_rows, rows = crossed_interval([float(row) for row, _ in places], places), interval([0, 1, 2])
    assert (of_rows.low, of_rows.high) == pytest.approx((rows.low, rows.high))
    of_columns = crossed_interval([float(row) for row, _ in places], [place[::-1] for place in places])
    assert (of_columns.low, of_columns.high) == pytest.approx((rows.low, rows.high))
    values = [0.0, 1.0, 5.0, 2.0]
    apart, alone = crossed_interval(values, [(i, i) for i in range(4)]), interval(values)
    assert (apart.low, apart.high) == pytest.approx((alone.low, alone.high))
    assert math.isnan(crossed_interval(values, [(0, i) for i in range(4)]).low)
    assert math.isnan(crossed_interval([], []).mean)


@pytest.mark.parametrize("spread", [(0.3, 0.1), (0.1, 0.3), (0.2, 0.0)])
def test_how_often_an_interval_over_rows_and_columns_covers(spread: tuple[float, float]) -> None:
    """6 × 16 values with effects of rows, columns and cells; 400 draws have a standard error of .011."""
    rng, held = np.random.default_rng(1), 0
    places = [(row, column) for row in range(6) for column in range(16)]
    for _ in range(400):
        rows, columns = spread[0] * rng.normal(size=(6, 1)), spread[1] * rng.normal(size=(1, 16))
        found = crossed_interval((rows + columns + 0.2 * rng.normal(size=(6, 16))).flatten(), places)
        held += found.low < 0 < found.high
    assert 0.91 < held / 400 < 0.995


def test_what_an_interval_says_of_itself() -> None:
    few = Interval(0.5, -0.1, 1.2, over="examples", count=1)
    assert (str(few), few.whom) == ("0.5 [-0.1, 1.2], 1 example", "1 example")
    assert (few.within(0, 1).low, few.within(0, 1).high) == (0, 1)
    alone = Interval(0.5, values=(0.5,))
    assert (str(alone), alone.count, alone.bounded, alone.within(0, 0)) == ("0.5", 1, False, alone)
    assert alone.to_dict() == {"mean": 0.5, "low": None, "high": None, "over": "members", "count": 1}


def test_a_difference_is_welchs_or_by_member() -> None:
    a, b = np.array([1.0, 2.0, 3.0]), np.array([10.0, 14.0])
    found, wanted = difference(a, b), stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert (found.mean, found.low, found.high) == pytest.approx((10, wanted.low, wanted.high))
    assert found.count == 5
    assert difference(a, a * 2, paired=True) == interval([1, 2, 3])
    assert not difference([1.0], b).bounded
    point = difference([1.0, 1.0], [2.0, 2.0])
    assert (point.low, point.high) == (1, 1)


def test_answers_handed_out_at_random_are_counted_where_they_do_as_well() -> None:
    assert handed_out(np.ones((5, 5))) == 1.0
    halves = np.kron(np.eye(2), np.ones((4, 4)))  # Eight rows and two answers: one in 2^8 draws has them all.
    assert handed_out(halves) == pytest.approx(2**-8, rel=0.4)
    assert handed_out(halves, seed=1) == handed_out(halves, seed=1)


@given(NUMBERS, st.sampled_from([0.9, 0.95, 0.99]))
@settings(max_examples=50)
def test_few_members_have_scipys_t_interval(values: list[float], level: float) -> None:
    figure = interval(values, level)
    error = stats.sem(values)
    assert figure.mean == pytest.approx(np.mean(values))
    assert figure.values == tuple(values)
    assert figure.count == len(values)
    if error == 0:
        assert figure.low == figure.mean == figure.high
    else:
        low, high = stats.t.interval(level, len(values) - 1, loc=np.mean(values), scale=error)
        assert (figure.low, figure.high) == pytest.approx((low, high), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("members", [5, 20])
def test_the_t_interval_covers_as_often_as_it_says(members: int) -> None:
    rng = np.random.default_rng(4)
    covered = [(f := interval(rng.normal(size=members))).low <= 0 <= f.high for _ in range(1000)]
    assert abs(np.mean(covered) - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 1000)


def test_one_member_and_none() -> None:
    one, none = interval([3.5]), interval([])
    assert (one.mean, one.count) == (3.5, 1)
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    assert math.isnan(none.mean)
    assert none.count == 0
    assert str(interval([1.0, 2.0])) == "1.5 [-4.85, 7.85], 2 members"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("count", [1, 3, 40])
def test_what_is_not_finite_is_never_averaged(bad: float, count: int) -> None:
    with pytest.raises(ValueError, match="diverged members must be set aside"):
        interval([0.5] * count + [bad])


def test_one_value_a_member() -> None:
    with pytest.raises(ValueError, match="one value per member"):
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
    assert figure.count == count


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
        with pytest.raises(ValueError, match="one 0 or 1 per member"):
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


@pytest.mark.parametrize(
    ("counts", "chance"), [((5, 17, 0, 39), 6188 / 3819816), ((3, 4, 1, 4), 17 / 70), ((0, 4, 2, 4), 1)]
)
def test_so_many_more_hits_of_one_side_have_fishers_chance(counts: tuple[int, int, int, int], chance: float) -> None:
    """The second: his lady tasting tea."""
    assert more_often(*counts) == pytest.approx(chance)


def test_the_interval_of_a_difference_covers_it() -> None:
    rng = np.random.default_rng(0)
    drawn = rng.binomial(60, (0.3, 0.8), size=(2000, 2)) / 60
    inside = [low <= -0.5 <= high for low, high in (shares_apart(a, 60, b, 60) for a, b in drawn)]
    assert 0.93 < np.mean(inside) < 0.98


@pytest.mark.parametrize("members", [1, 3, 9])
def test_many_draws_at_once_are_those_one_by_one(members: int) -> None:
    """To the last bit, with values that are not finite too."""
    rng = np.random.default_rng(0)
    part, whole = rng.random((members, 40)), rng.random((members, 40))
    whole[0, 3] = -60.0

    def ratio(rows):
        sums = whole[:, rows].sum(axis=-1)
        return part[:, rows].sum(axis=-1) / np.where(sums > 0, sums, np.nan)

    one, many = (over_combinations(ratio, [40], at_once=at_once) for at_once in (False, True))
    assert math.isnan(one.mean)
    assert math.isnan(many.mean)
    whole[0, 3] = -15.0
    one, many = (over_combinations(ratio, [40], at_once=at_once) for at_once in (False, True))
    assert (one.mean, one.low, one.high) == (many.mean, many.low, many.high)
    assert one.bounded


def test_intervals_over_combinations() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1, 10))
    mean = over_combinations(lambda rows: values[:, rows].mean(axis=1), [10])
    half = 2.262157 * values.std(ddof=1) / np.sqrt(10)
    assert mean.low == pytest.approx(values.mean() - half, rel=1e-6)
    assert over_combinations(lambda rows: values[:, rows].mean(axis=1), [1]).bounded is False
    many = rng.normal(size=(1, 400))
    found = over_combinations(lambda rows: many[:, rows].mean(axis=1), [400])
    assert found.high - found.low == pytest.approx(2 * 1.96 / 20, rel=0.2)
    one = over_examples([np.array([0.0])], [np.array([100])])
    assert one.high > 0


def test_signs_of_few_bases_are_all_counted() -> None:
    assert sign_flip([-0.5, -0.4, -0.6]) == pytest.approx(0.25)
    assert sign_flip([-0.5] * 6) == pytest.approx(2 / 64)
    assert sign_flip([0.3, -0.3]) == 1.0
    assert sign_flip(np.full(20, 0.2)) < 0.01
    assert sign_flip(np.full(20, 0.2)) == sign_flip(np.full(20, 0.2))


def test_masks_of_one_base_count_once() -> None:
    values, bases = [-0.2, -0.4, -0.6, -0.6], [0, 0, 1, 1]
    assert by_base(values, bases).tolist() == pytest.approx([-0.3, -0.6])
    # However many masks three bases have, the smallest p is a quarter.
    assert wild_cluster(np.repeat([-0.5, -0.4, -0.6], 50), np.repeat([0, 1, 2], 50)) >= 0.25 - 1e-9
    assert wild_cluster(np.repeat([-0.5, -0.45, -0.55] * 3, 5), np.repeat(np.arange(9), 5)) < 0.02
    assert wild_cluster([0.1, 0.2], [0, 0]) == 1.0
    assert wild_cluster([0.0, 0.0], [0, 1]) == 1.0
    assert wild_cluster([0.1, 0.1], [0, 1]) == 0.5
    with pytest.raises(InputError, match="one value and one base"):
        by_base([1.0], [0, 1])


@given(WHOLE, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_spearman_is_scipys_where_both_sides_vary(first: list[int], random: object) -> None:
    second = list(first)
    random.shuffle(second)  # type: ignore[attr-defined]
    found = spearman(first, second)
    if len(set(first)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(float(spearmanr(first, second).statistic))


def test_two_pairs_have_no_order() -> None:
    assert spearman([1, 2], [1, 2]) is None
    assert spearman([1, 2, 3], [10, 20, 15]) == pytest.approx(0.5)


def test_a_partial_correlation_is_what_the_formula_says() -> None:
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 40))
    ab, ac, bc = (float(spearman(*pair) or 0) for pair in ((a, b), (a, c), (b, c)))
    wanted = (ab - ac * bc) / np.sqrt((1 - ac**2) * (1 - bc**2))
    assert partial_spearman(a, b, c) == pytest.approx(wanted)
    assert partial_spearman(a, b, np.column_stack([c, c])) == pytest.approx(wanted)


def test_what_is_given_leaves_nothing_of_itself() -> None:
    assert partial_spearman([1, 2, 3, 4], [4, 1, 3, 2], [10, 20, 30, 40]) is None


def test_pseudo_values_of_a_mean_are_its_values() -> None:
    values = np.array([1.0, 4.0, 7.0, 12.0])
    found = jackknife(lambda rows: float(values[rows].mean()), list("abcd"))
    assert found == pytest.approx(dict(zip("abcd", values, strict=True)))


def test_pseudo_values_keep_settings_together_and_have_the_figure_as_their_mean() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 30))
    names = [i // 5 for i in range(30)]
    found = jackknife(lambda rows: spearman(first[rows], second[rows]), names)
    assert found is not None
    assert list(found) == list(range(6))
    assert np.mean(list(found.values())) == pytest.approx(float(spearmanr(first, second).statistic))
    assert jackknife(lambda rows: spearman(first[rows], second[rows]), [i // 15 for i in range(30)]) is None
    assert jackknife(lambda rows: None, names) is None


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_many_settings_at_once_are_each_of_them(seed: int) -> None:
    """Ties, constant columns, what is given twice, and what leaves nothing of the other side."""
    rng = np.random.default_rng(seed)
    n, held, levels = int(rng.integers(3, 15)), int(rng.integers(0, 4)), int(rng.integers(1, 6))
    columns = rng.integers(levels, size=(n, 2 + held)).astype(float)
    columns[:, held] += rng.normal(size=n) * rng.integers(2)
    first, second, also = columns[:, 0], columns[:, 1], columns[:, [*range(2, 2 + held), -1]] if held else None
    names = rng.integers(rng.integers(2, n + 1), size=n).tolist()

    def rho(rows: NDArray[np.int64]) -> float | None:
        if also is None:
            return spearman(first[rows], second[rows])
        return partial_spearman(first[rows], second[rows], also[rows])

    each, at_once = jackknife(rho, names), jackknife_spearman(first, second, names, also)
    assert (each is None) == (at_once is None)
    assert at_once == (each and pytest.approx(each))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recombine.statistics.ranks.MOST", 2 * n)  # in several pieces
        assert jackknife_spearman(first, second, names, also) == at_once


def test_the_interval_covers_a_planted_correlation_where_networks_as_such_do_not() -> None:
    """Nothing but the setting decides both numbers, so eight networks of a setting are one."""
    rng = np.random.default_rng(2)
    settings_, networks, draws = 7, 8, 60
    names = np.repeat(np.arange(settings_), networks)
    covered = {"settings": 0, "networks": 0}
    for _ in range(draws):
        a, b = (rng.normal(size=settings_)[names] + 0.1 * rng.normal(size=len(names)) for _ in range(2))

        def rho(rows: object, a: object = a, b: object = b) -> float | None:
            return spearman(a[rows], b[rows])  # type: ignore[index]

        for what, of in (("settings", names.tolist()), ("networks", list(range(len(names))))):
            values = jackknife(rho, of)
            assert values is not None
            figure = interval(list(values.values()))
            covered[what] += figure.low <= 0 <= figure.high
    assert covered["settings"] >= 0.8 * draws
    assert covered["networks"] <= 0.6 * draws
