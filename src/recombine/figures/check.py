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

FILL = {"seen": "#0b4f7a", "determined": "#a6d4ea", "undetermined": "#e69f00", "unseen level": "#f6e3d7", "not asked": "#eceef0"}
MARK = {"seen": "", "determined": "", "undetermined": "?", "unseen level": "×", "not asked": ""}
RING = "#b2182b"
MOST_LEVELS = 40
MOST_PAIR_LEVELS = 16
MOST_FACTORS = 6


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
        [(_level(result, 0, a), _level(result, 1, b), name, tuple((a, b)[: len(result.space)]) in ringed) for (a, b), name in zip(cells.tolist(), names, strict=True)]
    )
    side = _side(theme.total_width(width) - 130, len(columns), 34)
    datasets = Datasets()
    chart = _grid(datasets.add(table), result, 0, 1, rows, columns, side, legend=True, present=set(names))
    cut = [f.name for f, n, s in zip(result.space.factors, shape, (rows, columns), strict=False) if len(s) < n]
    if cut:
        chart = chart.properties(title=alt.TitleParams(f"first {MOST_LEVELS} levels of {', '.join(cut)}", fontWeight="normal"))
    return theme.style(alt.layer(chart) if not isinstance(chart, alt.LayerChart) else chart, datasets)


def check_pairs(result: CheckResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """Three or more factors: for each pair, which level pairs were seen, and the worst status of what is asked about them."""
    factors = list(range(min(len(result.space), MOST_FACTORS)))
    levels = {k: _shown(result, k, MOST_PAIR_LEVELS) for k in factors}
    across = len(factors) - 1
    total = theme.total_width(width) - 90
    size = max(6, min(24, int(total / sum(len(levels[k]) for k in factors[1:])) - 1))
    datasets = Datasets()
    lines = []
    for j in factors[:-1]:
        panels: list[alt.TopLevelMixin] = []
        for k in factors[1:]:
            if k <= j:
                blank = alt.Chart(alt.InlineData(values=[{}])).mark_point(opacity=0)
                panels.append(blank.properties(width=size * len(levels[k]), height=size * len(levels[j])))
                continue
            table = _pair_table(result, j, k, levels)
            panels.append(_grid(datasets.add(table), result, j, k, levels[j], levels[k], size, legend=False, present=set(), titles=(k == j + 1)))
        lines.append(alt.hconcat(*panels, spacing=14))
    key = _legend(datasets, ["seen", "determined", "undetermined", "unseen level"], theme.total_width(width))
    assert across >= 1
    return theme.style(alt.vconcat(key, *lines, spacing=12), datasets)


def check_graph(result: CheckResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """Two factors as a bipartite graph: levels are dots, training combinations lines, pieces share a colour and a number."""
    left, right = (_shown(result, k, MOST_LEVELS) for k in (0, 1))
    pieces = {(f, level): i for i, piece in enumerate(result.pieces) for f, found in piece.items() for level in found}
    f, g = result.space.factors
    span = max(len(left), len(right)) - 1 or 1
    place = {(0, a): span * (i + 0.5) / len(left) for i, a in enumerate(left)} | {(1, b): span * (i + 0.5) / len(right) for i, b in enumerate(right)}
    dots = [
        {"x": side, "y": place[side, code], "name": _level(result, side, code), "piece": _piece(pieces.get((factor.name, (factor.levels or ())[code]), 0))}
        for side, factor, codes in ((0, f, left), (1, g, right))
        for code in codes
    ]
    lines = [
        {"x": 0, "y": place[0, a], "x2": 1, "y2": place[1, b], "piece": _piece(pieces[f.name, (f.levels or ())[a]]), "kind": "seen"}
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
    colours = alt.Scale(domain=[*named, "collect"], range=[*[theme.PALETTE[i % len(theme.PALETTE)] for i in range(len(named))], RING])
    shade = alt.Color("piece:N", scale=colours, legend=alt.Legend(title=None, values=[*named[:8], *(["collect"] if len(result.advice.cells) else [])], symbolType="circle"))
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.6, 1.6]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(reverse=True))
    edge = alt.Chart(datasets.add(pl.DataFrame(lines))).mark_rule(strokeWidth=1.4, opacity=0.75, aria=False)
    edges = edge.encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=shade, strokeDash=alt.StrokeDash("kind:N", legend=None, scale=alt.Scale(domain=["seen", "collect"], range=[[1, 0], [5, 3]])))
    node = alt.Chart(datasets.add(pl.DataFrame(dots)))
    points = node.mark_point(filled=True, size=70, opacity=1, aria=False).encode(x=x, y=y, color=shade, shape=alt.Shape("piece:N", legend=None, scale=alt.Scale(domain=[*named, "collect"], range=[theme.SHAPES[i % len(theme.SHAPES)] for i in range(len(named) + 1)])))
    names_left = node.transform_filter("datum.x == 0").mark_text(align="right", dx=-9, limit=130, aria=False).encode(x=x, y=y, text="name:N")
    names_right = node.transform_filter("datum.x == 1").mark_text(align="left", dx=9, limit=130, aria=False).encode(x=x, y=y, text="name:N")
    heads = alt.Chart(datasets.add(pl.DataFrame({"x": [0, 1], "name": [f.name, g.name], "at": ["left", "right"]})))
    titles = heads.mark_text(dy=-14, y=0, fontWeight="bold", limit=150, aria=False).encode(x=x, text="name:N")
    height = max(70, min(640, 24 * max(len(left), len(right))))
    chart = alt.layer(edges, points, names_left, names_right, titles).properties(width=min(420, theme.total_width(width) - 20), height=height)
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
    table = pl.DataFrame(rows, schema={"row": pl.String, "column": pl.String, "status": pl.String, "ring": pl.Boolean}, orient="row")
    return table.with_columns(pl.col("status").replace_strict(MARK, return_dtype=pl.String).alias("mark"))


