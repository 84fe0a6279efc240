"""Curves over training or any ordered quantity: one line per group, with the band of its interval."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.axes import along
from recombine.figures.data import Datasets, as_labels, faceted, levels, pick, plain
from recombine.figures.groups import dealt, key_of, scale_of
from recombine.figures.panels import heads, side_by_side
from recombine.figures.words import wrapped

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
    groups: Sequence[str] | None = None,
    count: str = "members",
    width: theme.Width | None = None,
) -> alt.LayerChart | alt.FacetChart:
    """One row an ``x``, ``group`` and ``facet``: ``x``, ``y`` numbers, ``low``, ``high`` the ends of the interval.

    ``log_x`` doubles along the axis and has a place for 0. ``reference`` draws one horizontal line, such as chance.
    ``groups`` names the groups of several charts of one figure, so that each looks alike in all of them. Where there
    are intervals and a column ``count``, the name of the vertical axis says over how many each is.
    """
    columns = {"x": x, "y": y, "group": group, "low": low, "high": high, "facet": facet}
    data = pick(table, columns).with_columns(
        pl.col(c).cast(pl.Float64) for c in ("x", "y", "low", "high") if columns[c]
    )
    names = levels(data["group"]) if group else []
    known = groups or names
    if group:
        data = _with_looks(data, known)
    data, panels = faceted(data, facet_title)
    if low and high:
        # A member more or less gives no interval; the line goes on, the band has a gap.
        data = data.with_columns(pl.col("low", "high").fill_nan(None))
        data = data.with_columns(alone=_alone(data))

    name = plain(y_title or y) + (_over(table, count) if low and high else "")

    total = theme.total_width(width)
    across = side_by_side(len(panels), 2, width)
    inner = total if not facet else (total - 48 - 24 * (across - 1)) // across
    x_axis = alt.X("x:Q", title=wrapped(plain(x_title or x), inner + 20, theme.TEXT), **along(data["x"], log_x, inner))
    domain = alt.Scale(domain=list(y_domain)) if y_domain else alt.Scale(zero=False, nice=True)
    height = round(min(260, max(110, 0.62 * inner)))
    ticks = alt.Axis(tickCount=5 if height > 130 else 3, grid=True)
    y_axis, low_end = alt.Y("y:Q", title=name, scale=domain, axis=ticks), alt.Y("low:Q", title=name, scale=domain)

    datasets = Datasets()
    base = alt.Chart(datasets.add(data))
    # Only what leaves the panel is cut off: a line along its edge would lose half of its width.
    leaves = y_domain is not None and not data["y"].drop_nulls().drop_nans().is_between(*y_domain).all()
    lines = base.mark_line(strokeWidth=2, clip=leaves).encode(x=x_axis, y=y_axis)
    points = base.mark_point(filled=True, size=34, opacity=1).encode(x=x_axis, y=y_axis)
    band = base.mark_area(opacity=0.18, clip=True).encode(x=x_axis, y=low_end, y2=alt.Y2("high:Q"))
    bars = base.transform_filter("datum.alone").mark_rule(strokeWidth=5, opacity=0.3)
    bars = bars.encode(x=x_axis, y=low_end, y2=alt.Y2("high:Q"))
    if group:
        key = key_of(names, total, symbolType="stroke", symbolSize=300, offset=10 if facet else 30)
        lines, band, bars, points = _by_group((lines, band, bars, points), names, known, key)
    else:
        lines, band, bars, points = (
            part.encode(color=alt.value(theme.PALETTE[0])) for part in (lines, band, bars, points)
        )
    once = base.transform_aggregate(rows="count()", groupby=["facet"])
    rule = once.mark_rule(color=theme.RULE, strokeDash=[3, 3]).encode(y=alt.datum(reference))
    few = data["x"].n_unique() <= MARKED
    lone = "alone" in data.columns and data["alone"].any()
    dots = [points] if few else [points.transform_filter("datum.alone")] * lone
    shown = [rule] * (reference is not None) + [band] * bool(low and high) + [bars] * lone + [lines] + dots
    chart = alt.layer(*shown).properties(width=inner, height=height)
    if not facet:
        return theme.style(chart.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding")), datasets)
    facet_by = alt.Facet("facet:N", sort=panels, title=None, header=heads(panels, inner, name))
    return theme.style(chart.facet(facet_by, columns=across, spacing=24), datasets)


def _with_looks(data: pl.DataFrame, known: Sequence[str]) -> pl.DataFrame:
    """Band and points carry their look as data: a scale of their own would take the legend from the lines."""
    return data.with_columns(as_labels(data["group"])).with_columns(
        pl.col("group").replace_strict(dealt(known, looks)).alias(look)
        for look, looks in (("tint", theme.PALETTE), ("shape", theme.SHAPES))
    )


def _by_group(
    marks: tuple[alt.Chart, alt.Chart, alt.Chart, alt.Chart], names: list[str], known: Sequence[str], key: alt.Legend
) -> tuple[alt.Chart, alt.Chart, alt.Chart, alt.Chart]:
    """Lines, band, bars and points, each in the look of its group."""
    lines, band, bars, points = marks
    colours, dashes = (scale_of(names, dealt(known, looks)) for looks in (theme.PALETTE, theme.DASHES))
    lines = lines.encode(
        color=alt.Color("group:N", legend=key, scale=colours),
        strokeDash=alt.StrokeDash("group:N", legend=key, scale=dashes),
    )
    fill = alt.Fill("tint:N", scale=None, legend=None)
    band, bars = band.encode(fill=fill), bars.encode(stroke=alt.Stroke("tint:N", scale=None, legend=None))
    return lines, band, bars, points.encode(fill=fill, shape=alt.Shape("shape:N", scale=None, legend=None))


def _alone(data: pl.DataFrame) -> pl.Expr:
    """Where a line has an interval and none before or after it, of which a band would show nothing."""
    line = [pl.col(name) for name in ("group", "facet") if name in data.columns] or [pl.lit(0)]
    known = pl.col("low").is_not_null()
    beside = (known.shift(by, fill_value=False).over(line, order_by="x") for by in (1, -1))
    return known & ~pl.any_horizontal(*beside)


def _over(table: pl.DataFrame, count: str) -> str:
    """Over how many members the means are, in brackets; nothing where the table does not say."""
    counts = table[count].drop_nulls().cast(pl.Int64).unique().sort().to_list() if count in table.columns else []
    known = [str(number) for number in counts if number > 0]
    return f" (n = {'–'.join(dict.fromkeys([known[0], known[-1]]))})" if known else ""
