"""Tests by what might have been: other signs, or answers handed out at random.

Where masks were made of base networks the base is the unit, as masks of one base are not independent of each other.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recombine.errors import InputError
from recombine.statistics._interval import FloatArray

EXACT = 14
"""Up to this many bases all 2ⁿ assignments of signs are counted; beyond, as many as ``DRAWS`` are drawn."""
DRAWS = 2**14
FEWEST_DRAWS, MOST_DRAWN = 2000, 2_000_000


def by_base(values: ArrayLike, bases: ArrayLike) -> FloatArray:
    """The mean of each base's masks."""
    numbers, labels = np.asarray(values, dtype=np.float64), np.asarray(bases)
    if numbers.shape != labels.shape or numbers.ndim != 1 or not len(numbers):
        raise InputError(f"one value and one base per mask are needed, got {numbers.shape} and {labels.shape}.")
    return np.array([numbers[labels == base].mean() for base in np.unique(labels)])


def sign_flip(values: ArrayLike, seed: int = 0) -> float:
    """Two-sided p of a mean over bases: the share of sign assignments with a mean at least as far from zero.

    Exact for few bases, and never below 2^(1−n): three bases cannot give less than .25, whatever their masks."""
    means = np.asarray(values, dtype=np.float64)
    observed = abs(means.sum())
    scores = np.abs(_signs(len(means), seed) @ means)
    return float((scores >= observed * (1 - 1e-12)).mean())


def wild_cluster(values: ArrayLike, bases: ArrayLike, seed: int = 0) -> float:
    """Two-sided p of a mean over masks by the wild cluster bootstrap: residuals of a base are flipped together and the
    mean is studentised by clustered errors (Cameron, Gelbach & Miller 2008), under the null that it is zero."""
    numbers, labels = np.asarray(values, dtype=np.float64), np.asarray(bases)
    names, which = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        return 1.0
    observed = abs(_studentised(numbers, which, len(names)))
    flips = _signs(len(names), seed)
    found = np.array([abs(_studentised(numbers * row[which], which, len(names))) for row in flips])
    return float((found >= observed * (1 - 1e-12)).mean())


def handed_out(table: FloatArray, seed: int = 0) -> float:
    """One-sided p of the trace of a square table: how often a sum is as large that has one entry of each row, its
    column drawn at random. Each draw is apart from the others: columns in another order, of which two answers have but
    70 for eight rows, would tell less."""
    size, found = len(table), float(np.trace(table)) - 1e-9
    entries, rows, ones = table.ravel(), np.arange(size) * size, np.ones(size)
    drawn = _columns_drawn(size, seed)
    reached = 0
    for start in range(0, len(drawn), FEWEST_DRAWS):
        at = rows + drawn[start : start + FEWEST_DRAWS]
        # None lies outside the table; numpy takes twice as long where it has to refuse such.
        reached += int((entries.take(at, mode="clip") @ ones >= found).sum())
    return (1 + reached) / (1 + len(drawn))


@lru_cache(maxsize=8)
def _columns_drawn(size: int, seed: int) -> NDArray[np.unsignedinteger]:
    """The column of each row, for each draw: the same for every table of that size, and half of what a test costs."""
    rng = np.random.default_rng(seed)
    draws = max(FEWEST_DRAWS, min(DRAWS, MOST_DRAWN // size))
    drawn = np.empty((draws, size), dtype=np.min_scalar_type(size))
    for start in range(0, draws, FEWEST_DRAWS):
        some = drawn[start : start + FEWEST_DRAWS]
        some[:] = rng.integers(size, size=some.shape)
    drawn.flags.writeable = False
    return drawn


def _signs(count: int, seed: int) -> FloatArray:
    if count <= EXACT:
        return np.array(list(itertools.product((1.0, -1.0), repeat=count)))
    drawn = np.random.default_rng(seed).choice((1.0, -1.0), size=(DRAWS, count))
    drawn[0] = 1.0
    return drawn


def _studentised(numbers: FloatArray, which: NDArray[np.intp], clusters: int) -> float:
    mean = numbers.mean()
    sums = np.bincount(which, numbers - mean, clusters)
    error = np.sqrt((sums**2).sum()) / len(numbers)
    if error == 0:
        return 0.0 if mean == 0 else math.copysign(math.inf, mean)
    return float(mean / error)
