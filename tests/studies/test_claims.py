"""Criteria judged on evidence made by hand, and what the ledger says of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from recombine.statistics import interval
from recombine.studies import Claim, Published, Shares, cells, rising
from recombine.studies.claims import Evidence, Order, Sign, Test, Value

KEYS = ["id", "sentence", "whose", "criterion", "nothing", "published", "published_in", "measured", "low", "high",
        "unit", "over", "fitted", "members", "everyone", "shares", "status", "how"]  # fmt: skip


def table(*groups: Sequence[float], members: int | Sequence[int] | None = None) -> dict[str, pl.DataFrame]:
    """One run per group; the members up to the number that there were have not fitted."""
    asked = [len(g) if members is None else members if isinstance(members, int) else members[i]
             for i, g in enumerate(groups)]  # fmt: skip
    rows = [
        {"run": "abcd"[i], "member": m, "x": float(group[m]) if m < len(group) else 0.0, "fitted": m < len(group)}
        for i, group in enumerate(groups)
        for m in range(asked[i])
    ]
    schema = {"run": pl.String, "member": pl.Int64, "x": pl.Float64, "fitted": pl.Boolean}
    return {"t": pl.DataFrame(rows, schema=schema)}


def judge(test: Test, tables: dict[str, pl.DataFrame], published: float | None = None, steps: float = 1.0) -> Any:
    figure = None if published is None else Published(published, "table 1")
    return Claim("an-id", "A sentence.", test, published=figure).evaluate(tables, {"a": Shares(steps=steps)})


def one(run: str = "a", **more: Any) -> Any:
    return cells("x", "t", run=run, **more)


def above(values: Sequence[float], than: float = 0.0, members: int | None = None) -> Any:
    return judge(one().above(than, nothing=min(0.0, than)), table(values, members=members))


def test_the_json_of_a_claim() -> None:
    data = judge(one().above(0.5, nothing=0.0), table([0.8, 0.9, 1.0]), published=0.75).to_dict()
    assert list(data) == KEYS
    expected = interval([0.8, 0.9, 1.0])
    figures = [expected.mean, expected.low, expected.high]
    assert [data[k] for k in ("measured", "low", "high")] == figures == data["everyone"]
    assert {type(data[k]) for k in ("measured", "low", "high")} == {float}
    assert (data["criterion"], data["nothing"]) == ("sign: the interval lies above 0.5", 0.0)
    assert (data["published"], data["published_in"]) == (0.75, "table 1 (printed in the paper)")
    assert (data["status"], data["how"], data["shares"]) == ("holds", "direction only", {"steps": 1.0})
    assert (data["fitted"], data["members"], data["over"]) == (3, 3, "run, member")


@pytest.mark.parametrize(
    ("side", "than", "values", "status"),
    [
        ("above", 0.0, [1.0, 1.1, 0.9], "holds"),
        ("above", 0.0, [1.0, -1.1, 0.2], "fails"),
        ("above", 0.0, [-1.0, -1.1, -0.9], "fails"),
        ("above", 0.95, [1.0, 1.1, 0.9], "fails"),
        ("below", 0.0, [-1.0, -1.1, -0.9], "holds"),
        ("below", -2.0, [-1.0, -1.1, -0.9], "fails"),
        ("above", 0.0, [0.0, 0.0, 0.0], "fails"),
        ("above", 0.0, [1.0], "not fitted"),  # one member has no interval
    ],
)
def test_sign(side: str, than: float, values: list[float], status: str) -> None:
    assert judge(getattr(one(), side)(than, nothing=0.0), table(values)).status == status


def test_a_test_that_holds_where_nothing_is_going_on_is_refused() -> None:
    with pytest.raises(ValueError, match="say what the figure is where nothing is going on"):
        one().above(0.5)
    with pytest.raises(ValueError, match="it cannot fail"):
        one().above(0.5, nothing=0.7)
    with pytest.raises(ValueError, match="it cannot fail"):
        one().below(0.5, nothing=0.2)
    assert one().above().nothing == 0.0


def test_sign_looks_at_the_interval_not_at_the_mean() -> None:
    values = [0.1, 2.0, -0.2, 1.5]
    assert np.mean(values) > 0
    assert above(values).status == "fails"
    assert above(values * 8).status == "holds"


def test_order_of_paired_members_takes_differences_by_member() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(size=10) * 100
    better = base + 1 + 0.1 * rng.normal(size=10)
    both = table(base.tolist(), better.tolist())
    paired = judge(rising(one("a"), one("b"), names=("low", "high"), pair="member"), both)
    assert paired.status == "holds"
    assert paired.figure == interval(better - base)
    unpaired = judge(rising(one("a"), one("b"), names=("low", "high")), both)
    assert unpaired.status == "fails"
    welch = stats.ttest_ind(better, base, equal_var=False).confidence_interval(0.95)
    assert (unpaired.figure.low, unpaired.figure.high) == pytest.approx((welch.low, welch.high))
    assert judge(one("b").minus(one("a")).above(), both).figure == paired.figure


def test_the_figure_of_an_order_is_its_weakest_step() -> None:
    steps = table([0.0, 0.1], [5.0, 5.1], [6.0, 6.2], [90.0, 90.1])
    result = judge(rising(*map(one, "abcd"), names="abcd", pair="member"), steps)
    assert result.figure.mean == pytest.approx(1.05)
    assert str(result.claim.test.criterion) == "order: a < b < c < d"
    assert judge(rising(*map(one, "dcba"), names="dcba", pair="member"), steps).status == "fails"


def test_a_step_without_interval_decides_an_order() -> None:
    few = Evidence(((0.0, 0.1, 0.2), (5.0, 5.1, 5.2), (6.0,)), asked=(1, 1, 1))
    assert math.isnan(Order(tuple("abc")).figure(few).low)


@pytest.mark.parametrize(
    ("values", "published", "tolerance", "status"),
    [
        ([0.99, 1.0, 1.01], 1.02, 0.05, "holds"),
        ([0.99, 1.0, 1.01], 1.20, 0.05, "fails"),
        ([0.5, 1.0, 1.5], 1.0, 0.05, "open"),  # right on average, but the interval is far too wide to say so
        ([0.5, 1.0, 1.5], 1.8, 0.05, "fails"),  # the mean is off by more, wide as the interval is
        ([0.5, 1.0, 1.5], 3.0, 0.05, "fails"),
        ([1.0], 1.0, 0.05, "not fitted"),
    ],
)
def test_value(values: list[float], published: float, tolerance: float, status: str) -> None:
    assert judge(one().near(tolerance), table(values), published).status == status


@pytest.mark.parametrize(
    ("published", "status"),
    [(None, "fails"), (1.0, "open"), (-0.1, "fails"), (9.0, "fails")],
)
def test_a_direction_is_open_where_the_interval_holds_a_published_figure_that_has_it(
    published: float | None, status: str
) -> None:
    values = table([0.1, 2.0, -0.2, 1.5])
    assert judge(one().below(), values, published).status == "fails"
    assert judge(one().above(), values, published).status == status
    assert judge(rising(one().minus(one()), one(), names="ab"), values, published).status == status


def test_value_needs_a_published_figure() -> None:
    with pytest.raises(ValueError, match="published"):
        judge(one().near(0.1), table([1.0, 1.0]))


@pytest.mark.parametrize(
    ("published", "steps", "how"),
    [(1.0, 1.0, "value matched"), (1.2, 1.0, "within the tolerance"), (1.0, 0.05, "direction only"),
     (None, 1.0, "no published figure")],
)  # fmt: skip
def test_in_which_sense_a_claim_holds(published: float | None, steps: float, how: str) -> None:
    """A value is matched where it was asked for, the interval has it or the tolerance is small beside it, and our runs
    have at least a tenth of the paper's steps."""
    values = table([0.99, 1.0, 1.01])
    test = one().near(0.3, theory=1.0) if published is None else one().near(0.3)
    assert judge(test, values, published, steps).how == how
    assert judge(one().near(0.01), values, 2.0, steps).how is None, "one that fails holds in no sense"


