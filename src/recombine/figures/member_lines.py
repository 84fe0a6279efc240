"""Many members as thin lines: decision boundaries or trajectories, one line per member."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.axes import along, ends
from recombine.figures.data import Datasets, as_labels, faceted, pick, plain
from recombine.figures.panels import heads, side_by_side
from recombine.figures.regions import Region, region_layers, region_rows


def lines_of_members(
    table: pl.DataFrame,
    x: str,
    y: str,
    member: str,
    facet: str | None = None,
    *,
    order: str | None = None,
    most: int = 64,
    log_x: bool = False,
    x_title: str | None = None,
    y_title: str | None = None,
    facet_title: str = "",
    x_domain: tuple[float, float] | None = None,
    y_domain: tuple[float, float] | None = None,
    regions: Sequence[Region] = (),
    square: bool = False,
    own_x: bool = False,
    width: theme.Width | None = None,
) -> alt.FacetChart:
    """One row per point of a line: ``x`` and ``y`` numbers (null breaks the line), ``member`` whose line it is.

    Points are joined along ``order``, or along ``x``. At most ``most`` members are drawn, the first ones: members are
    exchangeable, so these are a sample. ``square`` gives both axes the same length, for a plane of inputs; ``own_x``
    gives every panel its own horizontal range.
    """
    data = pick(table, {"x": x, "y": y, "member": member, "facet": facet, "order": order or x})
    data, panels = faceted(data, facet_title)
    drawn = data["member"].unique(maintain_order=True).head(most)
    data = data.filter(pl.col("member").is_in(drawn.implode()))
    data = data.with_columns(pl.lit("line").alias("part"), as_labels(data["member"]), pl.col("x", "y").cast(pl.Float64))
    if regions:
        data = pl.concat([data, pl.DataFrame(region_rows(regions, panels))], how="diagonal_relaxed")

    total = theme.total_width(width)
    narrow = theme.is_narrow(width)
    across = theme.panels_across(len(panels), 3 if narrow else 4)
    if not square:
        across = side_by_side(len(panels), 3 if len(panels) == 3 else 2, width)
    gap = 14 if square else 24
    inner = (total - 58 - gap * (across - 1)) // across
    inner = min(inner, 300) if square else inner
    across_axis = along(data["x"], log_x, inner, x_domain)
    up_axis = along(data["y"], False, 450, y_domain)
    if square and x_domain and y_domain:
        across_axis["axis"], up_axis["axis"] = ends(*x_domain), ends(*y_domain, **theme.beside(inner))
    x_axis = alt.X("x:Q", title=plain(x_title or x), **across_axis)
    y_axis = alt.Y("y:Q", title=plain(y_title or y), **up_axis)
    datasets = Datasets()
    base = alt.Chart(datasets.add(data))
    opacity = max(0.2, min(0.7, 16 / max(1, len(drawn))))
    lines = base.transform_filter("datum.part == 'line'").mark_line(
        strokeWidth=1.1,
        opacity=opacity,
        color=theme.PALETTE[0],
        clip=True,
        invalid="break-paths-show-path-domains",
        aria=False,
    )
    marks = lines.encode(x=x_axis, y=y_axis, detail=alt.Detail("member:N"), order=alt.Order("order:Q"))
    layers = [marks]
    if regions:
        frame, *words = region_layers(base, x_axis, y_axis, over_map=False)
        layers = [frame, marks, *words]
    chart = alt.layer(*layers).properties(width=inner, height=inner if square else round(min(260, 0.6 * inner)))
    head = alt.Header() if square else heads(panels, inner, y_title or y)
    facet_by = alt.Facet("facet:N", sort=panels, title=None, header=head)
    faceted_chart = chart.facet(facet_by, columns=across, spacing=gap)
    return theme.style(faceted_chart.resolve_scale(x="independent") if own_x else faceted_chart, datasets)
