"""The mean over members, or the difference of two: Student's t below 16 members, a bootstrap from 16 on, Welch's t."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recombine.statistics._interval import T_BELOW, Interval, t_quantile

if TYPE_CHECKING:
    import polars as pl

RESAMPLES = 4000
MOST_KEPT = 1024
"""Drawing takes twice as long as what is done with it. What was drawn for so many values (32 MB) is kept."""
AT_ONCE = 2**20
"""Numbers drawn at once of more values: all of those for 50 000 values would take 1.6 GB."""


def interval(values: ArrayLike | Sequence[float], level: float = 0.95, seed: int = 0) -> Interval:
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
    if count < T_BELOW:
        half = float(t_quantile(level, count - 1) * data.std(ddof=1) / np.sqrt(count))
        return Interval(mean, mean - half, mean + half, points)
    pieces = [_kept(count, seed)] if count <= MOST_KEPT else _pieces(count, seed)
    means = np.concatenate([data.take(drawn).mean(axis=1) for drawn in pieces])
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean, float(low), float(high), points)


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


def _drawn(count: int, seed: int) -> NDArray[np.int64]:
    """Which values each resample holds."""
    return np.random.default_rng(seed).integers(count, size=(RESAMPLES, count))


def _pieces(count: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """The same resamples, some of them at a time."""
    rng, step = np.random.default_rng(seed), max(1, AT_ONCE // count)
    for start in range(0, RESAMPLES, step):
        yield rng.integers(count, size=(min(step, RESAMPLES - start), count))


_kept = lru_cache(maxsize=2)(_drawn)


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
