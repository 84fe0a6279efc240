"""A share of members or of problems, and how far two shares are apart.

A share has the exact interval of Clopper and Pearson: three members alike would otherwise leave no doubt, and two of
three an interval from below 0 to above 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from recombine.statistics._interval import Interval


def share_interval(values: ArrayLike | Sequence[float], level: float = 0.95) -> Interval:
    """The share of members whose value is 1, the others' being 0, and its exact interval; none has no share."""
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1 or not np.isin(data, (0.0, 1.0)).all():
        raise ValueError("a share is counted from one 0 or 1 per member")
    count, hits = len(data), int(data.sum())
    if count == 0:
        return Interval(math.nan)
    return Interval(hits / count, *share_ends(hits, count, level), tuple(data.tolist()))


def share_ends(hits: float, count: int, level: float = 0.95) -> tuple[float, float]:
    """The interval of Clopper and Pearson. Means of values between 0 and 1 vary less than shares do: hits are then
    their sum."""
    from scipy.special import betaincinv

    half, hits = (1 - level) / 2, min(max(hits, 0.0), float(count))
    low = float(betaincinv(hits, count - hits + 1, half)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, count - hits, 1 - half)) if hits < count else 1.0
    return low, high


def shares_apart(
    first: float, of_first: int, second: float, of_second: int, least: float = 0.0, level: float = 0.95
) -> tuple[float, float]:
    """The interval of ``first`` − ``second``, two shares of independent counts (Newcombe 1998, after Wilson).

    What lies below ``least`` counts as ``least``. Where a share is a mean over several models of the same problems the
    interval is if anything too wide."""
    sides = []
    for share, count in ((first, of_first), (second, of_second)):
        low, high = wilson(share, count, level)
        sides.append([max(value, least) for value in (low, share, high)])
    (low_1, mean_1, high_1), (low_2, mean_2, high_2) = sides
    apart = mean_1 - mean_2
    return apart - math.hypot(mean_1 - low_1, high_2 - mean_2), apart + math.hypot(high_1 - mean_1, mean_2 - low_2)


def wilson(share: float, count: int, level: float = 0.95) -> tuple[float, float]:
    """The interval of a share of independent problems (Wilson 1927)."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def share_apart_from(shares: ArrayLike, counts: ArrayLike, chance: float) -> float:
    """One-sided p of as many hits in all groups together, were each row one by ``chance``."""
    from scipy.special import betainc

    n = int(np.sum(counts))
    hits = round(float(np.sum(np.asarray(shares) * np.asarray(counts))))
    return 1.0 if hits <= 0 else float(betainc(hits, n - hits + 1, chance))


def more_often(hits: int, of: int, others: int, of_others: int) -> float:
    """The chance of so many hits on one side, or more, were both sides hit as often (Fisher's exact test)."""
    from scipy.special import gammaln

    whole, k = hits + others, np.arange(hits, min(hits + others, of) + 1)
    rest = of + of_others - whole
    k = k[of - k <= rest]
    ways = [gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
            for n, m in ((whole, k), (rest, of - k), (of + of_others, of))]  # fmt: skip
    return min(1.0, float(np.exp(ways[0] + ways[1] - ways[2]).sum()))
