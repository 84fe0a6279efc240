"""By what chance a claim's figure would lie so far inside its criterion if the truth were just where that ends; and the
same for a claim that is one of many looks at the same data."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from recombine.statistics import crossed_error
from recombine.studies.claims import Claim, Order, Sign
from recombine.studies.readings import Tables

Errors = list[tuple[float, int]]
"""Squared standard error and degrees of freedom of each mean that takes part."""


def measured(claim: Claim, tables: Tables) -> tuple[float, Errors]:
    """The figure of a claim, or of two groups their difference; no number of too few units."""
    evidence = claim.test.read(tables)
    groups = [np.asarray(group) for group in evidence.groups]
    if evidence.paired:
        groups = [groups[1] - groups[0]]
    if min(map(len, groups)) < 2:
        return math.nan, []
    if evidence.crossed:
        mean, error, freedom = crossed_error(groups[0], evidence.crossed)
        return (mean, [(error**2, freedom)]) if freedom else (math.nan, [])
    mean = groups[-1].mean() - (groups[0].mean() if len(groups) > 1 else 0.0)
    return float(mean), [(float(group.var(ddof=1)) / len(group), len(group) - 1) for group in groups]


def at_the_edge(claim: Claim, figure: float, errors: Errors) -> float:
    """Two-sided; 1 where the figure lies outside of the criterion, or there is none."""
    criterion = claim.test.criterion
    if isinstance(criterion, Order):
        inside = figure
    elif isinstance(criterion, Sign):
        inside = figure - criterion.than if criterion.side == "above" else criterion.than - figure
        if claim.test.quantities[0].counted:  # a share varies there as its edge says
            errors = [(criterion.than * (1 - criterion.than) / (freedom + 1), freedom) for _, freedom in errors]
    else:
        inside = criterion.tolerance - abs(figure - (criterion.theory or 0.0))
    return welch(inside, errors) if inside > 0 else 1.0


def welch(difference: float, errors: Errors) -> float:
    """The chance of a difference at least as large, of means that have these errors, if there were none."""
    from scipy.special import stdtr

    total = sum(error for error, _ in errors)
    if not total:
        return 0.0 if abs(difference) > 0 else 1.0
    overall = total**2 / sum(error**2 / freedom for error, freedom in errors)
    return float(2 * stdtr(overall, -abs(difference) / total**0.5))


def holm(chances: Sequence[float]) -> list[float]:
    """Each chance over all looks (Holm 1979): the k-th smallest of n times n − k + 1, no smaller than those before."""
    order = np.argsort(chances, kind="stable")
    steps = np.minimum(1.0, np.asarray(chances)[order] * np.arange(len(chances), 0, -1))
    found = np.empty(len(chances))
    found[order] = np.maximum.accumulate(steps)
    return [float(value) for value in found]
