"""The picture of a theorem check: each assumption with its verdict, then for every component where it is undetermined.

Two maps per component: at what share of its sampled values a cell is undetermined (A3 fails there), and how firmly it
is determined at the worst of them. Equal neighbours are drawn as one bar, so that a picture of 64 × 64 cells stays
small.
"""

from __future__ import annotations

import itertools
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.figures import theme
from recombine.figures._claims import COLOUR, LETTER, LINE, SHAPE
from recombine.figures.data import Datasets, number, plain

if TYPE_CHECKING:
    from recombine.checks.theorem.promised import TheoremResult
    from recombine.checks.theorem.sufficient_support import ComponentSupport

SIGN = {True: "holds", False: "fails", None: "not fitted"}
SAID = {True: "", False: "fails ", None: "assumed: "}
MISSING = ("#eef0f1", "#dd8232")
FIRM = ("#eef0f1", "#145e96")
SHADES = 24
SIDE = 232
"""The largest map, in pixels."""
MAP_TOP, BELOW = 52, 30


def theorem_figure(result: TheoremResult, width: theme.Width | None = None) -> alt.LayerChart:
    """Verdict table above, maps below, a column of maps for each component (two side by side where there is room)."""
    total = theme.total_width(width) - 2 * theme.PADDING
    sheet = Sheet()
    y = sheet.table(result, total)
    across = min(len(result.components), 2 if theme.is_narrow(width) else 4)
    gap = 16 if theme.is_narrow(width) else 24
    side = min(SIDE, (total - gap * (across - 1)) // across)
    top = max([float(c.weakest_cell.max()) for c in result.components] + [1e-12])
    for start in range(0, len(result.components), across):
        some = result.components[start : start + across]
        kinds = (("how often a cell is undetermined", MISSING, 1.0), ("how firmly, at the worst value", FIRM, top))
        for what, shades, most in kinds:
            sheet.key(what, shades, most, y + 22)
            heights = [
                sheet.panel(result, c, shades is MISSING, most, i * (side + gap), y + MAP_TOP, side)
                for i, c in enumerate(some)
            ]
            y += MAP_TOP + max(heights) + BELOW
    datasets = Datasets()
    return theme.style(sheet.chart(datasets).properties(width=total, height=y), datasets)


@dataclass
class Sheet:
    """Everything stands at pixels: lines of text and maps of any number of cells must not collide."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def word(self, kind: str, x: float, y: float, text: str) -> None:
        self.rows.append({"kind": kind, "x": x, "y": y, "text": plain(text)})

    def bar(self, x: float, y: float, wide: float, high: float, colour: str) -> None:
        self.rows.append({"kind": "bar", "x": x, "x2": x + wide, "y": y, "y2": y + high, "colour": colour})

    def table(self, result: TheoremResult, total: int) -> float:
        """One row an assumption; how far down it reached."""
        y = 4.0
        letters = int((total - 60) / LETTER)
        for assumption in result.assumptions:
            self.rows.append({"kind": SIGN[assumption.holds], "x": 10.0, "y": y + 11})
            self.word("bold", 30, y + 14, assumption.id)
            words = plain(SAID[assumption.holds] + assumption.words)
            lines = [("text", line) for line in textwrap.wrap(plain(assumption.name), letters)]
            lines += [("small", line) for line in textwrap.wrap(words, letters, max_lines=4, placeholder=" …")]
            for i, (kind, line) in enumerate(lines):
                self.word(kind, 58, y + 14 + i * LINE, line)
            y += 14 + LINE * len(lines)
        return y

    def key(self, what: str, shades: tuple[str, str], most: float, y: float) -> None:
        """What the shades mean, on one line above the maps."""
        self.word("text", 0, y, what)
        x = 0.93 * LETTER * len(what) + 18
        self.word("end", x, y, "0")
        for i in range(SHADES):
            self.bar(x + 6 + 3 * i, y - 10, 3.2, 11, _shade(shades, i / (SHADES - 1)))
        self.word("small", x + 12 + 3 * SHADES, y, number(most))

    def panel(
        self, result: TheoremResult, of: ComponentSupport, missing: bool, most: float, x: float, y: float, side: float
    ) -> float:
        """One map with the component's name above and its figures below; how high it is."""
        cells = of.share_missing if missing else of.weakest_cell / most
        rows, columns = result.layout or (1, len(cells))
        wide, high = side / columns, side / max(rows, columns) if rows > 1 else 18.0
        self.word("bold", x, y - 6, of.name)
        for row, line in enumerate(_levels(cells).reshape(rows, columns)):
            for start, stop in _runs(line):
                colour = _shade(MISSING if missing else FIRM, line[start] / (SHADES - 1))
                # A bar reaches under the next, or hairlines of the background show between them.
                over = min(1.0, side - stop * wide), min(1.0, (rows - 1 - row) * high)
                self.bar(x + start * wide, y + row * high, (stop - start) * wide + over[0], high + over[1], colour)
        low, top = (f"{rank:,}" for rank in (of.summed.min(), of.summed.max()))
        words = (
            f"rank {low if low == top else f'{low} – {top}'} of {of.full:,}"
            if missing
            else f"smallest singular value {number(float(of.weakest.min()))}"
        )
        self.word("small", x, y + rows * high + 15, words)
        return rows * high

    def chart(self, datasets: Datasets) -> alt.LayerChart:
        x, y = alt.X("x:Q", scale=None, axis=None), alt.Y("y:Q", scale=None, axis=None)
        shape = alt.Shape("kind:N", legend=None, scale=alt.Scale(domain=list(SHAPE), range=list(SHAPE.values())))
        colour = alt.Color("kind:N", legend=None, scale=alt.Scale(domain=list(COLOUR), range=list(COLOUR.values())))

        def only(*kinds: str) -> alt.Chart:
            rows = [row for row in self.rows if row["kind"] in kinds]
            return alt.Chart(datasets.add(pl.DataFrame(rows, schema=SCHEMA)))

        def words(kind: str, **look: Any) -> alt.Chart:
            look = {"align": "left", "aria": False, **look}
            made: alt.Chart = only(kind).mark_text(**look).encode(x=x, y=y, text=alt.Text("text:N"))
            return made

        bars = only("bar").mark_rect(aria=False, opacity=1)
        layers = [
            bars.encode(x=x, x2=alt.X2("x2:Q"), y=y, y2=alt.Y2("y2:Q"), color=alt.Color("colour:N", scale=None)),
            only(*SHAPE).mark_point(size=130, strokeWidth=2.4, opacity=1).encode(x=x, y=y, shape=shape, color=colour),
            words("text", fontSize=theme.TEXT),
            words("bold", fontSize=theme.TEXT, fontWeight="bold"),
            words("small", color=theme.MUTED),
            words("end", color=theme.MUTED, align="right"),
        ]
        chart: alt.LayerChart = alt.layer(*layers).resolve_scale(color="independent", shape="independent")
        return chart


SCHEMA = {
    "kind": pl.String,
    "x": pl.Float64,
    "x2": pl.Float64,
    "y": pl.Float64,
    "y2": pl.Float64,
    "text": pl.String,
    "colour": pl.String,
}


def _levels(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.round(np.clip(values, 0, 1) * (SHADES - 1)).astype(np.int64)


def _runs(line: NDArray[np.int64]) -> list[tuple[int, int]]:
    """From where to where neighbours are equal."""
    edges = [0, *(np.flatnonzero(np.diff(line)) + 1).tolist(), len(line)]
    return list(itertools.pairwise(edges))


def _shade(ends: tuple[str, str], share: float) -> str:
    pairs = [(int(ends[0][i : i + 2], 16), int(ends[1][i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)
