"""Pictures of a check: the grid with its verdicts, all pairs of factors, and the graph of pieces.

Colour never stands alone: seen cells are dark, determined ones light, undetermined ones carry a question mark, cells with
a level never seen a cross, and a cell to collect a ring.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import polars as pl

from recombine.figures import theme
from recombine.figures.data import Datasets, label

if TYPE_CHECKING:
    from recombine.checks import CheckResult

FILL = {
    "seen": "#0b4f7a",
    "determined": "#a6d4ea",
    "undetermined": "#e69f00",
    "unseen level": "#f6e3d7",
    "not asked": "#eceef0",
}
MARK = {"seen": "", "determined": "", "undetermined": "?", "unseen level": "×", "not asked": ""}
RING = "#b2182b"
MOST_LEVELS = 40
MOST_PAIR_LEVELS = 16
MOST_FACTORS = 6
GAP = 1.6
"""Between panels of the matrix, in cells."""
MARGIN, LABELS = 96, 64
"""Pixels left of and below the matrix for the names of levels."""


def check_figure(result: CheckResult) -> alt.TopLevelMixin:
    """The one obvious picture: the grid of two factors, or the matrix of pairwise grids."""
    return check_grid(result) if len(result.space) <= 2 else check_pairs(result)


def check_grid(result: CheckResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """One or two factors: every cell with its status; suggested cells ringed."""
    shape = result.space.shape if len(result.space) == 2 else (*result.space.shape, 1)
    rows, columns = (_shown(result, k, MOST_LEVELS) if k < len(result.space) else [0] for k in (0, 1))
    cells = np.array(list(itertools.product(rows, columns)), dtype=np.int64)
    status = result.known.status(cells[:, : len(result.space)])
    asked = {q.codes for q in result.queries} if result.asked != GRID else None
    names = [_name(int(s), tuple(c[: len(result.space)]), asked) for s, c in zip(status, cells.tolist(), strict=True)]
    ringed = {tuple(c) for c in result.advice.cells.tolist()}
    table = _cells(
        [
            (_level(result, 0, a), _level(result, 1, b), name, tuple((a, b)[: len(result.space)]) in ringed)
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
    key = _legend(datasets, [name for name in FILL if name in names], theme.total_width(width))
    return theme.style(alt.vconcat(key, chart, spacing=14), datasets)


def check_pairs(result: CheckResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """Three or more factors: for each pair, which level pairs were seen, and the worst status of what is asked about them.

    A lower triangle in one coordinate system, cells as the unit, so that rows and columns of all panels line up.
    """
    factors = list(range(min(len(result.space), MOST_FACTORS)))
    levels = {k: _shown(result, k, MOST_PAIR_LEVELS) for k in factors}
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
            {"x": -0.35, "y": y0[k] + i + 0.5, "text": _level(result, k, c), "at": "row"}
            for k in factors[1:]
            for i, c in enumerate(levels[k])
        ),
        *(
            {"x": x0[j] + i + 0.5, "y": down + 0.35, "text": _level(result, j, c), "at": "column"}
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
    for at, mark in (
        (
            "row",
            {"align": "right", "baseline": "middle", "color": theme.MUTED, "fontSize": small, "limit": MARGIN - 10},
        ),
        (
            "column",
            {
                "align": "right",
                "baseline": "middle",
                "angle": 315,
                "color": theme.MUTED,
                "fontSize": small,
                "limit": LABELS + 10,
            },
        ),
        (
            "head",
            {
                "align": "left",
                "baseline": "bottom",
                "color": theme.INK,
                "fontSize": theme.TEXT,
                "limit": max(60, size * 6),
            },
        ),
        (
            "side",
            {"align": "left", "baseline": "bottom", "color": theme.INK, "fontSize": theme.TEXT, "limit": MARGIN - 6},
        ),
    ):
        layers.append(
            text.transform_filter(f"datum.at == '{at}'").mark_text(aria=False, **mark).encode(x=x, y=y, text="text:N")
        )
    matrix = alt.layer(*layers).properties(width=total - 20, height=size * (down + 1) + LABELS)
    shown = [name for name in FILL if name in {c["status"] for c in cells} | {"seen"}]
    key = _legend(datasets, shown, total)
    return theme.style(alt.vconcat(key, matrix, spacing=14), datasets)


def check_graph(result: CheckResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """Two factors as a bipartite graph: levels are dots, training combinations lines, pieces share a colour and a number."""
    left, right = (_shown(result, k, MOST_LEVELS) for k in (0, 1))
    pieces = {(f, level): i for i, piece in enumerate(result.pieces) for f, found in piece.items() for level in found}
    f, g = result.space.factors
    span = max(len(left), len(right)) - 1 or 1
    place = {(0, a): span * (i + 0.5) / len(left) for i, a in enumerate(left)} | {
        (1, b): span * (i + 0.5) / len(right) for i, b in enumerate(right)
    }
    dots = [
        {
            "x": side,
            "y": place[side, code],
            "name": _level(result, side, code),
            "piece": _piece(pieces.get((factor.name, (factor.levels or ())[code]), 0)),
        }
        for side, factor, codes in ((0, f, left), (1, g, right))
        for code in codes
    ]
    lines = [
        {
            "x": 0,
            "y": place[0, a],
            "x2": 1,
            "y2": place[1, b],
            "piece": _piece(pieces[f.name, (f.levels or ())[a]]),
            "kind": "seen",
        }
        for a, b in result.known.codes.tolist()
        if (0, a) in place and (1, b) in place
    ]
    lines += [
        {"x": 0, "y": place[0, a], "x2": 1, "y2": place[1, b], "piece": "collect", "kind": "collect"}
        for a, b in result.advice.cells.tolist()
        if (0, a) in place and (1, b) in place
    ]
    datasets = Datasets()
    named = sorted({d["piece"] for d in dots}, key=lambda p: (len(str(p)), str(p)))
    colours = alt.Scale(
        domain=[*named, "collect"], range=[*[theme.PALETTE[i % len(theme.PALETTE)] for i in range(len(named))], RING]
    )
    shade = alt.Color(
        "piece:N",
        scale=colours,
        legend=alt.Legend(
            title=None,
            orient="bottom",
            values=[*named[:8], *(["collect"] if len(result.advice.cells) else [])],
            symbolOpacity=1,
        ),
    )
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.6, 1.6]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(reverse=True))
    edge = alt.Chart(datasets.add(pl.DataFrame(lines))).mark_rule(strokeWidth=1.4, opacity=0.75, aria=False)
    edges = edge.encode(
        x=x,
        x2="x2:Q",
        y=y,
        y2="y2:Q",
        color=shade,
        strokeDash=alt.StrokeDash(
            "kind:N", legend=None, scale=alt.Scale(domain=["seen", "collect"], range=[[1, 0], [5, 3]])
        ),
    )
    node = alt.Chart(datasets.add(pl.DataFrame(dots)))
    points = node.mark_point(filled=True, size=70, opacity=1, aria=False).encode(
        x=x,
        y=y,
        color=shade,
        shape=alt.Shape(
            "piece:N",
            legend=None,
            scale=alt.Scale(
                domain=[*named, "collect"],
                range=[*[theme.SHAPES[i % len(theme.SHAPES)] for i in range(len(named))], "stroke"],
            ),
        ),
    )
    names_left = (
        node.transform_filter("datum.x == 0")
        .mark_text(align="right", dx=-9, limit=130, aria=False)
        .encode(x=x, y=y, text="name:N")
    )
    names_right = (
        node.transform_filter("datum.x == 1")
        .mark_text(align="left", dx=9, limit=130, aria=False)
        .encode(x=x, y=y, text="name:N")
    )
    heads = alt.Chart(datasets.add(pl.DataFrame({"x": [0, 1], "name": [f.name, g.name], "at": ["left", "right"]})))
    titles = heads.mark_text(dy=-14, y=0, fontWeight="bold", limit=150, aria=False).encode(x=x, text="name:N")
    height = max(70, min(640, 24 * max(len(left), len(right))))
    chart = alt.layer(edges, points, names_left, names_right, titles).properties(
        width=min(420, theme.total_width(width) - 20), height=height
    )
    return theme.style(chart, datasets)


GRID = "the grid of the table's levels minus training"


def _piece(number: int) -> str:
    return f"piece {number + 1}"


def _name(status: int, codes: tuple[int, ...], asked: set[tuple[int, ...]] | None) -> str:
    name = list(FILL)[status]
    return name if asked is None or name == "seen" or codes in asked else "not asked"


def _level(result: CheckResult, factor: int, code: int) -> str:
    return label((result.space.factors[factor].levels or ())[code]) if factor < len(result.space) else ""


def _shown(result: CheckResult, factor: int, most: int) -> list[int]:
    """Codes of the levels drawn: all, or those of suggestions and the worst queries first."""
    count = result.space.shape[factor]
    if count <= most:
        return list(range(count))
    wanted = [int(c) for c in result.advice.cells[:, factor]] + [q.codes[factor] for q in result.queries]
    first = list(dict.fromkeys([*wanted, *range(count)]))[:most]
    return sorted(first)


def _cells(rows: list[tuple[str, str, str, bool]]) -> pl.DataFrame:
    table = pl.DataFrame(
        rows, schema={"row": pl.String, "column": pl.String, "status": pl.String, "ring": pl.Boolean}, orient="row"
    )
    return table.with_columns(pl.col("status").replace_strict(MARK, return_dtype=pl.String).alias("mark"))


def _pair_cells(
    result: CheckResult, row: int, column: int, levels: dict[int, list[int]]
) -> list[tuple[int, int, str, bool]]:
    """(place down, place across, status, ringed) of each level pair; what is asked and unanswered outweighs what was seen."""
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


def _side(total: int, count: int, most: int) -> int:
    return max(7, min(most, total // max(1, count)))


def _grid(
    data: alt.NamedData, result: CheckResult, j: int, k: int, rows: list[int], columns: list[int], size: int
) -> alt.LayerChart:
    names = [f.name for f in result.space.factors] + [""]
    widest = max(len(_level(result, j, c)) for c in rows)
    angle = -40 if any(len(_level(result, k, c)) * 6 > size for c in columns) else 0
    x = alt.X(
        "column:N",
        sort=[_level(result, k, c) for c in columns],
        title=names[k],
        axis=alt.Axis(
            orient="top",
            title=names[k] or None,
            labelAngle=angle,
            ticks=False,
            domain=False,
            labelLimit=110,
            grid=False,
            labelOverlap="greedy" if size < 11 else False,
        ),
        scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03),
    )
    y = alt.Y(
        "row:N",
        sort=[_level(result, j, c) for c in rows],
        title=names[j],
        axis=alt.Axis(
            title=names[j] or None,
            titleAngle=-90,
            titleAlign="center",
            titleAnchor="middle",
            titleBaseline="bottom",
            titleX=-12 - min(110, 6.4 * widest),
            titleY=size * len(rows) / 2,
            ticks=False,
            domain=False,
            labelLimit=110,
            grid=False,
            labelOverlap="greedy" if size < 11 else False,
        ),
        scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03),
    )
    colour = alt.Color("status:N", legend=None, scale=alt.Scale(domain=list(FILL), range=list(FILL.values())))
    base = alt.Chart(data)
    layers = [base.mark_rect(aria=False).encode(x=x, y=y, color=colour)]
    if size >= 9:
        layers.append(
            base.mark_text(aria=False, color=theme.OVER_MAP, fontSize=min(14, size - 2), baseline="middle").encode(
                x=x, y=y, text="mark:N"
            )
        )
    ring = base.transform_filter("datum.ring").mark_rect(
        aria=False, fillOpacity=0, stroke=RING, strokeWidth=2.5 if size >= 12 else 1.5, cornerRadius=size / 2
    )
    layers.append(ring.encode(x=x, y=y))
    return alt.layer(*layers).properties(width=size * len(columns), height=size * len(rows))


def _legend(datasets: Datasets, names: list[str], width: int) -> alt.LayerChart:
    """A key of its own, so that no panel is squeezed by one; on a telephone it wraps."""
    across = min(len(names) + 1, max(2, width // 125))
    step = min(140, width // across)
    rows = [{"x": i % across * step, "y": i // across, "text": name, "mark": MARK.get(name, ""), "status": name} for i, name in enumerate([*names, "collect"])]
    lines = rows[-1]["y"] + 1
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False, zero=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[lines - 0.5, -0.5], nice=False, zero=False))
    base = alt.Chart(datasets.add(pl.DataFrame(rows)))
    colour = alt.Color("status:N", legend=None, scale=alt.Scale(domain=list(FILL), range=list(FILL.values())))
    boxes = base.transform_filter("datum.status != 'collect'").mark_square(size=170, opacity=1, xOffset=8, aria=False)
    ring = base.transform_filter("datum.status == 'collect'").mark_circle(
        size=150, xOffset=8, fillOpacity=0, stroke=RING, strokeWidth=2.5, opacity=1, aria=False
    )
    marks = base.mark_text(xOffset=8, color=theme.OVER_MAP, fontSize=12, aria=False)
    words = base.mark_text(align="left", dx=20, fontSize=theme.TEXT, aria=False)
    return alt.layer(
        boxes.encode(x=x, y=y, color=colour), ring.encode(x=x, y=y), marks.encode(x=x, y=y, text="mark:N"), words.encode(x=x, y=y, text="text:N")
    ).properties(width=width - 4, height=22 * lines)
