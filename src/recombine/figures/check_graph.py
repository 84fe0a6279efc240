"""Two factors as a bipartite graph with its connected pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.check_marks import RING, level, shown
from recombine.figures.data import Datasets

if TYPE_CHECKING:
    from recombine.checks import CheckResult

MOST_LEVELS = 40


def check_graph(result: CheckResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """Two factors as a bipartite graph: levels are dots, training combinations lines, pieces share a colour and a
    number.
    """
    left, right = (shown(result, k, MOST_LEVELS) for k in (0, 1))
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
            "name": level(result, side, code),
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
    named: list[str] = sorted({str(d["piece"]) for d in dots}, key=lambda p: (len(str(p)), str(p)))
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


def _piece(number: int) -> str:
    return f"piece {number + 1}"