def _pair_table(result: CheckResult, j: int, k: int, levels: dict[int, list[int]]) -> pl.DataFrame:
    known = result.known
    shape = (known.shape[j], known.shape[k])
    seen = np.zeros(shape, dtype=bool)
    seen[known.codes[:, j], known.codes[:, k]] = True
    worst = np.full(shape, -1)
    order = {name: i for i, name in enumerate(FILL)}
    for query in result.queries:
        at = (query.codes[j], query.codes[k])
        worst[at] = max(worst[at], order[query.status])
    ringed = {(int(c[j]), int(c[k])) for c in result.advice.cells}
    names = list(FILL)
    rows = []
    for a in levels[j]:
        for b in levels[k]:
            status = names[worst[a, b]] if worst[a, b] >= 2 else "seen" if seen[a, b] else names[worst[a, b]] if worst[a, b] >= 0 else "not asked"
            rows.append((_level(result, j, a), _level(result, k, b), status, (a, b) in ringed))
    return _cells(rows)


def _side(total: int, count: int, most: int) -> int:
    return max(7, min(most, total // max(1, count)))


def _grid(data: alt.NamedData, result: CheckResult, j: int, k: int, rows: list[int], columns: list[int], size: int, *, legend: bool, present: set[str], titles: bool = True) -> alt.LayerChart:
    names = [f.name for f in result.space.factors] + [""]
    angle = -40 if any(len(_level(result, k, c)) * 6 > size for c in columns) else 0
    x = alt.X("column:N", sort=[_level(result, k, c) for c in columns], title=names[k], axis=alt.Axis(orient="top", labels=titles, title=names[k] if titles else None, labelAngle=angle, ticks=False, domain=False, labelLimit=110, grid=False, labelOverlap="greedy" if size < 11 else False), scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03))
    y = alt.Y("row:N", sort=[_level(result, j, c) for c in rows], title=names[j], axis=alt.Axis(labels=titles, title=names[j] if titles else None, ticks=False, domain=False, labelLimit=110, grid=False, labelOverlap="greedy" if size < 11 else False), scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03))
    shown = [name for name in FILL if name in present] if legend else list(FILL)
    key = alt.Legend(title=None, symbolType="square", symbolStrokeWidth=0, symbolSize=140) if legend else None
    colour = alt.Color("status:N", legend=key, scale=alt.Scale(domain=shown, range=[FILL[name] for name in shown]))
    base = alt.Chart(data)
    layers = [base.mark_rect(aria=False).encode(x=x, y=y, color=colour)]
    if size >= 9:
        layers.append(base.mark_text(aria=False, color=theme.OVER_MAP, fontSize=min(14, size - 2), baseline="middle").encode(x=x, y=y, text="mark:N"))
    ring = base.transform_filter("datum.ring").mark_rect(aria=False, fillOpacity=0, stroke=RING, strokeWidth=2.5 if size >= 12 else 1.5, cornerRadius=size / 2)
    layers.append(ring.encode(x=x, y=y))
    return alt.layer(*layers).properties(width=size * len(columns), height=size * len(rows))


def _legend(datasets: Datasets, names: list[str], width: int) -> alt.LayerChart:
    """A key of its own for the matrix, so that no panel is squeezed by one."""
    step = min(130, width // (len(names) + 1))
    rows = [{"x": i * step, "text": name, "mark": MARK[name], "status": name} for i, name in enumerate(names)]
    data = datasets.add(pl.DataFrame([*rows, {"x": len(names) * step, "text": "collect", "mark": "", "status": "ring"}]))
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False, zero=False))
    base = alt.Chart(data)
    colour = alt.Color("status:N", legend=None, scale=alt.Scale(domain=list(FILL), range=list(FILL.values())))
    boxes = base.transform_filter("datum.status != 'ring'").mark_square(size=170, opacity=1, xOffset=8, aria=False).encode(x=x, y=alt.value(10), color=colour)
    ring = base.transform_filter("datum.status == 'ring'").mark_circle(size=150, xOffset=8, fillOpacity=0, stroke=RING, strokeWidth=2.5, opacity=1, aria=False).encode(x=x, y=alt.value(10))
    marks = base.mark_text(xOffset=8, color=theme.OVER_MAP, fontSize=12, aria=False).encode(x=x, y=alt.value(10), text="mark:N")
    words = base.mark_text(align="left", dx=20, fontSize=theme.TEXT, aria=False).encode(x=x, y=alt.value(10), text="text:N")
    return alt.layer(boxes, ring, marks, words).properties(width=width - 4, height=20)
