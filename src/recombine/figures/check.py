"""Pictures of a check: the grid with its verdicts, or all pairs of factors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.check_cells import MARK, grid_cells, left_out, level, shown
from recombine.figures.check_marks import FILL, RING, legend
from recombine.figures.check_pairs import check_pairs
from recombine.figures.data import Datasets

if TYPE_CHECKING:
    from recombine.checks import CheckResult


def check_figure(result: CheckResult) -> alt.TopLevelMixin:
    """The one obvious picture: the grid of two factors, or the matrix of pairwise grids."""
    return check_grid(result) if len(result.space) <= 2 else check_pairs(result)


def check_grid(result: CheckResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """One or two factors: every cell with its status; suggested cells ringed."""
    rows, columns = shown(result, 0), shown(result, 1)
    cells = grid_cells(result)
    table = _cells([(level(result, 0, a), level(result, 1, b), name, ring) for a, b, name, ring in cells])
    side = _side(theme.total_width(width) - 130, len(columns), 34)
    datasets = Datasets()
    chart = _grid(datasets.add(table), result, 0, 1, rows, columns, side)
    if left := left_out(result):
        chart = chart.properties(title=alt.TitleParams(left, fontWeight="normal"))
    names = {name for _, _, name, _ in cells}
    ringed = any(ring for *_, ring in cells)
    key = legend(datasets, [name for name in FILL if name in names], theme.total_width(width), ringed)
    return theme.style(alt.vconcat(key, chart, spacing=14), datasets)


def _cells(rows: list[tuple[str, str, str, bool]]) -> pl.DataFrame:
    table = pl.DataFrame(
        rows, schema={"row": pl.String, "column": pl.String, "status": pl.String, "ring": pl.Boolean}, orient="row"
    )
    return table.with_columns(pl.col("status").replace_strict(MARK, return_dtype=pl.String).alias("mark"))


def _side(total: int, count: int, most: int) -> int:
    return max(7, min(most, total // max(1, count)))


def _grid(
    data: alt.NamedData, result: CheckResult, j: int, k: int, rows: list[int], columns: list[int], size: int
) -> alt.LayerChart | alt.FacetChart:
    names = [f.name for f in result.space.factors] + [""]
    angle = -40 if any(len(level(result, k, c)) * 6 > size for c in columns) else 0
    plain: dict[str, Any] = {"ticks": False, "domain": False, "labelLimit": 110, "grid": False,
                             "labelOverlap": "greedy" if size < 11 else False}  # fmt: skip
    x = alt.X(
        "column:N",
        sort=[level(result, k, c) for c in columns],
        title=names[k],
        axis=alt.Axis(orient="top", title=names[k] or None, labelAngle=angle, **plain),
        scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03),
    )
    y = alt.Y(
        "row:N",
        sort=[level(result, j, c) for c in rows],
        title=names[j],
        axis=alt.Axis(title=names[j] or None, titleAlign="right", titleX=-4, **plain),
        scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03),
    )
    colour = alt.Color("status:N", legend=None, scale=alt.Scale(domain=list(FILL), range=list(FILL.values())))
    base = alt.Chart(data)
    layers = [base.mark_rect(aria=False).encode(x=x, y=y, color=colour)]
    if size >= 9:
        layers.append(
            base.mark_text(aria=False, color=theme.OVER_MAP, fontSize=min(14, size - 2), baseline="middle").encode(
                x=x, y=y, text=alt.Text("mark:N")
            )
        )
    ring = base.transform_filter("datum.ring").mark_rect(
        aria=False, fillOpacity=0, stroke=RING, strokeWidth=2.5 if size >= 12 else 1.5, cornerRadius=size / 2
    )
    layers.append(ring.encode(x=x, y=y))
    return alt.layer(*layers).properties(width=size * len(columns), height=size * len(rows))


__all__ = ["check_figure", "check_grid", "check_pairs"]
