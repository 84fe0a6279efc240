"""A figure over members, with its interval: Student's t below 16 members, a bootstrap from 16 on.

A percentile bootstrap covers only 73 % at 3 members, 83 % at 5 and 88 % at 8, so few members get a t-interval. A share
of members has the exact interval of Clopper and Pearson: three alike would otherwise leave no doubt, and two of three
an interval from below 0 to above 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import polars as pl

T_BELOW = 16
RESAMPLES = 4000


@dataclass(frozen=True)
class Interval:
    """Mean over members with a two-sided interval; the members' own values are kept."""

    mean: float
    low: float
    high: float
    values: tuple[float, ...]

    @property
    def members(self) -> int:
        return len(self.values)

    def __str__(self) -> str:
        return f"{self.mean:.3g} [{self.low:.3g}, {self.high:.3g}], {self.members} members"


def interval(values: ArrayLike | Sequence[float], level: float = 0.95, seed: int = 0) -> Interval:
    """The mean of one value a member and its interval. One member has no interval (nan), none has no mean."""
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1:
        raise ValueError(f"one value a member is needed, got shape {data.shape}")
    if not np.isfinite(data).all():
        raise ValueError("diverged members must be set aside before a figure is made of the others")
    count = len(data)
    points = tuple(data.tolist())
    if count == 0:
        return Interval(float("nan"), float("nan"), float("nan"), points)
    mean = float(data.mean())
    if count == 1:
        return Interval(mean, float("nan"), float("nan"), points)
    if count < T_BELOW:
        from scipy.stats import t

        half = float(t.ppf((1 + level) / 2, count - 1) * data.std(ddof=1) / np.sqrt(count))
        return Interval(mean, mean - half, mean + half, points)
    rng = np.random.default_rng(seed)
    means = data[rng.integers(count, size=(RESAMPLES, count))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean, float(low), float(high), points)


def share_interval(values: ArrayLike | Sequence[float], level: float = 0.95) -> Interval:
    """The share of members whose value is 1, the others' being 0, and its exact interval; none has no share."""
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1 or not np.isin(data, (0.0, 1.0)).all():
        raise ValueError("a share is counted from one 0 or 1 a member")
    count, hits = len(data), int(data.sum())
    points = tuple(data.tolist())
    if count == 0:
        return Interval(float("nan"), float("nan"), float("nan"), points)
    from scipy.stats import beta

    half = (1 - level) / 2
    low = float(beta.ppf(half, hits, count - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - half, hits + 1, count - hits)) if hits < count else 1.0
    return Interval(hits / count, low, high, points)


def shares_apart(
    first: float, of_first: int, second: float, of_second: int, least: float = 0.0, level: float = 0.95
) -> tuple[float, float]:
    """The interval of ``first`` − ``second``, two shares of independent counts (Newcombe 1998, after Wilson).

    What lies below ``least`` counts as ``least``. Where a share is a mean over several models of the same problems the
    interval is if anything too wide."""
    sides = []
    for share, count in ((first, of_first), (second, of_second)):
        low, high = _wilson(share, count, level)
        sides.append([max(value, least) for value in (low, share, high)])
    (low_1, mean_1, high_1), (low_2, mean_2, high_2) = sides
    apart = mean_1 - mean_2
    return apart - math.hypot(mean_1 - low_1, high_2 - mean_2), apart + math.hypot(high_1 - mean_1, mean_2 - low_2)


def _wilson(share: float, count: int, level: float) -> tuple[float, float]:
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def summarise(table: pl.DataFrame, value: str, by: Sequence[str]) -> pl.DataFrame:
    """The figure over members in each group of ``by``: mean, low, high and the number of members."""
    import polars as pl

    rows = []
    for group, part in table.group_by(by, maintain_order=True):
        values = part[value].drop_nulls().to_numpy().astype(np.float64)
        figure = interval(values[np.isfinite(values)])
        summary = {"mean": figure.mean, "low": figure.low, "high": figure.high, "members": figure.members}
        rows.append(dict(zip(by, group, strict=True)) | summary)
    return pl.DataFrame(rows, infer_schema_length=None)
