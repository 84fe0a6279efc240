"""A phase diagram: what happens where on a plane of two parameters, with named places drawn over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from recombine.figures import theme
from recombine.figures.data import Datasets, as_labels, faceted, pick, plain
from recombine.figures.panels import heads, side_by_side

FILLS = ("#dd8232", "#f0c19a", "#b9d4e6", "#145e96")
"""From the worst outcome to the best; they differ in lightness, so that they can also be told apart in grey."""


def phase(
    table: pl.DataFrame,
    x: str,
    y: str,
    outcome: str,
    facet: str | None = None,
    *,
    outcomes: Sequence[str],
    place: str | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    facet_title: str = "",
    width: theme.Width | None = None,
) -> alt.FacetChart:
    """One row per cell of a regular grid, or (where ``place`` is not null) a named place that is drawn as a dot.

    ``outcomes`` lists the values of ``outcome`` from worst to best, at most four.
    """
    data = pick(table, {"x": x, "y": y, "outcome": outcome, "facet": facet, "place": place})
    if place is None:
        data = data.with_columns(pl.lit(None, dtype=pl.String).alias("place"))
    data, panels = faceted(data.with_columns(pl.col("x", "y").cast(pl.Float64)), facet_title)
    data = data.with_columns(as_labels(data["place"]), as_labels(data["outcome"]))
    grid, dots = data.filter(pl.col("place").is_null()), data.filter(pl.col("place").is_not_null())
    half_x, half_y = (_half(grid[name]) for name in ("x", "y"))
    cells = grid.with_columns(
        (pl.col("x") + half_x).alias("x2"), (pl.col("y") + half_y).alias("y2"),
        pl.col("x") - half_x, (pl.col("y") - half_y).clip(lower_bound=0.0),
    )  # fmt: skip
    rows = pl.concat([cells, dots], how="diagonal_relaxed")

    total = theme.total_width(width)
    across = side_by_side(len(panels), 2, width)
    side = min(300, (total - 60 - 30 * (across - 1)) // across)
    scales = [alt.Scale(domain=[0, float(cells[name].max())], nice=False) for name in ("x2", "y2")]  # type: ignore[arg-type]
    x_axis = alt.X("x:Q", title=plain(x_title or x), scale=scales[0], axis=alt.Axis(tickCount=4))
    y_axis = alt.Y("y:Q", title=plain(y_title or y), scale=scales[1], axis=alt.Axis(tickCount=4, grid=False))
    shown = list(outcomes)
    fills = [FILLS[round(i * (len(FILLS) - 1) / max(1, len(shown) - 1))] for i in range(len(shown))]
    key = alt.Legend(title=None, columns=len(shown) if total > 400 else 2, symbolType="square", symbolStrokeWidth=0)
    colour = alt.Color("outcome:N", legend=key, scale=alt.Scale(domain=shown, range=fills))

    datasets = Datasets()
    base = alt.Chart(datasets.add(rows))
    heat = base.transform_filter("datum.place == null").mark_rect(aria=False, strokeWidth=0.6)
    layers = [
        # A stroke of the same colour closes the hairlines between cells.
        heat.encode(
            x=x_axis,
            x2=alt.X2("x2:Q"),
            y=y_axis,
            y2=alt.Y2("y2:Q"),
            color=colour,
            stroke=alt.Stroke("outcome:N", legend=None, scale=alt.Scale(domain=shown, range=fills)),
        ),
    ]
    if place:
        marks = base.transform_filter("datum.place != null").encode(x=x_axis, y=y_axis)
        words = marks.encode(text=alt.Text("place:N"))
        beside: dict[str, Any] = {"dx": 7, "dy": -5, "align": "left", "fontSize": theme.SMALL}
        layers += [
            marks.mark_point(shape="circle", filled=True, size=46, opacity=1, color=theme.OVER_MAP, stroke=theme.HALO),
            words.mark_text(**beside, stroke=theme.HALO, strokeWidth=3, color=theme.HALO),
            words.mark_text(**beside, color=theme.OVER_MAP),
        ]
    chart = alt.layer(*layers).properties(width=side, height=side)
    facet_by = alt.Facet("facet:N", sort=panels, title=None, header=heads(panels, side, y_title or y))
    return theme.style(chart.facet(facet_by, columns=across, spacing=30), datasets)


def _half(column: pl.Series) -> float:
    places = np.unique(column.to_numpy())
    return float(np.diff(places).min()) / 2 if len(places) > 1 else 0.5
