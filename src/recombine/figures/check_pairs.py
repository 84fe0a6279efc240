"""Three or more factors: the matrix of pairwise grids."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.check_cells import MOST_FACTORS, asked_with, level, pair_cells, shown, worst_mark
from recombine.figures.check_marks import FILL, RING, legend
from recombine.figures.data import Datasets

if TYPE_CHECKING:
    from recombine.checks import CheckResult

SHOWS = [
    "Colour: the pair of levels was seen, or what most of the combinations asked with it are.",
    "Sign: the worst of what is asked with it.",
]
RINGED = "Ring: a pair that was not seen and is to be collected."
GAP = 1.6
"""Between panels, in cells."""
MARGIN, LABELS = 96, 64
"""Pixels left of and below the matrix for the names of levels."""


def check_pairs(result: CheckResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """Three or more factors: the colour of a pair of levels says whether it was seen, or else what most of the
    combinations asked with it are; its sign is that of the worst of them.

    A lower triangle in one coordinate system, cells as the unit, so that rows and columns of all panels line up.
    """
    sheet = _layout(result)
    total = theme.total_width(width)
    size = max(5.0, min(26.0, (total - MARGIN - 20) / sheet.across))
    cells = [
        {
            "x": sheet.x0[j] + sheet.levels[j].index(b),
            "y": sheet.y0[k] + sheet.levels[k].index(a),
            "status": status,
            "mark": worst_mark(result, asked.get((a, b))),
            "ring": ring,
        }
        for k in sheet.rows
        for j in range(k)
        for asked in [asked_with(result, k, j)]
        for a, b, status, ring in pair_cells(result, k, j)
    ]
    datasets = Datasets()
    right = max(sheet.across, (total - MARGIN - 20) / size)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-MARGIN / size, right], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[sheet.down + LABELS / size, -1.0], nice=False))
    table = pl.DataFrame(cells).with_columns(
        (pl.col("x") + 0.94).alias("x2"),
        (pl.col("y") + 0.94).alias("y2"),
        (pl.col("x") + 0.47).alias("xm"),
        (pl.col("y") + 0.47).alias("ym"),
    )
    layers = _cell_layers(alt.Chart(datasets.add(table)), x, y, size)
    text = alt.Chart(datasets.add(pl.DataFrame(_names(result, sheet, size))))
    for at, mark in _places(size).items():
        layers.append(
            text.transform_filter(f"datum.at == '{at}'")
            .mark_text(aria=False, **mark)
            .encode(x=x, y=y, text=alt.Text("text:N"))
        )
    ringed = any(cell["ring"] for cell in cells)
    told = alt.TitleParams([*SHOWS, *([RINGED] if ringed else [])], fontWeight="normal", anchor="start")
    matrix = alt.layer(*layers).properties(width=total - 20, height=size * (sheet.down + 1) + LABELS, title=told)
    present = [name for name in FILL if name in {c["status"] for c in cells} | {"seen"}]
    key = legend(datasets, present, total, ringed)
    return theme.style(alt.vconcat(key, matrix, spacing=14), datasets)


@dataclass(frozen=True)
class _Layout:
    """Where each panel begins, in cells: ``x0`` by the factor across, ``y0`` by the factor down."""

    levels: dict[int, list[int]]
    x0: dict[int, float]
    y0: dict[int, float]

    @property
    def columns(self) -> list[int]:
        return list(self.x0)

    @property
    def rows(self) -> list[int]:
        return list(self.y0)

    @property
    def across(self) -> float:
        last = self.columns[-1]
        return self.x0[last] + len(self.levels[last])

    @property
    def down(self) -> float:
        last = self.rows[-1]
        return self.y0[last] + len(self.levels[last])


def _layout(result: CheckResult) -> _Layout:
    factors = list(range(min(len(result.space), MOST_FACTORS)))
    levels = {k: shown(result, k) for k in factors}

    def begins(among: list[int]) -> dict[int, float]:
        sizes = [0.0, *(len(levels[k]) + GAP for k in among)]
        return dict(zip(among, itertools.accumulate(sizes), strict=False))

    return _Layout(levels, begins(factors[:-1]), begins(factors[1:]))


def _cell_layers(base: alt.Chart, x: alt.X, y: alt.Y, size: float) -> list[Any]:
    """The cells by status, its sign where there is room for one, and a ring around what to collect."""
    colour = alt.Color("status:N", legend=None, scale=alt.Scale(domain=list(FILL), range=list(FILL.values())))
    layers: list[Any] = [
        base.mark_rect(aria=False).encode(x=x, x2=alt.X2("x2:Q"), y=y, y2=alt.Y2("y2:Q"), color=colour)
    ]
    if size >= 9:
        ink = alt.condition("datum.status == 'seen'", alt.value("#ffffff"), alt.value(theme.OVER_MAP))
        glyph = base.mark_text(aria=False, fontSize=min(14, size - 3), baseline="middle")
        place = {"x": alt.X("xm:Q", axis=None), "y": alt.Y("ym:Q", axis=None)}
        layers.append(glyph.encode(**place, text=alt.Text("mark:N"), color=ink))
    ring = base.transform_filter("datum.ring").mark_rect(
        aria=False, fillOpacity=0, stroke=RING, strokeWidth=2 if size >= 12 else 1.2, cornerRadius=size / 2
    )
    return [*layers, ring.encode(x=x, x2=alt.X2("x2:Q"), y=y, y2=alt.Y2("y2:Q"))]


def _names(result: CheckResult, sheet: _Layout, size: float) -> list[dict[str, Any]]:
    """Levels left of and below the matrix, factors above their first panel and at the side."""
    x0, y0, levels, space = sheet.x0, sheet.y0, sheet.levels, result.space
    rows = [
        {"x": -0.35, "y": y0[k] + i + 0.5, "text": level(result, k, c), "at": "row"}
        for k in sheet.rows
        for i, c in enumerate(levels[k])
    ]
    columns = [
        {"x": x0[j] + i + 0.5, "y": sheet.down + 0.35, "text": level(result, j, c), "at": "column"}
        for j in sheet.columns
        for i, c in enumerate(levels[j])
    ]
    heads = [
        {"x": x0[j], "y": y0[j + 1] - 0.25 if j else -0.25, "text": space.names[j], "at": "head"} for j in sheet.columns
    ]
    sides = [{"x": -MARGIN / size, "y": y0[k] - 0.25, "text": space.names[k], "at": "side"} for k in sheet.rows]
    return [*rows, *columns, *heads, *sides]


def _places(size: float) -> dict[str, dict[str, Any]]:
    """How names are set, by where they stand."""
    small = max(7, min(theme.SMALL, int(size)))
    of_level = {"align": "right", "baseline": "middle", "color": theme.MUTED, "fontSize": small}
    of_factor = {"align": "left", "baseline": "bottom", "color": theme.INK, "fontSize": theme.TEXT}
    return {
        "row": {**of_level, "limit": MARGIN - 10},
        "column": {**of_level, "angle": 315, "limit": LABELS + 10},
        "head": {**of_factor, "limit": max(60, size * 6)},
        "side": {**of_factor, "limit": MARGIN - 6},
    }
