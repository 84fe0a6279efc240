"""Levels that are rare leave pairs of levels without rows: how likely is it that they alone left these empty?

If each row has its level of the second factor whatever that of the first, those of a level that has R of the N rows all
miss columns that have C of them with the chance C(N − C, R) / C(N, R), and then N − R rows are left for the next level.
From the level that misses most to that which misses least this is exact where each misses some of what the one before
it does, as in a block or behind a staircase.

Rows that come in clumps, such as repeats, tell less: all counts are divided by φ = X² / freedom (Pearson's, over the
other pairs) where that is above 1. Where levels are not rare, by their rows with others, they are no reason.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.modular import Floats
from recombine.checks.holes.never_met import log_choose

RARE = 2 / 3
"""Rows that pairs would have by those of their levels elsewhere, as a share of what others have, up to which these are
rare."""
ROUNDS = 50
"""Times that expected rows are fitted to those of both factors' levels."""


def log_chance_if_rare(rows: Floats, empty: NDArray[np.bool_]) -> float:
    """The log of the chance that these pairs of levels have no row, in a block or behind a staircase; −∞ where their
    levels are not rare."""
    met = np.ix_(rows.any(axis=1), rows.any(axis=0))
    rows, empty = rows[met], empty[met]
    expected = _expected(rows, ~empty)
    if expected[empty].mean() > RARE * expected[~empty].mean():
        return -math.inf
    return log_chance_empty(rows, empty)


def log_chance_empty(rows: Floats, empty: NDArray[np.bool_]) -> float:
    """The same whether or not they are rare."""
    come_at_once = clumps(rows, empty)
    each, missed = rows.sum(axis=1) / come_at_once, empty @ rows.sum(axis=0) / come_at_once
    chance, left = 0.0, float(each.sum())
    for i in np.argsort(-missed, kind="stable")[: np.count_nonzero(missed)]:
        chance += log_choose(left - missed[i], each[i]) - log_choose(left, each[i])
        left -= each[i]
    return float(chance)


def clumps(rows: Floats, empty: NDArray[np.bool_]) -> float:
    """How many rows come at once, at least 1, by all pairs of levels but those that are ``empty``."""
    met = np.ix_(rows.any(axis=1), rows.any(axis=0))
    rows, empty = rows[met], empty[met]
    freedom = int((~empty).sum()) - sum(rows.shape) + 1
    expected = _expected(rows, ~empty)
    off = float(((rows - expected)[~empty] ** 2 / expected[~empty]).sum())
    return max(off / max(freedom, 1), 1.0)


def _expected(rows: Floats, there: NDArray[np.bool_]) -> Floats:
    """Rows that each pair would have, by those of its levels in pairs that are ``there``."""
    one, two = np.ones(len(rows)), np.ones(rows.shape[1])
    for _ in range(ROUNDS):
        one = rows.sum(axis=1) / (there @ two)
        two = rows.sum(axis=0) / (one @ there)
    found: Floats = np.outer(one, two)
    return found
