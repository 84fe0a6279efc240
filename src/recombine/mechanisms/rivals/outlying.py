"""Which of many numbers does the spread of the others not give (Rosner's test for several outliers)?

The number that is the farthest from the mean of all that are left leaves, again and again. All that have left up to the
last one that was too far from those left then stand out: however many they are, they do not hide each other.

The farthest is one end or the other of the numbers in order, so that a step costs no pass over all of them: the sums
behind a mean and a spread lose or gain one term. What rounding of these sums might decide is decided by a pass.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from recombine.statistics import FEW, FloatArray

LEVEL = 0.05
MOST = 0.2
"""Share of the numbers that can stand out from the spread of the others."""
ROUNDING = 1e-10
"""Of the largest number, differences below which the sums of all do not decide."""


def outlying(values: FloatArray) -> NDArray[np.bool_]:
    """Those that the spread of the others does not give."""
    found = np.zeros(len(values), dtype=bool)
    if len(values) < FEW:
        return found
    gone = _leaving(values, max(1, int(MOST * len(values))))
    apart, spread = _apart(values, gone)
    most, doubt = spread * _times(len(values) - np.arange(len(gone))), ROUNDING * float(np.abs(values).max())
    for step in np.flatnonzero(apart > most - doubt)[::-1]:
        if apart[step] > most[step] + doubt or _too_far(np.delete(values, gone[:step])):
            found[gone[: step + 1]] = True
            break
    return found


def _leaving(values: FloatArray, most: int) -> NDArray[np.int64]:
    """The first to leave, in order; no more once all that are left are the same."""
    rising, falling = (np.argsort(side, kind="stable").tolist() for side in (values, -values))
    plain, left, gone = values.tolist(), np.ones(len(values), dtype=bool), list[int]()
    total, doubt = float(values.sum()), ROUNDING * float(np.abs(values).max())
    low = high = 0
    for m in range(len(plain), len(plain) - most, -1):
        while not left[rising[low]]:
            low += 1
        while not left[falling[high]]:
            high += 1
        ends = rising[low], falling[high]
        below, above = total / m - plain[ends[0]], plain[ends[1]] - total / m
        if plain[ends[0]] == plain[ends[1]]:
            break
        out = ends[int(above > below)]
        if abs(above - below) <= doubt:
            out = int(np.where(left, np.abs(values - values[left].mean()), -1.0).argmax())
        left[out] = False
        total -= plain[out]
        gone.append(out)
    return np.array(gone, dtype=np.int64)


def _apart(values: FloatArray, gone: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """How far each that leaves is from the mean of all that are left, itself among them, and their spread. Those that
    leave last are added first, so that a few that are very far do not drown the others in the sums."""
    rest = np.delete(values, gone)
    middle = rest.mean()
    rest, out, m = rest - middle, values[gone] - middle, len(values) - np.arange(len(gone))
    total, squares = (each(rest).sum() + np.cumsum(each(out)[::-1])[::-1] for each in (np.positive, np.square))
    mean = total / m
    return np.abs(out - mean), np.sqrt(np.maximum(squares - total * mean, 0.0) / (m - 1))


def _too_far(left: FloatArray) -> bool:
    """Whether the farthest of these is, by a pass over all of them."""
    return bool(np.abs(left - left.mean()).max() > left.std(ddof=1) * _times(np.array(len(left))))


def _times(m: NDArray[np.int64]) -> FloatArray:
    """How many times the spread the farthest of m numbers may be from their mean."""
    t = stdtrit(m - 2, 1 - LEVEL / (2 * m))
    return np.asarray((m - 1) * t / np.sqrt((m - 2 + t**2) * m))
