"""Small multiples of heat maps: a value over a plane of inputs, one panel a step (or any other facet)."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.errors import InputError
from recombine.figures import theme
from recombine.figures.axes import ends
from recombine.figures.data import Datasets, faceted, pick, plain
from recombine.figures.regions import Region, region_layers, region_rows


def maps(
    table: pl.DataFrame,
    x: str,
    y: str,
    value: str,
    facet: str | None = None,
    *,
    x_title: str | None = None,
    y_title: str | None = None,
    value_title: str | None = None,
    facet_title: str = "",
    domain: tuple[float, float] = (0.0, 1.0),
    regions: Sequence[Region] = (),
    boundary: bool = True,
    width: theme.Width | None = None,
) -> alt.FacetChart:
    """One row a cell and ``facet``: ``x`` and ``y`` the middle of a cell of a regular grid, ``value`` a number.

    Colours diverge from the middle of ``domain``; ``boundary`` draws the line where the value crosses that middle (for
    a share of members: where the majority changes its mind), which also keeps the map legible in grey.
    """
    data = pick(table, {"x": x, "y": y, "value": value, "facet": facet})
    data, panels = faceted(data, facet_title)
    half_x, half_y = _half_cell(data["x"]), _half_cell(data["y"])
    extent = {name: _extent(data[name], half) for name, half in (("x", half_x), ("y", half_y))}
    cells = data.sort("y", "x").select(
        pl.lit("cell").alias("part"),
        "facet",
        "value",
        pl.col("x") - half_x,
        pl.col("y") - half_y,
        # A cell reaches under the next, or hairlines of the background show between them.
        (pl.col("x") + 1.5 * half_x).clip(upper_bound=extent["x"][1]).alias("x2"),
        (pl.col("y") + 1.5 * half_y).clip(upper_bound=extent["y"][1]).alias("y2"),
    )
    extra = region_rows(regions, panels)
    if boundary:
        middle = sum(domain) / 2
        for panel in panels:
            extra += [
                {"part": "edge", "facet": panel, **edge}
                for edge in _edges(data.filter(pl.col("facet") == panel), middle, half_x, half_y)
            ]
    rows = pl.concat([cells, pl.DataFrame(extra, infer_schema_length=None)], how="diagonal_relaxed") if extra else cells

    total = theme.total_width(width)
    across = theme.panels_across(len(panels), 3 if theme.is_narrow(width) else 4)
    gap = 10 if theme.is_narrow(width) else 14
    side = min(300, (total - 58 - gap * (across - 1)) // across)
    x_axis = alt.X(
        "x:Q", title=plain(x_title or x), axis=ends(*extent["x"]), scale=alt.Scale(domain=list(extent["x"]), nice=False)
    )
    y_axis = alt.Y(
        "y:Q",
        title=plain(y_title or y),
        axis=ends(*extent["y"], **theme.beside(side)),
        scale=alt.Scale(domain=list(extent["y"]), nice=False),
    )
    key = alt.Legend(
        title=plain(value_title or value),
        orient="top",
        gradientLength=min(220, total // 2),
        tickCount=5,
        titleLimit=total,
    )
    low, high = domain
    stops = np.linspace(low, high, len(theme.DIVERGING)).tolist()
    colour = alt.Color(
        "value:Q", legend=key, scale=alt.Scale(domain=stops, range=list(theme.DIVERGING), clamp=True, interpolate="rgb")
    )

    datasets = Datasets()
    base = alt.Chart(datasets.add(rows))
    heat = (
        base.transform_filter("datum.part == 'cell'")
        .mark_rect(aria=False)
        .encode(x=x_axis, x2="x2:Q", y=y_axis, y2="y2:Q", color=colour)
    )
    edge = base.transform_filter("datum.part == 'edge'").mark_rule(
        color=theme.OVER_MAP, strokeWidth=1.6, strokeCap="square", aria=False
    )
    layers = [heat, *region_layers(base, x_axis, y_axis, over_map=True)] if regions else [heat]
    if boundary:
        layers.insert(1, edge.encode(x=x_axis, x2="x2:Q", y=y_axis, y2="y2:Q"))
    chart = alt.layer(*layers).properties(width=side, height=side)
    return theme.style(
        chart.facet(alt.Facet("facet:N", sort=panels, title=None), columns=across, spacing=gap), datasets
    )


def _extent(column: pl.Series, half: float) -> tuple[float, float]:
    """From edge to edge, without the last digits, which would hide the tick at a round end."""
    places = column.to_numpy().astype(np.float64)
    return float(f"{places.min() - half:.9g}"), float(f"{places.max() + half:.9g}")


def _half_cell(column: pl.Series) -> float:
    places = np.unique(column.to_numpy().astype(np.float64))
    if not np.isfinite(places).all():
        raise InputError("a map needs finite places: a cell's middle is missing or not finite.")
    return float(np.diff(places).min()) / 2 if len(places) > 1 else 0.5


def _edges(panel: pl.DataFrame, middle: float, half_x: float, half_y: float) -> list[dict[str, float]]:
    """The sides between neighbouring cells that lie on different sides of the middle."""
    xs, column = np.unique(panel["x"].to_numpy(), return_inverse=True)
    ys, row = np.unique(panel["y"].to_numpy(), return_inverse=True)
    if len(xs) * len(ys) < len(panel):
        raise InputError("a map needs one row a cell; some cell has several.")
    above: NDArray[np.float64] = np.full((len(ys), len(xs)), np.nan)
    above[row, column] = np.sign(panel["value"].cast(pl.Float64).fill_null(float("nan")).to_numpy() - middle)
    edges = []
    for j, i in zip(*np.nonzero(above[:, :-1] * above[:, 1:] < 0), strict=True):
        place = float(xs[i] + half_x)
        edges.append({"x": place, "x2": place, "y": float(ys[j] - half_y), "y2": float(ys[j] + half_y)})
    for j, i in zip(*np.nonzero(above[:-1] * above[1:] < 0), strict=True):
        place = float(ys[j] + half_y)
        edges.append({"x": float(xs[i] - half_x), "x2": float(xs[i] + half_x), "y": place, "y2": place})
    return edges
