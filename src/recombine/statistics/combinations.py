"""A number over combinations, with its interval: t by the jackknife below 16 of them, a bootstrap from 16 on.

One trained model has no members to vary over; what varies is which combinations were asked about. Seen and unseen ones
are left out or drawn again apart from each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from recombine.statistics._interval import T_BELOW, FloatArray, Interval, t_quantile

Statistic = Callable[..., FloatArray]
"""Given the combinations of each group (arrays of positions), one value per member."""
Summary = Callable[[Statistic, Sequence[int]], Interval]
"""Turns a statistic and the sizes of its groups into a figure."""

RESAMPLES = 1000
MOST_DRAWN = 20_000_000
"""Fewer resamples are drawn of very many combinations, whose figures hardly vary."""


def over_combinations(statistic: Statistic, sizes: Sequence[int], level: float = 0.95, seed: int = 0) -> Interval:
    """The statistic over all combinations, and its interval over those that might have been asked about instead."""
    whole = [np.arange(size) for size in sizes]
    mean = _value(statistic, whole)
    count = sum(sizes)
    if min(sizes) < 2 or not math.isfinite(mean):
        return Interval(mean, over="combinations", count=count)
    if min(sizes) < T_BELOW:
        half = _jackknife(statistic, whole, level)
        return Interval(mean, mean - half, mean + half, over="combinations", count=count)
    rng = np.random.default_rng(seed)
    resamples = max(100, min(RESAMPLES, MOST_DRAWN // count))
    drawn = [_value(statistic, [rng.integers(size, size=size) for size in sizes]) for _ in range(resamples)]
    low, high = np.nanquantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean, float(low), float(high), over="combinations", count=count)


def over_examples(
    signs: Sequence[float], shares: Sequence[FloatArray], counts: Sequence[NDArray[np.int64]], z: float = 1.96
) -> Interval:
    """A sum of mean shares, one per group of combinations, with its interval over examples.

    What there is where one combination stands alone. A share of 0 or 1 has an interval too: one example more of each
    kind is counted for its width."""
    if not all(len(share) for share in shares):
        return Interval(math.nan, over="combinations")
    mean = sum(sign * float(share.mean()) for sign, share in zip(signs, shares, strict=True))
    variance = 0.0
    for share, count in zip(shares, counts, strict=True):
        smooth = (share * count + 1) / (count + 2)
        variance += float((smooth * (1 - smooth) / (count + 2)).sum()) / len(share) ** 2
    half = z * math.sqrt(variance)
    return Interval(mean, mean - half, mean + half, over="examples", count=int(sum(count.sum() for count in counts)))


def _value(statistic: Statistic, groups: Sequence[NDArray[np.int64]]) -> float:
    values = statistic(*groups)
    return float(values.mean()) if np.isfinite(values).all() else math.nan


def _jackknife(statistic: Statistic, whole: list[NDArray[np.int64]], level: float) -> float:
    """Half the width of a t-interval; degrees of freedom by Welch and Satterthwaite."""
    variances, freedom = [], []
    for g, group in enumerate(whole):
        left = [_value(statistic, [*whole[:g], np.delete(group, i), *whole[g + 1 :]]) for i in range(len(group))]
        variances.append((len(group) - 1) / len(group) * float(np.square(np.array(left) - np.mean(left)).sum()))
        freedom.append(len(group) - 1)
    total = sum(variances)
    if total == 0:
        return 0.0
    degrees = total**2 / sum(v**2 / f for v, f in zip(variances, freedom, strict=True))
    return t_quantile(level, degrees) * math.sqrt(total)
