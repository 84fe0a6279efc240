"""Every member as a dot, with the mean and its interval below: the distribution, never only its summary."""

from __future__ import annotations

import math
from typing import Any, cast

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.figures import theme
from recombine.figures.data import Datasets, NothingToDraw, as_labels, levels, pick, plain
from recombine.figures.words import text_width, wrapped
from recombine.statistics import interval

STACK, LOW_STACK = 48, 24
"""Pixels that the highest pile of dots may take: the lower one where there are more than `MANY` groups."""
MANY = 8
MEAN = 26
"""Pixels for the mean below the dots, and the gaps above and below."""
LINE = 13
"""Pixels per line of a group's label."""
FEW = 32
"""Up to here a dot stands at its exact value; above, at the middle of its cell, so that piles are straight."""


def members(
    table: pl.DataFrame,
    group: str | None,
    value: str,
    *,
    title: str | None = None,
    domain: tuple[float, float] | None = None,
    reference: float | None = None,
    noun: str = "member",
    width: theme.Width | None = None,
) -> alt.LayerChart:
    """One row per member (and ``group``): ``value`` a number, null or not finite where the member was set aside.

    Dots are stacked where values are alike (a dot plot); below them the mean over members with its 95 % interval.
    Each label counts the members (or another ``noun``) drawn and those set aside. ``domain`` is shown at least: no
    member is left outside; an interval that leaves it ends in an arrow.
    """
    data = pick(table, {"group": group, "value": value})
    if group is None:
        data = data.with_columns(pl.lit("all members").alias("group"))
    names = levels(data["group"])
    data = data.with_columns(as_labels(data["group"]), pl.col("value").cast(pl.Float64))
    values = {name: _finite(data.filter(pl.col("group") == name)["value"]) for name in names}
    everything = np.concatenate(list(values.values()))
    if everything.size == 0:
        raise NothingToDraw("there is nothing to draw: no member has a finite value.")

    total = theme.total_width(width)
    low, high = float(everything.min()), float(everything.max())
    if domain:
        low, high = min(low, domain[0]), max(high, domain[1])
    pixel = ((high - low) or 1.0) / (0.72 * total)

    limit = round(0.34 * total)
    aside = {name: int((data["group"] == name).sum()) - len(values[name]) for name in names}
    labels = {name: _label(name, len(values[name]), aside[name], noun, limit) for name in names}
    dots, stack = _piles(values, labels, pixel)
    means = [_mean(labels[name], values[name]) for name in names]
    rows = list(dict.fromkeys(labels.values()))

    y = alt.Y(
        "group:N",
        title=None,
        scale=alt.Scale(domain=rows, paddingInner=0.1, paddingOuter=0.05),
        axis=alt.Axis(
            labelExpr="split(datum.label, '\\n')", labelColor=theme.INK, labelLimit=1.25 * limit, labelPadding=10
        ),
    )
    scale = alt.Scale(domain=[low, high], nice=False) if domain else alt.Scale(zero=False, nice=True)
    taken = max(text_width(line) for row in rows for line in row.split("\n"))
    room = total - min(taken, limit) - 30
    x = alt.X(
        "value:Q",
        title=[
            *wrapped(plain(title or value), room, theme.TEXT),
            *wrapped(f"one dot per {noun}; diamond: mean, 95\u00a0% interval", room, theme.TEXT),
        ],
        scale=scale,
        axis=alt.Axis(grid=True, tickCount=max(3, total // 110)),
    )
    lines = max(row.count("\n") + 1 for row in rows)
    height = max(LINE * lines + 8, math.ceil(stack) + MEAN)
    top = (height - MEAN + stack) / 2 + 4
    offset = alt.YOffset("rise:Q", scale=alt.Scale(domain=[top, top - height], range=[0, height]))

    datasets = Datasets()
    figures = pl.DataFrame(means).with_columns(pl.col("value", "low", "high").cast(pl.Float64).fill_nan(None))
    parts = (pl.DataFrame(dots), *_within(figures, (low, high) if domain else None))
    layers = [mark.encode(y=y, yOffset=offset) for mark in _marks(datasets, *parts, x)]
    if reference is not None:
        layers.insert(0, alt.Chart().mark_rule(color=theme.RULE, strokeDash=[3, 3]).encode(x=alt.datum(reference)))
    chart = cast(alt.LayerChart, alt.layer(*layers)).properties(width=total, height=alt.Step(height))
    return theme.style(chart.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding")), datasets)


def _marks(
    datasets: Datasets, dots: pl.DataFrame, bars: pl.DataFrame, arrows: pl.DataFrame, x: alt.X
) -> list[alt.Chart]:
    """A dot per member, an interval and the diamond of its mean per group, an arrow where an interval goes on."""
    points, means = (alt.Chart(datasets.add(part)) for part in (dots, bars))
    ink: dict[str, Any] = {"filled": True, "color": theme.INK, "opacity": 1}
    marks = [
        points.mark_circle(opacity=0.75).encode(
            x=x, color=alt.value(theme.PALETTE[0]), size=alt.Size("area:Q", scale=None)
        ),
        means.mark_rule(strokeWidth=2.5, color=theme.INK).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        means.mark_point(shape="diamond", size=75, **ink).encode(x=x),
    ]
    if len(arrows):
        tip = alt.Chart(datasets.add(arrows)).mark_point(shape="triangle-right", size=70, **ink)
        marks.append(tip.encode(x=x, angle=alt.Angle("angle:Q", scale=None)))
    return marks


def _label(name: str, count: int, aside: int, noun: str, limit: float) -> str:
    """A group and how many of it are drawn, in lines."""
    counted = f"{count} {noun}{'s' * (count != 1)}" + f", {aside} set aside" * (aside > 0)
    return "\n".join([*wrapped(name, limit), *wrapped(counted, 1.15 * limit)])


def _piles(
    values: dict[str, NDArray[np.float64]], labels: dict[str, str], pixel: float
) -> tuple[list[dict[str, Any]], float]:
    """A dot per member with its place, and how high the highest pile is."""
    most = STACK if len(values) <= MANY else LOW_STACK
    stack = 0.0
    dots: list[dict[str, Any]] = []
    for name, mine in values.items():
        dot = 7.0 if len(mine) <= FEW else 4.5 if len(mine) <= 128 else 3.5
        shown, rises = _stacked(mine, pixel * dot, dot, most)
        stack = max([stack, *(rise + dot / 2 for rise in rises)])
        places = zip(shown, rises, strict=True)
        dots += [{"group": labels[name], "value": v, "rise": rise, "area": math.pi / 4 * dot**2} for v, rise in places]
    return dots, stack


def _mean(label: str, values: NDArray[np.float64]) -> dict[str, Any]:
    figure = interval(values)
    return {"group": label, "value": figure.mean, "low": figure.low, "high": figure.high, "rise": -12.0}


def _finite(column: pl.Series) -> NDArray[np.float64]:
    values: NDArray[np.float64] = column.drop_nulls().to_numpy().astype(np.float64)
    return values[np.isfinite(values)]


def _within(means: pl.DataFrame, shown: tuple[float, float] | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The means with their intervals cut off where they leave what is shown, and an arrow for each such end."""
    if shown is None:
        return means, means.head(0)
    low, high = map(float, shown)
    left = means.filter(pl.col("low") < low).with_columns(pl.lit(low).alias("value"), pl.lit(180.0).alias("angle"))
    right = means.filter(pl.col("high") > high).with_columns(pl.lit(high).alias("value"), pl.lit(0.0).alias("angle"))
    return means.with_columns(pl.col("low", "high").clip(low, high)), pl.concat([left, right])


def _stacked(values: NDArray[np.float64], cell: float, dot: float, most: float) -> tuple[list[float], list[float]]:
    """Where each dot stands: values at the middle of their cell, heights in pixels, closer where a pile is high."""
    if len(values) == 0:
        return [], []
    cells = np.floor(values / cell)
    _, place, counts = np.unique(cells, return_inverse=True, return_counts=True)
    order = np.argsort(place, kind="stable")
    rank = np.empty(len(values))
    rank[order] = np.concatenate([np.arange(c) for c in counts])
    step = min(dot, (most - dot) / max(1, counts.max() - 1)) if counts.max() > 1 else dot
    shown = values if len(values) <= FEW else (cells + 0.5) * cell
    return shown.tolist(), (dot / 2 + rank * step).tolist()
