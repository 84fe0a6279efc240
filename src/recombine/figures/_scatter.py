"""Two numbers of each member against each other: one dot per member, such as a prediction and what was observed."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.data import Datasets, as_labels, faceted, levels, pick, plain
from recombine.figures.groups import dealt, key_of, scale_of
from recombine.figures.panels import heads, side_by_side
from recombine.figures.words import wrapped

CROWDED = 120
"""Dots per panel from which on they are small and light."""


def scatter(
    table: pl.DataFrame,
    x: str,
    y: str,
    group: str | None = None,
    facet: str | None = None,
    *,
    diagonal: bool = True,
    own_x: bool = False,
    domain: tuple[float, float] | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    facet_title: str = "",
    width: theme.Width | None = None,
) -> alt.FacetChart:
    """One row per member: ``x`` and ``y`` numbers; rows with either missing are not drawn.

    ``diagonal`` draws the line on which both agree and gives both axes the same range, so that what lies above and
    what lies below it can be compared by eye. ``own_x`` gives every panel its own horizontal range.
    """
    data = pick(table, {"x": x, "y": y, "group": group, "facet": facet})
    data = data.with_columns(pl.col("x", "y").cast(pl.Float64).fill_nan(None)).drop_nulls(["x", "y"])
    names = levels(data["group"]) if group else []
    if group:
        data = data.with_columns(as_labels(data["group"]))
    data, panels = faceted(data, facet_title)
    data = data.with_columns(pl.lit("dot").alias("part"))
    if diagonal:
        domain = domain or _reached(data)
        ends = [{"part": "line", "facet": panel, "x": v, "y": v} for panel in panels for v in domain]
        data = pl.concat([data, pl.DataFrame(ends)], how="diagonal_relaxed")

    total = theme.total_width(width)
    across = side_by_side(len(panels), 3, width)
    side = min(300, (total - 52 - 30 * (across - 1)) // across)
    scale = alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(zero=False, nice=False, padding=8)
    ticks = max(3, side // 60)
    x_axis = alt.X(
        "x:Q",
        title=wrapped(plain(x_title or x), side + 20, theme.TEXT),
        scale=scale,
        axis=alt.Axis(grid=True, tickCount=ticks),
    )
    y_axis = alt.Y("y:Q", title=plain(y_title or y), scale=scale, axis=alt.Axis(tickCount=ticks))

    datasets = Datasets()
    base = alt.Chart(datasets.add(data))
    layers = [_dots(base, data.height > CROWDED * len(panels), names, total).encode(x=x_axis, y=y_axis)]
    if diagonal:
        line = base.transform_filter("datum.part == 'line'").mark_line(color=theme.RULE, strokeDash=[3, 3])
        layers.insert(0, line.encode(x=x_axis, y=y_axis, detail=alt.Detail("facet:N")))
    chart = alt.layer(*layers).properties(width=side, height=side)
    facet_by = alt.Facet("facet:N", sort=panels, title=None, header=heads(panels, side, y_title or y))
    panels_chart = chart.facet(facet_by, columns=across, spacing=30)
    if own_x:
        panels_chart = panels_chart.resolve_scale(x="independent")
    elif len(panels) % across:
        # Else the axis of a column that ends early stands below the empty place, far from its panels.
        panels_chart = panels_chart.resolve_axis(x="independent")
    return theme.style(panels_chart, datasets)


def _reached(data: pl.DataFrame) -> tuple[float, float]:
    """From the lowest of both numbers to the highest, and a little more."""
    low = min(float(data["x"].min() or 0), float(data["y"].min() or 0))  # type: ignore[arg-type]
    high = max(float(data["x"].max() or 1), float(data["y"].max() or 1))  # type: ignore[arg-type]
    edge = 0.04 * (high - low or 1.0)
    return low - edge, high + edge


def _dots(base: alt.Chart, crowded: bool, names: list[str], total: int) -> Any:
    """The dots, by group where there are ``names``."""
    dots = base.transform_filter("datum.part == 'dot'").mark_point(
        size=14 if crowded else 30,
        filled=False,
        strokeWidth=1.1 if crowded else 1.4,
        opacity=0.6 if crowded else 0.8,
        clip=True,
    )
    if not names:
        return dots.encode(color=alt.value(theme.PALETTE[0]))
    key = key_of(names, total, 34)
    colours, shapes = (scale_of(names, dealt(names, looks)) for looks in (theme.PALETTE, theme.SHAPES))
    return dots.encode(
        color=alt.Color("group:N", legend=key, scale=colours), shape=alt.Shape("group:N", legend=key, scale=shapes)
    )
