"""Criteria judged on evidence made by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from recombine.measures import interval
from recombine.studies import Claim, Evidence, Order, Sign, Value
from recombine.studies.claims import Criterion

KEYS = ["id", "sentence", "criterion", "published", "measured", "low", "high", "members", "status"]


def judge(criterion: Criterion, evidence: Evidence, published: float | None = None) -> Any:
    claim = Claim("an-id", "A sentence.", criterion, lambda tables: evidence, published)
    return claim.evaluate({})


def test_the_json_of_a_claim_has_exactly_the_keys_of_the_issue() -> None:
    result = judge(Sign("above", 0.5), Evidence.of([0.8, 0.9, 1.0]), published=0.75)
    data = result.to_dict()
    assert list(data) == KEYS
    expected = interval([0.8, 0.9, 1.0])
    assert data == {
        "id": "an-id",
        "sentence": "A sentence.",
        "criterion": "sign: the interval lies above 0.5",
        "published": 0.75,
        "measured": expected.mean,
        "low": expected.low,
        "high": expected.high,
        "members": 3,
        "status": "holds",
    }
    assert {type(data[k]) for k in ("measured", "low", "high")} == {float}


@pytest.mark.parametrize(
    ("criterion", "values", "status"),
    [
        (Sign("above"), [1.0, 1.1, 0.9], "holds"),
        (Sign("above"), [1.0, -1.1, 0.2], "fails"),
        (Sign("above"), [-1.0, -1.1, -0.9], "fails"),
        (Sign("above", 0.95), [1.0, 1.1, 0.9], "fails"),
        (Sign("below"), [-1.0, -1.1, -0.9], "holds"),
        (Sign("below", -2.0), [-1.0, -1.1, -0.9], "fails"),
        (Sign("above"), [0.0, 0.0, 0.0], "fails"),
        (Sign("above"), [1.0], "fails"),
    ],
)
def test_sign(criterion: Sign, values: list[float], status: str) -> None:
    assert judge(criterion, Evidence.of(values)).status == status


def test_sign_looks_at_the_interval_not_at_the_mean() -> None:
    values = [0.1, 2.0, -0.2, 1.5]
    assert np.mean(values) > 0
    assert judge(Sign("above"), Evidence.of(values)).status == "fails"
    assert judge(Sign("above"), Evidence.of(values * 8)).status == "holds"


def test_order_of_paired_members_takes_differences_by_member() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(size=10) * 100
    better = base + 1 + 0.1 * rng.normal(size=10)
    paired = judge(Order(("low", "high")), Evidence.of(base, better, paired=True))
    assert paired.status == "holds"
    assert paired.figure == interval(better - base)
    unpaired = judge(Order(("low", "high")), Evidence.of(base, better))
    assert unpaired.status == "fails"
    welch = stats.ttest_ind(better, base, equal_var=False).confidence_interval(0.95)
    assert (unpaired.figure.low, unpaired.figure.high) == pytest.approx((welch.low, welch.high))
    assert unpaired.figure.mean == pytest.approx(paired.figure.mean)


def test_welch_by_hand() -> None:
    a, b = np.array([1.0, 2.0, 3.0]), np.array([10.0, 14.0])
    va, vb = 1 / 3, 8 / 2
    freedom = (va + vb) ** 2 / (va**2 / 2 + vb**2 / 1)
    half = stats.t.ppf(0.975, freedom) * math.sqrt(va + vb)
    figure = judge(Order(("a", "b")), Evidence.of(a, b, members=3)).figure
    assert (figure.mean, figure.low, figure.high) == pytest.approx((10, 10 - half, 10 + half))


def test_the_figure_of_an_order_is_its_weakest_step() -> None:
    steps = Evidence.of([0.0, 0.1], [5.0, 5.1], [6.0, 6.2], [90.0, 90.1], paired=True)
    result = judge(Order(("a", "b", "c", "d")), steps)
    assert result.figure.mean == pytest.approx(1.05)
    assert str(result.claim.criterion) == "order: a < b < c < d"
    reverse = Evidence.of(*steps.groups[::-1], paired=True)
    assert judge(Order(("d", "c", "b", "a")), reverse).status == "fails"


def test_a_step_without_interval_decides_an_order() -> None:
    few = Evidence(((0.0, 0.1, 0.2), (5.0, 5.1, 5.2), (6.0,)), asked=(1, 1, 1))
    result = judge(Order(("a", "b", "c")), few)
    assert math.isnan(result.figure.low)
    assert result.status == "fails"
    first = Evidence(((6.0,), (7.0, 7.1), (9.0, 9.1)), asked=(1, 1, 1))
    assert judge(Order(("a", "b", "c")), first).status == "fails"


def test_groups_without_spread() -> None:
    assert judge(Order(("a", "b")), Evidence.of([1, 1], [2, 2])).status == "holds"
    assert judge(Order(("a", "b")), Evidence.of([1, 1], [1, 1])).status == "fails"


@pytest.mark.parametrize(
    ("values", "published", "tolerance", "status"),
    [
        ([0.99, 1.0, 1.01], 1.02, 0.05, "holds"),
        ([0.99, 1.0, 1.01], 1.20, 0.05, "fails"),
        ([0.5, 1.0, 1.5], 1.0, 0.05, "fails"),  # right on average, but the interval is far too wide to say so
        ([1.0], 1.0, 0.05, "fails"),
    ],
)
def test_value(values: list[float], published: float, tolerance: float, status: str) -> None:
    assert judge(Value(tolerance), Evidence.of(values), published).status == status


def test_value_needs_a_published_figure() -> None:
    with pytest.raises(ValueError, match="published"):
        judge(Value(0.1), Evidence.of([1.0, 1.0]))


@pytest.mark.parametrize(
    ("fitted", "members", "status"),
    [
        (10, 10, "holds"),
        (8, 10, "holds"),
        (7, 10, "not fitted"),
        (0, 10, "not fitted"),
        (0, 0, "not fitted"),
        (1, 2, "not fitted"),
    ],
)
def test_too_few_fitted_members_are_not_a_failure(fitted: int, members: int, status: str) -> None:
    values = [1 + 0.01 * i for i in range(fitted)]
    result = judge(Sign("above"), Evidence.of(values, members=members))
    assert (result.status, result.fitted, result.members) == (status, fitted, members)
    data = result.to_dict()
    assert data["members"] == members
    if not fitted:
        assert (data["measured"], data["low"], data["high"]) == (None, None, None)


def test_the_smallest_group_says_how_many_fitted() -> None:
    assert judge(Order(("a", "b")), Evidence.of([1.0] * 10, [2.0] * 3)).status == "not fitted"


def test_a_large_group_of_which_few_fitted_is_not_hidden_by_a_small_one() -> None:
    few, many = [2.0, 2.1, 2.0, 2.1, 2.0, 2.1], [1.0, 1.1, 1.0, 1.1, 1.0, 1.1]
    assert judge(Order(("a", "b")), Evidence.of(many, few, members=[6, 6])).status == "holds"
    hidden = judge(Order(("a", "b")), Evidence.of(many, few, members=[24, 6]))
    assert (hidden.status, hidden.fitted, hidden.members) == ("not fitted", 6, 24)
    whole = judge(Order(("a", "b")), Evidence.of(many * 4, few, members=[24, 6]))
    assert (whole.status, whole.fitted, whole.members) == ("holds", 6, 6)
    none = judge(Order(("a", "b")), Evidence.of([], few, members=[0, 6]))
    assert (none.status, none.members, none.to_dict()["measured"]) == ("not fitted", 0, None)


def test_paired_groups_are_as_long_as_each_other() -> None:
    with pytest.raises(ValueError, match="paired groups have one value a member"):
        Evidence.of([1.0], [1.0, 2.0], paired=True)
    with pytest.raises(ValueError, match="2 groups need as many numbers of members"):
        Evidence.of([1.0], [2.0], members=[1])


def test_members_that_are_counted_have_the_interval_of_a_share() -> None:
    some = judge(Sign("above"), Evidence.of([1.0, 1.0, 0.0], counted=True))
    assert some.status == "holds"
    assert (some.figure.low, some.figure.high) == pytest.approx((0.094299, 0.991596), abs=1e-6)
    assert judge(Sign("above"), Evidence.of([0.0] * 3, counted=True)).status == "fails"
    # Three alike are no proof that all are.
    assert judge(Sign("above", 0.5), Evidence.of([1.0] * 3, counted=True)).status == "fails"
    assert judge(Sign("above", 0.5), Evidence.of([1.0] * 8, counted=True)).status == "holds"


def test_the_interval_of_a_correlation_ends_where_correlations_do() -> None:
    values = [0.2, 0.9, 1.0]
    cut = Sign("above", 0.5).figure(Evidence.of(values, limits=(-1.0, 1.0)))
    whole = interval(values)
    assert whole.high > 1.3
    assert (cut.mean, cut.low, cut.high) == (whole.mean, whole.low, 1.0)
    alone = Sign("above").figure(Evidence.of([0.9], limits=(-1.0, 1.0)))
    assert math.isnan(alone.low)
    assert math.isnan(alone.high)


def test_groups_without_spread_but_for_rounding() -> None:
    """Their variance is no exact zero, and nothing may be warned of."""
    assert np.std([0.1] * 3) > 0
    result = judge(Order(("a", "b")), Evidence.of([0.1] * 3, [0.7] * 3))
    assert result.status == "holds"
    assert (result.figure.low, result.figure.high) == pytest.approx((0.6, 0.6))


def test_values_that_are_not_finite_are_never_judged() -> None:
    with pytest.raises(ValueError, match="diverged members must be set aside"):
        judge(Sign("above"), Evidence.of([1.0, math.inf]))


def test_evidence_comes_from_the_tables_alone() -> None:
    table = pl.DataFrame({"x": [1.0, 2.0, 3.0]})
    claim = Claim("c", "s", Sign("above"), lambda tables: Evidence.of(tables["t"]["x"]))
    assert claim.evaluate({"t": table}).figure == interval([1, 2, 3])
