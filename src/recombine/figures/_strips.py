"""Many groups on little height: one tick per member, the mean with its interval over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.data import Datasets, as_labels, faceted, levels, pick, plain
from recombine.figures.groups import dealt, key_of, scale_of
from recombine.figures.words import in_lines, text_width, wrapped
from recombine.statistics import summarise

LANE, GAP, LINE = 10, 8, 13
"""Pixels per lane of ticks, between two rows, and per line of a row's name."""


def strips(
    table: pl.DataFrame,
    row: str,
    value: str,
    group: str,
    facet: str | None = None,
    *,
    groups: Sequence[str] | None = None,
    lanes: bool = True,
    title: str | None = None,
    domain: tuple[float, float] | None = None,
    reference: float | None = None,
    noun: str = "member",
    width: theme.Width | None = None,
) -> alt.LayerChart | alt.VConcatChart:
    """One row of the table per member: ``value`` a number, in a row of the picture and a colour per ``group``.

    ``groups`` gives their order. Each has a lane of its own in every row; without ``lanes`` a row has one, for tables
    in which a row is of one group. Panels below one another, one per ``facet``, show only the rows they have."""
    data = pick(table, {"row": row, "value": value, "group": group, "facet": facet})
    data = data.with_columns(pl.col("value").cast(pl.Float64).fill_nan(None)).drop_nulls("value")
    names = list(groups or levels(data["group"]))
    names = [name for name in names if name in set(as_labels(data["group"]))]
    data, panels = faceted(data.with_columns(as_labels(data["row"]), as_labels(data["group"])), "")
    keys = ["facet", "row", "group"]
    means = summarise(data, "value", keys).with_columns(pl.col("low", "high").fill_nan(None))
    total = theme.total_width(width)
    rows = levels(data["row"])
    room = math.ceil(min(0.36 * total, 1.06 * max(map(text_width, rows))))
    lines = max(len(wrapped(name, room)) for name in rows)
    step = max(GAP + LANE * (len(names) if lanes else 1.4), LINE * lines + 4)
    key = key_of(names, total, symbolType="square") if len(names) > 1 else None
    tints = dealt(names, (*theme.PALETTE[:2], theme.PALETTE[5], theme.PALETTE[3]))
    colour = alt.Color("group:N", legend=key, scale=scale_of(names, tints))
    reached = [*data["value"], *(domain or [*means["low"].drop_nulls(), *means["high"].drop_nulls()])]
    ends = min(reached), max(reached)
    said = [plain(title or value), f"one tick per {noun}; diamond: mean, 95\u00a0% interval"]
    if (means["low"] < ends[0]).any() or (means["high"] > ends[1]).any():
        said.append("an interval that leaves the picture is cut off")
    under = [line for text in said for line in wrapped(text, total - room - 20, theme.TEXT)]
    scale = alt.Scale(domain=list(ends), nice=domain is None)
    datasets = Datasets()

    def panel(name: str) -> alt.LayerChart:
        mine, figures = (part.filter(pl.col("facet") == name) for part in (data, means))
        axis = alt.Axis(labelExpr=in_lines(rows, room), labelLimit=1.1 * room, labelColor=theme.INK, labelPadding=8,
                        minExtent=room + 8, maxExtent=room + 8)  # fmt: skip
        y = alt.Y("row:N", title=None, axis=axis, scale=alt.Scale(domain=levels(mine["row"]), paddingInner=GAP / step))
        x = alt.X("value:Q", title=under if name == panels[-1] else None, scale=scale,
                  axis=alt.Axis(grid=True, tickCount=max(3, total // 110)))  # fmt: skip
        place: dict[str, Any] = {"y": y, "color": colour}
        if lanes:
            place["yOffset"] = alt.YOffset("group:N", scale=alt.Scale(domain=names))
        base = alt.Chart(datasets.add(figures.with_columns(pl.col("low", "high").clip(*ends))))
        layers: list[Any] = [
            alt.Chart(datasets.add(mine)).mark_tick(thickness=1.6, size=LANE - 1, opacity=0.5).encode(x=x, **place),
            base.mark_rule(strokeWidth=1.6, color=theme.INK).encode(
                **place | {"x": alt.X("low:Q"), "x2": alt.X2("high:Q"), "color": alt.value(theme.INK)}
            ),
            base.mark_point(shape="diamond", filled=True, size=56, opacity=1, stroke=theme.INK).encode(
                **place | {"x": alt.X("mean:Q")}
            ),
        ]
        if reference is not None:
            layers.insert(0, alt.Chart().mark_rule(color=theme.RULE, strokeDash=[3, 3]).encode(x=alt.datum(reference)))
        height = alt.Step(step, **{"for": "position"})
        drawn = cast(alt.LayerChart, alt.layer(*layers)).properties(width=total - room - 24, height=height)
        head = alt.Title(name, anchor="start", frame="bounds")
        return drawn.properties(title=head) if name else drawn

    charts = [panel(name) for name in panels]
    return theme.style(charts[0] if len(charts) == 1 else alt.vconcat(*charts, spacing=18), datasets)
