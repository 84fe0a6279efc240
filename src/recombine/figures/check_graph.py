"""Two factors as a bipartite graph with its connected pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.check_marks import RING, level, shown
from recombine.figures.data import Datasets

if TYPE_CHECKING:
    from recombine.checks import CheckResult

MOST_LEVELS = 40
DASH = alt.StrokeDash("kind:N", legend=None, scale=alt.Scale(domain=["seen", "collect"], range=[[1, 0], [5, 3]]))

SIDES: tuple[tuple[int, Literal["right", "left"], int], ...] = ((0, "right", -9), (1, "left", 9))
"""Where the names of each factor's levels stand: at 0 to the left of their dots, at 1 to the right."""

Row = dict[str, Any]


def check_graph(result: CheckResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """Two factors as a bipartite graph: levels are dots, training combinations lines, pieces share a colour and a
    number.
    """
    left, right = (shown(result, k, MOST_LEVELS) for k in (0, 1))
    dots, lines = _graph(result, left, right)
    named = sorted({str(dot["piece"]) for dot in dots}, key=lambda piece: (len(piece), piece))
    datasets = Datasets()
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.6, 1.6]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(reverse=True))
    shade = _shade(named, collecting=len(result.advice.cells) > 0)
    edges = (
        alt.Chart(datasets.add(pl.DataFrame(lines)))
        .mark_rule(strokeWidth=1.4, opacity=0.75, aria=False)
        .encode(x=x, x2=alt.X2("x2:Q"), y=y, y2=alt.Y2("y2:Q"), color=shade, strokeDash=DASH)
    )
    node = alt.Chart(datasets.add(pl.DataFrame(dots)))
    looks = alt.Scale(domain=[*named, "collect"], range=[*_each(theme.SHAPES, named), "stroke"])
    points = node.mark_point(filled=True, size=70, opacity=1, aria=False).encode(
        x=x, y=y, color=shade, shape=alt.Shape("piece:N", legend=None, scale=looks)
    )
    names = [
        node.transform_filter(f"datum.x == {side}")
        .mark_text(align=align, dx=dx, limit=130, aria=False)
        .encode(x=x, y=y, text=alt.Text("name:N"))
        for side, align, dx in SIDES
    ]
    both = pl.DataFrame({"x": [0, 1], "name": list(result.space.names), "at": ["left", "right"]})
    heads = alt.Chart(datasets.add(both))
    titles = heads.mark_text(dy=-14, y=0, fontWeight="bold", limit=150, aria=False).encode(x=x, text=alt.Text("name:N"))
    chart = alt.layer(edges, points, *names, titles).properties(
        width=min(420, theme.total_width(width) - 20), height=max(70, min(640, 24 * max(len(left), len(right))))
    )
    return theme.style(chart, datasets)


def _graph(result: CheckResult, left: list[int], right: list[int]) -> tuple[list[Row], list[Row]]:
    """The levels as dots, and the combinations that were seen, then those to collect, as lines between them."""
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

    def lines(codes: Iterable[tuple[int, int]], kind: str) -> list[Row]:
        drawn = [(a, b) for a, b in codes if (0, a) in place and (1, b) in place]
        named = [kind if kind == "collect" else _piece(pieces[f.name, (f.levels or ())[a]]) for a, _ in drawn]
        return [
            {"x": 0, "y": place[0, a], "x2": 1, "y2": place[1, b], "piece": piece, "kind": kind}
            for (a, b), piece in zip(drawn, named, strict=True)
        ]

    return dots, lines(result.known.codes.tolist(), "seen") + lines(result.advice.cells.tolist(), "collect")


def _shade(named: list[str], *, collecting: bool) -> alt.Color:
    """A colour a piece, and one for what is to be collected, with a key of at most eight pieces."""
    values = [*named[:8], *(["collect"] if collecting else [])]
    key = alt.Legend(title=None, orient="bottom", values=values, symbolOpacity=1)
    colours = alt.Scale(domain=[*named, "collect"], range=[*_each(theme.PALETTE, named), RING])
    return alt.Color("piece:N", scale=colours, legend=key)


def _each(looks: Sequence[str], names: list[str]) -> list[str]:
    return [looks[i % len(looks)] for i in range(len(names))]


def _piece(number: int) -> str:
    return f"piece {number + 1}"