def test_a_sign_or_an_order_is_a_direction_whatever_its_figure() -> None:
    """However wide an interval, it would have a published figure somewhere."""
    assert judge(one().above(), table([0.99, 1.0, 1.01]), 1.0, 1.0).how == "direction only"
    two = rising(one(), one("b"), names=("less", "more"), pair="member")
    result = judge(two, table([0.0, 0.0, 0.0], [0.99, 1.0, 1.01]), 1.0, 1.0)
    assert (result.status, result.how) == ("holds", "direction only")


@pytest.mark.parametrize(
    ("fitted", "members", "status"),
    [(10, 10, "holds"), (8, 10, "holds"), (7, 10, "not fitted"), (0, 10, "not fitted"), (1, 2, "not fitted")],
)
def test_too_few_fitted_members_are_not_a_failure(fitted: int, members: int, status: str) -> None:
    result = above([1 + 0.01 * i for i in range(fitted)], members=members)
    assert (result.status, result.fitted, result.members) == (status, fitted, members)
    assert len(result.everyone.values) == members
    if not fitted:
        assert [result.to_dict()[k] for k in ("measured", "low", "high")] == [None] * 3


def test_nothing_to_read_is_not_run() -> None:
    result = judge(one().above(), {})
    assert (result.status, result.members, result.to_dict()["measured"]) == ("not run", 0, None)
    for half in (rising(one("a"), one("c"), names=("a", "c")), one("a").minus(one("c")).above()):
        assert judge(half, table([1.0, 1.1])).status == "not run"


