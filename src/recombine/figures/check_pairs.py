"""Three or more factors: the matrix of pairwise grids."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from recombine.figures import theme
from recombine.figures.check_marks import FILL, MARK, RING, legend, level, shown
from recombine.figures.data import Datasets

if TYPE_CHECKING:
    from recombine.checks import CheckResult

MOST_LEVELS = 16
MOST_FACTORS = 6
GAP = 1.6
"""Between panels, in cells."""
MARGIN, LABELS = 96, 64
"""Pixels left of and below the matrix for the names of levels."""


def check_pairs(result: CheckResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """Three or more factors: for each pair, which level pairs were seen, and the worst status of what is asked about
    them.

    A lower triangle in one coordinate system, cells as the unit, so that rows and columns of all panels line up.
    """
    factors = list(range(min(len(result.space), MOST_FACTORS)))
    levels = {k: shown(result, k, MOST_LEVELS) for k in factors}
    x0 = dict(
        zip(factors[:-1], itertools.accumulate([0.0] + [len(levels[k]) + GAP for k in factors[:-1]]), strict=False)
    )
    y0 = dict(zip(factors[1:], itertools.accumulate([0.0] + [len(levels[k]) + GAP for k in factors[1:]]), strict=False))
    across = x0[factors[-2]] + len(levels[factors[-2]])
    down = y0[factors[-1]] + len(levels[factors[-1]])
    total = theme.total_width(width)
    size = max(5.0, min(26.0, (total - MARGIN - 20) / across))
    cells = [
        {"x": x0[j] + b, "y": y0[k] + a, "status": status, "mark": MARK[status], "ring": ring}
        for k in factors[1:]
        for j in factors[:k]
        for a, b, status, ring in _pair_cells(result, k, j, levels)
    ]
    names = [
        *(
            {"x": -0.35, "y": y0[k] + i + 0.5, "text": level(result, k, c), "at": "row"}
            for k in factors[1:]
            for i, c in enumerate(levels[k])
        ),
        *(
            {"x": x0[j] + i + 0.5, "y": down + 0.35, "text": level(result, j, c), "at": "column"}
            for j in factors[:-1]
            for i, c in enumerate(levels[j])
        ),
        *(
            {"x": x0[j], "y": y0[j + 1] - 0.25 if j else -0.25, "text": result.space.names[j], "at": "head"}
            for j in factors[:-1]
        ),
        *({"x": -MARGIN / size, "y": y0[k] - 0.25, "text": result.space.names[k], "at": "side"} for k in factors[1:]),
    ]
    datasets = Datasets()
    x = alt.X(
        "x:Q",
        axis=None,
        scale=alt.Scale(domain=[-MARGIN / size, max(across, (total - MARGIN - 20) / size)], nice=False),
    )
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[down + LABELS / size, -1.0], nice=False))
    table = pl.DataFrame(cells).with_columns(
        (pl.col("x") + 0.94).alias("x2"),
        (pl.col("y") + 0.94).alias("y2"),
        (pl.col("x") + 0.47).alias("xm"),
        (pl.col("y") + 0.47).alias("ym"),
    )
    base = alt.Chart(datasets.add(table))
    colour = alt.Color("status:N", legend=None, scale=alt.Scale(domain=list(FILL), range=list(FILL.values())))
    layers = [base.mark_rect(aria=False).encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=colour)]
    if size >= 9:
        glyph = base.mark_text(aria=False, color=theme.OVER_MAP, fontSize=min(14, size - 3), baseline="middle")
        layers.append(glyph.encode(x=alt.X("xm:Q", axis=None), y=alt.Y("ym:Q", axis=None), text="mark:N"))
    ring = base.transform_filter("datum.ring").mark_rect(
        aria=False, fillOpacity=0, stroke=RING, strokeWidth=2 if size >= 12 else 1.2, cornerRadius=size / 2
    )
    layers.append(ring.encode(x=x, x2="x2:Q", y=y, y2="y2:Q"))
    text = alt.Chart(datasets.add(pl.DataFrame(names)))
    small = max(7, min(theme.SMALL, int(size)))
    places: dict[str, dict[str, Any]] = {
        "row": {"align": "right", "baseline": "middle", "color": theme.MUTED, "fontSize": small, "limit": MARGIN - 10},
        "column": {
            "align": "right",
            "baseline": "middle",
            "angle": 315,
            "color": theme.MUTED,
            "fontSize": small,
            "limit": LABELS + 10,
        },
        "head": {
            "align": "left",
            "baseline": "bottom",
            "color": theme.INK,
            "fontSize": theme.TEXT,
            "limit": max(60, size * 6),
        },
        "side": {
            "align": "left",
            "baseline": "bottom",
            "color": theme.INK,
            "fontSize": theme.TEXT,
            "limit": MARGIN - 6,
        },
    }
    for at, mark in places.items():
        layers.append(
            text.transform_filter(f"datum.at == '{at}'").mark_text(aria=False, **mark).encode(x=x, y=y, text="text:N")
        )
    matrix = alt.layer(*layers).properties(width=total - 20, height=size * (down + 1) + LABELS)
    present = [name for name in FILL if name in {c["status"] for c in cells} | {"seen"}]
    key = legend(datasets, present, total)
    return theme.style(alt.vconcat(key, matrix, spacing=14), datasets)


def _pair_cells(
    result: CheckResult, row: int, column: int, levels: dict[int, list[int]]
) -> list[tuple[int, int, str, bool]]:
    """(place down, place across, status, ringed) of each level pair; what is asked and unanswered outweighs what
    was seen.
    """
    known = result.known
    shape = (known.shape[row], known.shape[column])
    seen = np.zeros(shape, dtype=bool)
    seen[known.codes[:, row], known.codes[:, column]] = True
    worst = np.full(shape, -1)
    names = list(FILL)
    for query in result.queries:
        at = (query.codes[row], query.codes[column])
        worst[at] = max(worst[at], names.index(query.status))
    ringed = {(int(c[row]), int(c[column])) for c in result.advice.cells}
    cells = []
    for i, a in enumerate(levels[row]):
        for j, b in enumerate(levels[column]):
            bad = worst[a, b] >= names.index("undetermined")
            status = (
                names[worst[a, b]]
                if bad or (worst[a, b] >= 0 and not seen[a, b])
                else "seen"
                if seen[a, b]
                else "not asked"
            )
            cells.append((i, j, status, (a, b) in ringed))
    return cells
