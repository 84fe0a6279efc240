"""Small multiples of heat maps: a value over a plane of inputs, one panel per step (or any other facet)."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import polars as pl

from recombine.figures import theme
from recombine.figures.axes import ends
from recombine.figures.cells import Cells
from recombine.figures.data import Datasets, faceted, pick, plain
from recombine.figures.regions import Region, region_layers, region_rows
from recombine.figures.words import in_lines, text_width, wrapped


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
    low_is_good: bool = False,
    axes: bool = True,
    sized_for: int = 1,
    width: theme.Width | None = None,
) -> alt.FacetChart:
    """One row per cell and ``facet``: ``x`` and ``y`` the middle of a cell of a regular grid, ``value`` a number.

    Colours diverge from the middle of ``domain``, blue where it is good: ``low_is_good`` for errors. ``boundary`` draws
    the line where the value crosses that middle (for a share of members: where the majority changes its mind), which
    also keeps the map legible in grey. Panels are no
    larger than where there are ``sized_for`` of them, as in another chart of the same figure; without ``axes`` they are
    pictures.
    """
    data = pick(table, {"x": x, "y": y, "value": value, "facet": facet})
    data, panels = faceted(data, facet_title)
    cells = Cells.of(data)
    extra = region_rows(regions, panels) + (cells.edges(panels, sum(domain) / 2) if boundary else [])
    rows = cells.rows()
    if extra:
        rows = pl.concat([rows, pl.DataFrame(extra, infer_schema_length=None)], how="diagonal_relaxed")

    total = theme.total_width(width)
    most = 3 if theme.is_narrow(width) else 4
    across = theme.panels_across(len(panels), most)
    gap = 10 if theme.is_narrow(width) else 14
    up = wrapped(plain(y_title or y), 60, theme.TEXT)
    # The title stands beside the middle tick.
    apart = max(22, 10 + round(text_width(f"{sum(cells.y) / 2:.6g}", theme.TEXT)))
    room = 28 + apart + round(max(text_width(line, theme.TEXT) for line in up)) if axes else 0
    beside = max(across, theme.panels_across(sized_for, most))
    side = min(300, (total - room - gap * (beside - 1)) // beside)
    x_axis = alt.X(
        "x:Q",
        title=wrapped(plain(x_title or x), side, theme.TEXT),
        axis=ends(*cells.x) if axes else None,
        scale=alt.Scale(domain=list(cells.x), nice=False),
    )
    y_axis = alt.Y(
        "y:Q",
        title=up,
        axis=ends(*cells.y, **theme.beside(side) | {"titleX": -apart}) if axes else None,
        scale=alt.Scale(domain=list(cells.y), nice=False),
    )
    colour = _colour(domain, wrapped(plain(value_title or value), total - room, theme.TEXT), total, low_is_good)

    datasets = Datasets()
    base = alt.Chart(datasets.add(rows))
    heat = (
        base.transform_filter("datum.part == 'cell'")
        .mark_rect(aria=False)
        .encode(x=x_axis, x2=alt.X2("x2:Q"), y=y_axis, y2=alt.Y2("y2:Q"), color=colour)
    )
    edge = base.transform_filter("datum.part == 'edge'").mark_rule(
        color=theme.OVER_MAP, strokeWidth=1.6, strokeCap="square", aria=False
    )
    layers = [heat, *region_layers(base, x_axis, y_axis, over_map=True)] if regions else [heat]
    if boundary:
        layers.insert(1, edge.encode(x=x_axis, x2=alt.X2("x2:Q"), y=y_axis, y2=alt.Y2("y2:Q")))
    chart = alt.layer(*layers).properties(width=side, height=side)
    head = alt.Header(labelExpr=in_lines(panels, side), labelLimit=side + gap)
    facet_by = alt.Facet("facet:N", sort=panels, title=None, header=head)
    return theme.style(chart.facet(facet_by, columns=across, spacing=gap), datasets)


def _colour(domain: tuple[float, float], title: list[str], total: int, low_is_good: bool) -> alt.Color:
    """Colours that diverge from the middle of the domain, with their key above the panels."""
    stops = np.linspace(*domain, len(theme.DIVERGING)).tolist()
    # As many numbers as there are colours to mix, the middle among them: none runs into its neighbour.
    key = alt.Legend(
        title=title, orient="top", gradientLength=min(220, total // 2), values=stops, format=".3~g", titleLimit=total
    )
    colours = theme.DIVERGING[::-1] if low_is_good else theme.DIVERGING
    scale = alt.Scale(domain=stops, range=list(colours), clamp=True, interpolate="rgb")
    return alt.Color("value:Q", legend=key, scale=scale)