def test_a_large_group_of_which_few_fitted_is_not_hidden_by_a_small_one() -> None:
    few, many = [2.0, 2.1, 2.0, 2.1, 2.0, 2.1], [1.0, 1.1, 1.0, 1.1, 1.0, 1.1]
    order = rising(one("a"), one("b"), names=("a", "b"))
    assert judge(order, table(many, few, members=[6, 6])).status == "holds"
    hidden = judge(order, table(many, few, members=[24, 6]))
    assert (hidden.status, hidden.fitted, hidden.members) == ("not fitted", 6, 24)


def test_members_that_are_counted_have_the_interval_of_a_share() -> None:
    some = judge(one(counted=True).above(), table([1.0, 1.0, 0.0]))
    assert some.status == "holds"
    assert (some.figure.low, some.figure.high) == pytest.approx((0.094299, 0.991596), abs=1e-6)
    # Three alike are no proof that all are.
    assert judge(one(counted=True).above(0.5, nothing=0.5), table([1.0] * 3)).status == "fails"
    assert judge(one(counted=True).above(0.5, nothing=0.5), table([1.0] * 8)).status == "holds"


def test_the_best_of_several_looks_has_an_interval_that_is_corrected_for_them() -> None:
    values = [0.1, 0.3, 0.5, 0.2, 0.6]
    alone, best = (judge(one().above(looks=looks), table(values)) for looks in (1, 50))
    assert (alone.figure.low, alone.status) == (interval(values).low, "holds")
    assert (best.figure.low, best.figure.mean) == (interval(values, 0.999).low, alone.figure.mean)
    assert (best.status, best.to_dict()["criterion"]) == (
        "fails", "sign: the interval, corrected for 50 looks, lies above 0"
    )  # fmt: skip


def test_the_interval_of_a_correlation_ends_where_correlations_do() -> None:
    values = (0.2, 0.9, 1.0)
    cut = Sign("above", 0.5).figure(Evidence((values,), (3,), limits=(-1.0, 1.0)))
    whole = interval(values)
    assert whole.high > 1.3
    assert (cut.mean, cut.low, cut.high) == (whole.mean, whole.low, 1.0)


def test_rows_and_columns_that_were_drawn_decide_a_claim() -> None:
    """Twelve units in three tasks: sure where units are drawn one by one, not where tasks are; so of a difference."""
    rows = [(task, split, [0.1, 0.5, 1.6][task] + 0.01 * split) for task in range(3) for split in range(4)]
    tables = {
        "t": pl.DataFrame(rows, ["task", "split", "x"], orient="row").with_columns(run=pl.lit("r"), y=pl.lit(0.0))
    }
    for crossed, status in ((False, "holds"), (True, "fails")):
        x, y = (cells(name, "t", unit=("task", "split"), crossed=crossed) for name in "xy")
        for test in (x.above(), rising(y, x, names="yx", pair=("task", "split"))):
            told = Claim("c", "C", test).evaluate(tables)
            assert (told.status, told.members) == (status, 12)
            assert told.to_dict()["over"] == ("task × split" if crossed else "task, split")


def test_groups_without_spread_but_for_rounding() -> None:
    """Their variance is no exact zero, and nothing may be warned of."""
    assert np.std([0.1] * 3) > 0
    result = judge(rising(one("a"), one("b"), names=("a", "b")), table([0.1] * 3, [0.7] * 3))
    assert result.status == "holds"
    assert (result.figure.low, result.figure.high) == pytest.approx((0.6, 0.6))


def test_criteria_say_what_they_ask() -> None:
    assert str(Value(0.1)) == "value: within 0.1 of the published figure, by an interval no wider than ±0.1"
