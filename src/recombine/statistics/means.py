"""The mean over members, or the difference of two: Student's t and Welch's.

A bootstrap by percentiles covers less at any number of members: means of 16, 20, 32 and 64 normal values 91, 93, 93
and 93 % where t covers 95, of exponential ones 89, 90, 92 and 93 % for 92, 91, 93 and 94.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from recombine.statistics._interval import Interval, t_quantile

if TYPE_CHECKING:
    import polars as pl


def interval(values: ArrayLike | Sequence[float], level: float = 0.95) -> Interval:
    """The mean of one value per member and its interval. One member has no interval (nan), none has no mean."""
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1:
        raise ValueError(f"one value per member is needed, got shape {data.shape}")
    if not np.isfinite(data).all():
        raise ValueError("diverged members must be set aside before a figure is made of the others")
    count = len(data)
    points = tuple(data.tolist())
    if count == 0:
        return Interval(math.nan)
    mean = float(data.mean())
    if count == 1:
        return Interval(mean, values=points)
    half = float(t_quantile(level, count - 1) * data.std(ddof=1) / np.sqrt(count))
    return Interval(mean, mean - half, mean + half, points)


def crossed_interval(
    values: ArrayLike | Sequence[float], places: Sequence[tuple[Hashable, Hashable]], level: float = 0.95
) -> Interval:
    """The mean of values that stand in rows and columns (``places``), such as tasks and splits, as if both were drawn.

    Its variance is that by rows plus that by columns less that by cells, no smaller than any of them (Cameron, Gelbach
    and Miller 2011), each g/(g − 1) times what its g parts show; Student's t has one degree of freedom fewer than the
    fewer of rows and columns. No interval of a single row or column."""
    found, error, freedom = crossed_error(values, places)
    half = t_quantile(level, freedom) * error if freedom > 0 else math.nan
    return Interval(found, found - half, found + half, tuple(np.asarray(values, dtype=np.float64).tolist()))


def crossed_error(
    values: ArrayLike | Sequence[float], places: Sequence[tuple[Hashable, Hashable]]
) -> tuple[float, float, int]:
    """The mean of values in rows and columns, its standard error and degrees of freedom; see `crossed_interval`."""
    data = np.asarray(values, dtype=np.float64)
    if not len(data):
        return math.nan, math.nan, 0
    mean = float(data.mean())
    clusters = [np.unique([str(place[axis]) for place in places], return_inverse=True)[1] for axis in (0, 1)]
    parts = []
    for of in (*clusters, np.arange(len(data))):
        sums = np.bincount(of, data - mean)
        parts.append(float(np.square(sums).sum()) / len(data) ** 2 * len(sums) / max(len(sums) - 1, 1))
    rows, columns, alone = parts
    return mean, math.sqrt(max(rows + columns - alone, *parts)), int(min(of.max() for of in clusters))


def difference(first: ArrayLike, second: ArrayLike, paired: bool = False, level: float = 0.95) -> Interval:
    """The interval of mean(second) − mean(first): by member where members are shared, Welch's otherwise."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if paired:
        return interval(b - a, level)
    mean, count = float(b.mean() - a.mean()), len(a) + len(b)
    if len(a) < 2 or len(b) < 2:
        return Interval(mean, values=(mean,), count=count)
    parts = np.array([side.var(ddof=1) / len(side) for side in (a, b)])
    variance = float(parts.sum())
    if variance == 0:
        return Interval(mean, mean, mean, (mean,), count=count)
    freedom = 1 / float(((parts / variance) ** 2 / (np.array([len(a), len(b)]) - 1)).sum())
    half = t_quantile(level, freedom) * math.sqrt(variance)
    return Interval(mean, mean - half, mean + half, (mean,), count=count)


def summarise(table: pl.DataFrame, value: str, by: Sequence[str]) -> pl.DataFrame:
    """The figure over members in each group of ``by``: mean, low, high and the number of members."""
    import polars as pl

    rows = []
    kept = {name: table.schema[name] for name in by} | dict.fromkeys(("mean", "low", "high"), pl.Float64)
    for group, part in table.group_by(by, maintain_order=True):
        values = part[value].drop_nulls().to_numpy().astype(np.float64)
        figure = interval(values[np.isfinite(values)])
        summary = {"mean": figure.mean, "low": figure.low, "high": figure.high, "members": figure.count}
        rows.append(dict(zip(by, group, strict=True)) | summary)
    return pl.DataFrame(rows, kept | {"members": pl.Int64})
