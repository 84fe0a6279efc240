"""A number over combinations, with its interval: t by the jackknife below 16 of them, a bootstrap from 16 on.

One trained model has no members to vary over; what varies is which combinations were asked about. Seen and unseen ones
are left out or drawn again apart from each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Statistic = Callable[..., FloatArray]
"""Given the combinations of each group (arrays of positions), one value a member."""
Summary = Callable[[Statistic, Sequence[int]], "Figure"]
"""Turns a statistic and the sizes of its groups into a figure."""

T_BELOW = 16
RESAMPLES = 1000
MOST_DRAWN = 20_000_000
"""Fewer resamples are drawn of very many combinations, whose figures hardly vary."""


@dataclass(frozen=True)
class Figure:
    """A mean and its 95 % interval (nan where there is none), and what the interval is over."""

    mean: float
    low: float = math.nan
    high: float = math.nan
    over: str = "combinations"
    count: int = 0

    @property
    def bounded(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    def __str__(self) -> str:
        return f"{self.mean:.3g} [{self.low:.3g}, {self.high:.3g}], {self.whom}" if self.bounded else f"{self.mean:.3g}"

    @property
    def whom(self) -> str:
        """What the interval is over, with its number."""
        return f"{self.count:,} {self.over if self.count != 1 else self.over.removesuffix('s')}"

    def within(self, low: float, high: float) -> Figure:
        """The same figure where nothing beyond these bounds is possible."""
        return replace(self, low=max(self.low, low), high=min(self.high, high)) if self.bounded else self

    def to_dict(self) -> dict[str, float | str | int | None]:
        numbers = {name: getattr(self, name) for name in ("mean", "low", "high")}
        plain = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        return {**plain, "over": self.over, "count": self.count}


def over_combinations(statistic: Statistic, sizes: Sequence[int], level: float = 0.95, seed: int = 0) -> Figure:
    """The statistic over all combinations, and its interval over those that might have been asked about instead."""
    whole = [np.arange(size) for size in sizes]
    mean = _value(statistic, whole)
    count = sum(sizes)
    if min(sizes) < 2 or not math.isfinite(mean):
        return Figure(mean, count=count)
    if min(sizes) < T_BELOW:
        half = _jackknife(statistic, whole, level)
        return Figure(mean, mean - half, mean + half, count=count)
    rng = np.random.default_rng(seed)
    resamples = max(100, min(RESAMPLES, MOST_DRAWN // count))
    drawn = [_value(statistic, [rng.integers(size, size=size) for size in sizes]) for _ in range(resamples)]
    low, high = np.nanquantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Figure(mean, float(low), float(high), count=count)


def over_examples(
    signs: Sequence[float], shares: Sequence[FloatArray], counts: Sequence[NDArray[np.int64]], z: float = 1.96
) -> Figure:
    """A sum of mean shares, one a group of combinations, with its interval over examples.

    What there is where one combination stands alone. A share of 0 or 1 has an interval too: one example more of each
    kind is counted for its width."""
    if not all(len(share) for share in shares):
        return Figure(math.nan)
    mean = sum(sign * float(share.mean()) for sign, share in zip(signs, shares, strict=True))
    variance = 0.0
    for share, count in zip(shares, counts, strict=True):
        smooth = (share * count + 1) / (count + 2)
        variance += float((smooth * (1 - smooth) / (count + 2)).sum()) / len(share) ** 2
    half = z * math.sqrt(variance)
    return Figure(mean, mean - half, mean + half, "examples", int(sum(count.sum() for count in counts)))


def _value(statistic: Statistic, groups: Sequence[NDArray[np.int64]]) -> float:
    values = statistic(*groups)
    return float(values.mean()) if np.isfinite(values).all() else math.nan


def _jackknife(statistic: Statistic, whole: list[NDArray[np.int64]], level: float) -> float:
    """Half the width of a t-interval; degrees of freedom by Welch and Satterthwaite."""
    from scipy.stats import t

    variances, freedom = [], []
    for g, group in enumerate(whole):
        left = [_value(statistic, [*whole[:g], np.delete(group, i), *whole[g + 1 :]]) for i in range(len(group))]
        variances.append((len(group) - 1) / len(group) * float(np.square(np.array(left) - np.mean(left)).sum()))
        freedom.append(len(group) - 1)
    total = sum(variances)
    if total == 0:
        return 0.0
    degrees = total**2 / sum(v**2 / f for v, f in zip(variances, freedom, strict=True))
    return float(t.ppf((1 + level) / 2, degrees)) * math.sqrt(total)
