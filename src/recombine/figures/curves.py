"""Curves over training or any ordered quantity: one line a group, with the band of its interval."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.axes import along
from recombine.figures.data import Datasets, as_labels, faceted, levels, pick, plain

MARKED = 20
"""With at most this many points a line is also marked, which tells groups apart in grey."""


def curves(
    table: pl.DataFrame,
    x: str,
    y: str,
    group: str | None = None,
    low: str | None = None,
    high: str | None = None,
    *,
    facet: str | None = None,
    log_x: bool = False,
    x_title: str | None = None,
    y_title: str | None = None,
    facet_title: str = "",
    y_domain: tuple[float, float] | None = None,
    reference: float | None = None,
    width: theme.Width | None = None,
) -> alt.LayerChart | alt.FacetChart:
    """One row an ``x``, ``group`` and ``facet``: ``x``, ``y`` numbers, ``low``, ``high`` the ends of the interval.

    ``log_x`` doubles along the axis and has a place for 0. ``reference`` draws one horizontal line, such as chance.
    """
    columns = {"x": x, "y": y, "group": group, "low": low, "high": high, "facet": facet}
    data = pick(table, columns).with_columns(
        pl.col(c).cast(pl.Float64) for c in ("x", "y", "low", "high") if columns[c]
    )
    names = levels(data["group"]) if group else []
    if group:
        # Band and points carry their look as data: a scale of their own would take the legend from the lines.
        data = data.with_columns(as_labels(data["group"]))
        tints, shapes = (dict(zip(names, cycle(of), strict=False)) for of in (theme.PALETTE, theme.SHAPES))
        look = pl.col("group")
        data = data.with_columns(look.replace_strict(tints).alias("tint"), look.replace_strict(shapes).alias("shape"))
    data, panels = faceted(data, facet_title)
    if low and high:
        # A member more or less gives no interval; the line goes on, the band has a gap.
        data = data.with_columns(pl.col("low", "high").fill_nan(None))

    total = theme.total_width(width)
    across = 1 if theme.is_narrow(width) else min(2, len(panels))
    inner = total if not facet else (total - 48 - 24 * (across - 1)) // across
    x_axis = alt.X("x:Q", title=plain(x_title or x), **along(data["x"], log_x, inner))
    domain = alt.Scale(domain=list(y_domain)) if y_domain else alt.Scale(zero=False, nice=True)
    y_axis = alt.Y("y:Q", title=plain(y_title or y), scale=domain, axis=alt.Axis(tickCount=5))

    datasets = Datasets()
    base = alt.Chart(datasets.add(data))
    lines = base.mark_line(strokeWidth=2, clip=True).encode(x=x_axis, y=y_axis)
    points = base.mark_point(filled=True, size=34, opacity=1).encode(x=x_axis, y=y_axis)
    band = base.mark_area(opacity=0.18, clip=True).encode(
        x=x_axis, y=alt.Y("low:Q", title=plain(y_title or y)), y2="high:Q"
    )
    if group:
        room = max(1, int(total / (40 + 6.2 * max(map(len, names)))))
        key = alt.Legend(
            title=None,
            columns=theme.panels_across(len(names), room),
            symbolOpacity=1,
            symbolType="stroke",
            symbolSize=300,
            offset=10 if facet else 30,
        )
        colour = alt.Color("group:N", legend=key, scale=_cycle(names, theme.PALETTE))
        fill = alt.Fill("tint:N", scale=None, legend=None)
        dash = alt.StrokeDash("group:N", legend=key, scale=_cycle(names, theme.DASHES))
        shape = alt.Shape("shape:N", scale=None, legend=None)
        lines, band = lines.encode(color=colour, strokeDash=dash), band.encode(fill=fill)
        points = points.encode(fill=fill, shape=shape)
    else:
        lines, band, points = (part.encode(color=alt.value(theme.PALETTE[0])) for part in (lines, band, points))
    once = base.transform_aggregate(rows="count()", groupby=["facet"])
    rule = once.mark_rule(color=theme.RULE, strokeDash=[3, 3]).encode(y=alt.datum(reference))
    few = data["x"].n_unique() <= MARKED
    shown = [rule] * (reference is not None) + [band] * bool(low and high) + [lines] + [points] * few
    chart = alt.layer(*shown).properties(width=inner, height=round(min(260, 0.62 * inner)))
    if not facet:
        return theme.style(chart.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding")), datasets)
    return theme.style(chart.facet(alt.Facet("facet:N", sort=panels, title=None), columns=across, spacing=24), datasets)


def _cycle(names: list[str], of: Sequence[Any]) -> alt.Scale:
    return alt.Scale(domain=names, range=[of[i % len(of)] for i in range(len(names))])
