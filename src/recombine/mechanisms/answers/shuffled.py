"""Do predictions look like right ones that were dealt out to other rows, in no order that could be named?

Whoever reads the factors alone gives each combination one answer, so that an answer is given to as many rows as its
combination has. Predictions of which that is so, and which rows of one combination share no more than any rows do,
stand beside other rows. Who reads more than the factors leaves less to see: answers that as a whole are as right ones
are, and have nothing to do with the rows or with the combinations that they stand beside. So are those of who draws
them, which is said with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import chdtrc, fdtrc, kolmogorov

from recombine.mechanisms.answers.out_of_order import FEWEST_AGAIN, FEWEST_ROWS, goes_with, spread_alike
from recombine.statistics import FloatArray

BY_CHANCE = 2.0
"""Standard errors within which predictions have nothing to do with the answers beside them."""
PLAUSIBLE = 0.1
"""How often chance alone has to make answers of one combination as alike, and predictions as unlike the answers."""
LEAST = 0.02
"""Of classes that are given as they are due, by how many rows of all each may be off, …"""
ROWS = 2
"""… or by how many at least."""
JOIN = (
    "see whether predictions stand beside their own rows (their order; join by a key): as a whole they are as right "
    "answers are, and have nothing to do with the combination that they stand beside. Else it draws its answers, or "
    "learnt nothing"
)


def of_other_combinations(y: Any, p: Any, cell: Any, classes: bool) -> str:
    """That numbers are given to as many rows each as combinations have, and not to those of one, in a clause."""
    _, rows = np.unique(cell, return_counts=True)
    if classes or not _nothing_beside(y, p, rows, classes) or not spread_alike(y, p):
        return ""
    _, times = np.unique(p, return_counts=True)
    if len(times) != len(rows) or (np.sort(times) != np.sort(rows)).any() or _alike_within(p, cell) < PLAUSIBLE:
        return ""
    return (
        f"each of {len(rows):,} numbers is given to as many rows as one of the {len(rows):,} combinations has, and not "
        "to those of one combination"
    )


def may_be_of_others(y: Any, p: Any, cell: Any, classes: bool) -> bool:
    """Whether predictions as a whole are as right answers are, with nothing to do with rows or combinations."""
    _, rows = np.unique(cell, return_counts=True)
    if not _nothing_beside(y, p, rows, classes):
        return False
    if classes:
        k = int(max(y.max(), p.max())) + 1
        due, given = (_by_cell(of, cell, k) for of in (y, p))
        usual = np.bincount(due.argmax(axis=1), due.sum(axis=1), minlength=k)
        off = np.abs(given.sum(axis=0) - usual).max()
        return bool(off <= max(ROWS, LEAST * len(y))) and _dealt(given) >= PLAUSIBLE
    return spread_alike(y, p) and _as_a_whole(y, p) >= PLAUSIBLE and _alike_within(p, cell) >= PLAUSIBLE


def _nothing_beside(y: Any, p: Any, rows: Any, classes: bool) -> bool:
    if len(y) < FEWEST_ROWS or len(y) - len(rows) < FEWEST_AGAIN or not np.ptp(y) or not np.ptp(p):
        return False
    beside, doubt = goes_with(y, p, classes)
    return abs(beside) <= BY_CHANCE * doubt


def _by_cell(values: Any, cell: Any, k: int) -> FloatArray:
    place = np.unique(cell, return_inverse=True)[1]
    counts = np.zeros((int(place.max()) + 1, k))
    np.add.at(counts, (place, values), 1)
    return counts


def _alike_within(p: Any, cell: Any) -> float:
    """How often chance makes numbers of one combination as alike, or more (F-test)."""
    _, place, n = np.unique(cell, return_inverse=True, return_counts=True)
    mean = np.bincount(place, p) / n
    inside, between = float(np.square(p - mean[place]).sum()), float(n @ np.square(mean - p.mean()))
    free, of = len(n) - 1, len(p) - len(n)
    return float(fdtrc(free, of, between / free / (inside / of))) if inside > 0 else 0.0


def _dealt(counts: FloatArray) -> float:
    """How often chance makes classes go with combinations as well, or better (χ²)."""
    counts = counts[:, counts.sum(axis=0) > 0]
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    free = (len(counts) - 1) * (counts.shape[1] - 1)
    return float(chdtrc(free, (np.square(counts - expected) / expected).sum()))


def _as_a_whole(y: Any, p: Any) -> float:
    """How often chance sets numbers and answers as far apart as a whole, or farther (Kolmogorov and Smirnov)."""
    at = np.sort(np.concatenate([y, p]))
    far = np.abs(np.searchsorted(np.sort(y), at, "right") - np.searchsorted(np.sort(p), at, "right")).max() / len(y)
    return float(kolmogorov(far * np.sqrt(len(y) / 2)))
