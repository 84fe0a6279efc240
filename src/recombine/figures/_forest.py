"""Several figures with their intervals on one line: one row per quantity, one mark per group in it (a forest plot)."""

from __future__ import annotations

from typing import Any, cast

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.data import Datasets, as_labels, faceted, levels, pick, plain

ROW, CLOSE, MANY, GAP = 15, 11, 5, 12
"""Pixels per mark, of more than so many per row of marks closer, and between two rows of marks."""


def forest(
    table: pl.DataFrame,
    row: str,
    value: str,
    group: str,
    low: str = "low",
    high: str = "high",
    facet: str | None = None,
    *,
    title: str | None = None,
    domain: tuple[float, float] | None = None,
    reference: float | None = None,
    width: theme.Width | None = None,
) -> alt.FacetChart | alt.VConcatChart:
    """One row of the table a mark: ``value`` with its interval from ``low`` to ``high``, by ``row`` and ``group``.

    The last group is drawn in ink, for the figure over all others. An interval that leaves ``domain`` is cut off
    there; a mark without a value leaves its place empty. Panels below one another show only the rows they have."""
    data = pick(table, {"row": row, "value": value, "group": group, "low": low, "high": high, "facet": facet})
    data = data.with_columns(pl.col("value", "low", "high").cast(pl.Float64).fill_nan(None))
    rows, names = levels(data["row"]), levels(data["group"])
    data = data.with_columns(as_labels(data["row"]), as_labels(data["group"]))
    data, panels = faceted(data, "")
    if domain:
        data = data.with_columns(pl.col("low", "high").clip(*domain))
    total = theme.total_width(width)
    across = theme.panels_across(len(panels), 1 if theme.is_narrow(width) else 2)
    label = min(round(0.34 * total), 14 + round(6.2 * max(map(len, rows))))
    side = (total - label - 24 * across) // across
    scale = alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(zero=False, nice=True)
    x = alt.X("value:Q", title=plain(title or value), scale=scale, axis=alt.Axis(grid=True, tickCount=side // 55))
    place = alt.YOffset("group:N", scale=alt.Scale(domain=names))
    colours, shapes = (
        [*of[: len(names) - 1], last] for of, last in ((theme.PALETTE, theme.INK), (theme.SHAPES, "diamond"))
    )
    beside = theme.panels_across(len(names), 2 if theme.is_narrow(width) else 4)
    key = alt.Legend(title=None, symbolOpacity=1, columns=beside) if len(names) > 1 else None
    colour = alt.Color("group:N", legend=key, scale=alt.Scale(domain=names, range=colours))
    shape = alt.Shape("group:N", legend=key, scale=alt.Scale(domain=names, range=shapes))
    step = GAP + (CLOSE if len(names) > MANY else ROW) * len(names)
    height = alt.Step(step, **{"for": "position"})
    datasets = Datasets()
    drawn = data.drop_nulls("value")
    everything = alt.Chart(datasets.add(drawn))

    def panel(base: alt.Chart, rows: list[str]) -> alt.LayerChart:
        y = alt.Y(
            "row:N",
            title=None,
            scale=alt.Scale(domain=rows, paddingInner=GAP / step, paddingOuter=0.1),
            axis=alt.Axis(labelColor=theme.INK, labelLimit=label, labelPadding=8),
        )
        layers: list[Any] = [
            base.mark_rule(strokeWidth=2).encode(
                x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y, yOffset=place, color=colour
            ),
            base.mark_point(filled=True, size=55, opacity=1).encode(x=x, y=y, yOffset=place, color=colour, shape=shape),
        ]
        if reference is not None:
            layers.insert(0, base.mark_rule(color=theme.RULE, strokeDash=[3, 3]).encode(x=alt.datum(reference)))
        return cast(alt.LayerChart, alt.layer(*layers)).properties(width=side, height=height)

    if across < len(panels):
        below = []
        for name in panels:
            mine = drawn.filter(pl.col("facet") == name)["row"].unique()
            base = everything.transform_filter(alt.FieldEqualPredicate(field="facet", equal=name))
            head = alt.Title(name, fontSize=theme.SMALL, fontWeight="normal", frame="group")
            below.append(panel(base, [row for row in rows if row in mine]).properties(title=head))
        return theme.style(alt.vconcat(*below, spacing=24), datasets)
    facet_by = alt.Facet("facet:N", sort=panels, title=None, header=alt.Header(labelAnchor="start"))
    return theme.style(panel(everything, rows).facet(facet_by, columns=across, spacing=24), datasets)
