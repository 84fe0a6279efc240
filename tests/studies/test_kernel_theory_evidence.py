"""How the kernel-theory claims read tables: by key, with whatever has no value counted."""

from __future__ import annotations

import math

import polars as pl
import pytest

from recombine.studies.kernel_theory import STUDY
from recombine.studies.kernel_theory.evidence import by_member, by_sigma, kernels, networks, order, paired_kernels

A, B = pl.col("fit") == "a", pl.col("fit") == "b"


def sweep(a: list[float | None], b: list[float | None]) -> dict[str, pl.DataFrame]:
    rows = [
        {"sweep": "s", "fit": fit, "kernel": kernel, "value": value}
        for fit, values in (("a", a), ("b", b))
        for kernel, value in enumerate(values)
    ]
    return {"kernels": pl.DataFrame(rows, schema_overrides={"value": pl.Float64})}


def test_a_kernel_without_a_value_pairs_no_others_wrongly() -> None:
    """Kernel i has i in one fit and i + 1 in the other; by position, what is left would differ by 0 or 2."""
    tables = sweep([0, 1, None, 3, 4], [1, 2, 3, 4, math.nan])
    found = paired_kernels("s", [A, B], "value")(tables)
    assert found.groups == ((0.0, 1.0, 3.0), (1.0, 2.0, 4.0))
    assert (found.fitted, found.members) == (3, 5)
    shuffled = {"kernels": tables["kernels"].sample(fraction=1.0, shuffle=True, seed=1)}
    assert paired_kernels("s", [A, B], "value")(shuffled) == found


def test_a_kernel_without_a_value_is_counted() -> None:
    found = kernels("s", A, "value")(sweep([0, 1, None, math.inf, 4], [0] * 5))
    assert (found.groups, found.members) == (((0.0, 1.0, 4.0),), 5)


def table(rows: list[tuple[str, int, float, bool, float]]) -> dict[str, pl.DataFrame]:
    return {"networks": pl.DataFrame(rows, schema=["run", "member", "sigma", "fitted", "right"], orient="row")}


def test_networks_of_one_seed_count_once() -> None:
    rows = [(run, m, 1.0, True, m + at) for m in range(3) for run, at in (("x", 0.0), ("y", 0.5))]
    found = by_member(networks("x|y", pattern=True), "right")(table(rows))
    assert found.groups[0] == pytest.approx((0.25, 1.25, 2.25))
    worst = by_member(networks("x|y", pattern=True), "right", worst=True)(table(rows))
    assert worst.groups[0] == pytest.approx((0, 1, 2))
    one = [(r, m, s, not (r == "y" and m == 1), v) for r, m, s, _, v in rows]
    left = by_member(networks("x|y", pattern=True), "right")(table(one))
    assert (left.groups[0], left.members) == (pytest.approx((0.25, 2.25)), 3)


def test_an_order_of_few_rich_and_many_lazy_networks_needs_both_to_fit() -> None:
    """Six rich networks fit and six of 24 lazy ones: no verdict, though the smaller group is whole."""
    lazy = [("r", m, 1.0, m < 6, 0.9) for m in range(24)]
    rich = [("r", 24 + m, 1e-3, True, 0.1 + 0.001 * m) for m in range(6)]
    groups = [networks("r", lazy=False), networks("r", lazy=True)]
    found = order(groups, "right")(table(lazy + rich))
    assert (found.fitted, found.members) == (6, 24)
    swept = by_sigma("r", "right", 2)(table(lazy + rich))
    assert (swept.fitted, swept.members) == (6, 24)


def test_the_worst_depth_decides_whether_all_solve_it() -> None:
    claim = next(claim for claim in STUDY.claims if claim.id == "equivalence-deep")
    solved = [(f"deep{d}-equivalence", m, 0.1, True, 1.0) for d in range(1, 5) for m in range(6)]
    assert claim.evaluate(table(solved)).status == "holds"
    deepest = [(run, m, s, f, 0.7 if run.startswith("deep4") else v) for run, m, s, f, v in solved]
    assert claim.evaluate(table(deepest)).status == "fails"
