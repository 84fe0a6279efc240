"""Pictures of a check: the grid with its verdicts, all pairs of factors, and the graph of pieces.

Colour never stands alone: seen cells are dark, determined ones light, undetermined ones carry a question mark, cells
with a level never seen a cross, and a cell to collect a ring.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from recombine.figures import check_pairs as pairs, theme
from recombine.figures.check_graph import check_graph
from recombine.figures.check_marks import FILL, MARK, RING, legend, level, shown, to_collect
from recombine.figures.check_pairs import check_pairs
from recombine.figures.data import Datasets

if TYPE_CHECKING:
    from recombine.checks import CheckResult

MOST_LEVELS = 40
GRID = "the grid of the table's levels minus training"


def check_figure(result: CheckResult) -> alt.TopLevelMixin:
    """The one obvious picture: the grid of two factors, or the matrix of pairwise grids."""
    return check_grid(result) if len(result.space) <= 2 else check_pairs(result)


def left_out(result: CheckResult) -> str:
    """What the picture has no room for."""
    most, drawn = (MOST_LEVELS, 2) if len(result.space) <= 2 else (pairs.MOST_LEVELS, pairs.MOST_FACTORS)
    words = [f"Not drawn: {', '.join(result.space.names[drawn:])}."] if len(result.space) > drawn else []
    cut = [f.name for f in result.space.factors[:drawn] if len(f) > most]
    return " ".join(words + ([f"Of {', '.join(cut)} {most} levels are drawn."] if cut else []))


def check_grid(result: CheckResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """One or two factors: every cell with its status; suggested cells ringed."""
    shape = result.space.shape if len(result.space) == 2 else (*result.space.shape, 1)
    rows, columns = (shown(result, k, MOST_LEVELS) if k < len(result.space) else [0] for k in (0, 1))
    cells = np.array(list(itertools.product(rows, columns)), dtype=np.int64)
    status = result.known.status(cells[:, : len(result.space)])
    asked = {q.codes for q in result.queries} if result.asked != GRID else None
    names = [_name(int(s), tuple(c[: len(result.space)]), asked) for s, c in zip(status, cells.tolist(), strict=True)]
    ringed = {tuple(c) for c in to_collect(result).tolist()}
    table = _cells(
        [
            (level(result, 0, a), level(result, 1, b), name, tuple((a, b)[: len(result.space)]) in ringed)
            for (a, b), name in zip(cells.tolist(), names, strict=True)
        ]
    )
    side = _side(theme.total_width(width) - 130, len(columns), 34)
    datasets = Datasets()
    chart = _grid(datasets.add(table), result, 0, 1, rows, columns, side)
    cut = [f.name for f, n, s in zip(result.space.factors, shape, (rows, columns), strict=False) if len(s) < n]
    if cut:
        chart = chart.properties(
            title=alt.TitleParams(f"first {MOST_LEVELS} levels of {', '.join(cut)}", fontWeight="normal")
        )
    key = legend(datasets, [name for name in FILL if name in names], theme.total_width(width), bool(ringed))
    return theme.style(alt.vconcat(key, chart, spacing=14), datasets)


def _name(status: int, codes: tuple[int, ...], asked: set[tuple[int, ...]] | None) -> str:
    name = list(FILL)[status]
    return name if asked is None or name == "seen" or codes in asked else "not asked"


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


__all__ = ["check_figure", "check_graph", "check_grid", "check_pairs"]
