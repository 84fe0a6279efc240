"""Are whole numbers counts or ratings, or codes of classes? Those of one combination tell.

Rows of one combination that differ do so by little where numbers are counts, and by any step where they are codes. Let
W_ij be how often i and j are answers of one combination, and E_ij = a_i a_j the same with nothing in common but how
often each differs from others. Then

    Σ_ij |i − j| (W_ij − E_ij) / √E_ij

is far less than with the codes dealt anew to the classes. Codes of nested kinds (3 × kind + part) are near each other
inside a kind alone, so that neighbours must share combinations all along.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import polars as pl

from recombine.statistics import FloatArray
from recombine.support.answers import plain_number
from recombine.support.scan import collect

BY_CHANCE = 0.02
"""The share of deals that may be as near: codes without an order are taken for numbers no more often."""
FEWEST_CODES = 5
"""Fewer have too few orders (12 of 4) for one of them to stand out."""
ALL_DEALS, DEALS = 7, 4_999
"""Codes up to which all orders are tried, and how many are drawn of more."""
ENOUGH = 1.0
"""Pairs of neighbours that have to be expected before they must be found, …"""
PART, TIMES, FAR = 0.4, 1.2, 3
"""… by this share of what neighbours are found by, and this many times what codes so far apart are."""


def in_order(frames: Sequence[pl.LazyFrame], factors: Sequence[str], target: str) -> bool:
    """Whether whole numbers that rows of one combination answer lie next to each other, beyond chance."""
    number = plain_number(pl.col(target).cast(pl.String))
    keys = [pl.col(name).cast(pl.String) for name in factors]
    each = [f.select(pl.struct(keys).alias("cell"), number.alias("y")).drop_nulls("y") for f in frames]
    rows = collect(pl.concat(each).group_by("cell", "y").len())
    code, place = np.unique(rows["y"].to_numpy(), return_inverse=True)
    if len(code) < FEWEST_CODES:
        return False
    counts = np.zeros((rows["cell"].n_unique(), len(code)))
    counts[rows["cell"].rank("dense").to_numpy() - 1, place] = rows["len"].to_numpy()
    counts = counts[(counts > 0).sum(axis=1) > 1]
    pairs = (counts / (counts.sum(axis=1) - 1)[:, None]).T @ counts  # A combination counts as its rows, not as pairs.
    np.fill_diagonal(pairs, 0.0)
    expected = _expected(pairs)
    if not (pairs.sum(axis=1) > 0).all() or not _all_along(pairs, expected):
        return False
    more = (pairs - expected) / np.sqrt(expected + np.eye(len(code)))
    deals = _deals(code.astype(np.float64))
    off = np.abs(deals[:, :, None] - deals[:, None]).reshape(len(deals), -1) @ more.ravel()
    return bool((off <= off[0] + 1e-9 * abs(off[0])).mean() <= BY_CHANCE)


def _expected(pairs: FloatArray) -> FloatArray:
    """Pairs of two different codes with the same sums, and nothing else in common."""
    apart, a = 1.0 - np.eye(len(pairs)), np.sqrt(pairs.sum(axis=1))
    for _ in range(200):
        a = np.sqrt(a * pairs.sum(axis=1) / np.maximum(apart @ a, 1e-300))
    return np.asarray(apart * np.outer(a, a))


def _all_along(pairs: FloatArray, expected: FloatArray) -> bool:
    """Whether each two neighbours share combinations, nearly as often as others do and more often than codes farther
    apart on either side of them."""
    at = np.arange(len(pairs))
    near, due, far = np.diagonal(pairs, 1), np.diagonal(expected, 1), at - at[:, None] >= FAR
    for k in np.flatnonzero(due >= ENOUGH):
        across = far & (at[:, None] <= k) & (at > k)
        beyond = pairs[across].sum() / max(float(expected[across].sum()), 1e-12)
        if near[k] <= due[k] * max(PART * near.sum() / due.sum(), TIMES * beyond):
            return False
    return True


def _deals(code: FloatArray) -> FloatArray:
    """The codes as they are, then in other orders (deals × codes)."""
    if len(code) <= ALL_DEALS:
        return np.array([*permutations(code)])
    dealt = np.random.default_rng(0).permuted(np.tile(code, (DEALS, 1)), axis=1)
    return np.vstack([code, dealt])
