"""The claims of a study on one picture: by outcome, measured figures against published ones and thresholds."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.data import Datasets, decimals_for, number, pick, plain
from recombine.figures.words import text_width, wrapped

SHAPE = {
    "holds": "M-0.85,0.05L-0.25,0.65L0.9,-0.7",
    "fails": "M-0.65,-0.65L0.65,0.65M0.65,-0.65L-0.65,0.65",
    "open": "M-0.8,0.25C-0.4,-0.7 0.2,0.7 0.8,-0.25",
    "not fitted": "M-0.8,0L0.8,0",
    "not run": "M-0.1,0L0.1,0",
}
"""Drawn rather than written, because few fonts hold a check mark."""
COLOUR = dict.fromkeys(SHAPE, theme.MUTED) | {"holds": theme.GOOD, "fails": theme.BAD}

NEEDED = ("sentence", "published", "measured", "low", "high", "status")
OPTIONAL = ("reference", "tolerance", "unit", "how", "decimals")
GROUPS = (
    *((status, None) for status in ("fails", "open", "not fitted", "not run")),
    ("holds", "value matched"),
    ("holds", None),
)
"""What a person looks for comes first."""

LINE, LETTER, LEAST = 14, 5.4, 24
"""Pixels per line of text and per letter on average, and of the lowest row."""
BAND = 0.45
"""How far from the middle of a strip a tolerance reaches, as a part of half the strip."""

Row = dict[str, Any]


def claims(table: pl.DataFrame, *, width: theme.Width | None = None) -> alt.LayerChart:
    """One row per claim, as `StudyResult.to_frame` gives them: ``sentence``, ``published`` and ``measured`` with
    ``low`` and ``high`` (numbers or null), ``status``. Optional: ``how`` it holds, ``reference`` (the figure a
    criterion compares with), ``tolerance`` (half the width of the band around the published figure), ``unit`` and
    ``decimals`` of the measured figures.

    Claims stand together by outcome. Every row has its own scale, since claims have different units, but the same
    middle: what the measured figure is compared with, the published one within its tolerance or a threshold.
    """
    columns: dict[str, str | None] = {name: name for name in (*NEEDED, *OPTIONAL) if name in (*NEEDED, *table.columns)}
    narrow, total = theme.is_narrow(width), theme.total_width(width) - 2 * theme.PADDING
    right = total - (126 if narrow else 150)
    strip = (24, right - 14) if narrow else (right - 174, right - 14)
    letters = int((total - 24 if narrow else strip[0] - 36) / LETTER)
    sheet = Sheet()
    sheet.key(narrow)
    y = 52.0 if narrow else 40.0
    rows = pick(table, columns).to_dicts()
    for (status, how), mine in _grouped(rows).items():
        name = f"{status}, {how}" if how else status
        sheet.word("measured", 0, y + 18, f"{name[0].upper()}{name[1:]}: {len(mine)}")
        y += 26
        for row in mine:
            sentence = textwrap.wrap(plain(str(row["sentence"])), letters, max_lines=3, placeholder=" …") or [""]
            told = _figures(row, total - right)
            text, figures = len(sentence) * LINE, len(told) * LINE
            height = 10 + text + figures if narrow else max(LEAST, 8 + text, 8 + figures)
            top = y + 4 if narrow else y + (height - text) / 2
            middle = top + text + figures / 2 + 2 if narrow else y + height / 2
            sheet.rule("line", (0, total), (y, y))
            sheet.word("sentence", 24, top + 11, "\n".join(sentence))
            sheet.mark(status, 8, top + 7 if narrow else middle)
            sheet.strip(row, strip, middle)
            sheet.figures(told, right, middle)
            y += height
        sheet.rule("line", (0, total), (y, y))
    datasets = Datasets()
    return theme.style(sheet.chart(datasets).properties(width=total, height=y + 2), datasets)


def _grouped(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    """Claims by outcome, failures first; of those that hold, by how they do."""
    found: dict[tuple[str, str], list[Row]] = {}
    for status, how in GROUPS:
        for row in (row for row in rows if row["status"] == status):
            said = (row.get("how") or "") if status == "holds" else ""
            if (said == "value matched") == (how == "value matched"):
                found.setdefault((status, said), []).append(row)
    return found


def _figures(row: Row, width: float) -> list[str]:
    """The measured figure with its interval or, where they have no room, on two lines; then unit and published."""
    digits = row["decimals"] if "decimals" in row else decimals_for(row["low"], row["high"])
    measured = number(row["measured"], digits)
    unit = plain(row["unit"]) if row.get("unit") and row["measured"] is not None else ""
    interval = f"[{number(row['low'], digits)}, {number(row['high'], digits)}]" if row["low"] is not None else ""
    published = f"published {number(row['published'])}" if row["published"] is not None else ""
    lines = [measured]
    for part in (interval, unit, published):
        # Bold letters are a little wider.
        if part and 1.1 * text_width(f"{lines[-1]} {part}", theme.SMALL) <= width:
            lines[-1] += f" {part}"
        elif part:
            lines += wrapped(part, width)
    return lines


@dataclass
class Sheet:
    """Everything stands at pixels, because text of several lines and rows of several heights must not collide."""

    rows: list[Row] = field(default_factory=list)

    def word(self, kind: str, x: float, y: float, text: str) -> None:
        self.rows.append({"kind": kind, "x": x, "y": y, "text": text})

    def mark(self, kind: str, x: float, y: float) -> None:
        self.rows.append({"kind": kind, "x": x, "y": y})

    def rule(self, kind: str, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.rows.append({"kind": kind, "x": x[0], "x2": x[1], "y": y[0], "y2": y[1]})

    def key(self, narrow: bool) -> None:
        """What the signs mean, above the rows: on one line, or on two where there is little room."""
        places = ((0, 14), (160, 14), (0, 34), (160, 34)) if narrow else ((24, 18), (186, 18), (272, 18), (358, 18))
        names = ("measured, 95 % interval", "published", "threshold", "tolerance")
        for (x, y), name in zip(places, names, strict=True):
            self.word("small", x + 20, y + 4, name)
        measured, published, threshold, tolerance = ((x + 8, y) for x, y in places)
        self.mark("dot", *measured)
        self.mark("published", *published)
        self.rule("reference", (threshold[0], threshold[0]), (threshold[1] - 8, threshold[1] + 8))
        self.rule("band", (tolerance[0] - 6, tolerance[0] + 6), (tolerance[1] - 7, tolerance[1] + 7))

    def strip(self, row: Row, across: tuple[float, float], y: float) -> None:
        """One claim on its own scale around what it is compared with: band or threshold, interval, measured."""
        published, tolerance, reference = row["published"], row.get("tolerance"), row.get("reference")
        within = published is not None and tolerance is not None
        middle = published if within else reference if reference is not None else published
        self.rule("line", across, (y, y))
        seen = [row[name] for name in ("measured", "low", "high", "published") if row[name] is not None]
        if not seen:
            return
        centre, half = sum(across) / 2, (across[1] - across[0]) / 2 - 8
        if middle is None:  # nothing stands beside it: where it lies says nothing
            return self.mark(f"dot {row['status']}", centre, y)
        furthest = max(abs(value - middle) for value in seen) or 1.0
        scale = min(BAND / tolerance, 1 / furthest) if within and tolerance else 1 / furthest

        def place(value: float) -> float:
            return float(centre + half * scale * (value - middle))

        if within:
            self.rule("band", (place(middle - tolerance), place(middle + tolerance)), (y - 7, y + 7))
        if reference is not None:
            self.rule("reference", (place(reference), place(reference)), (y - 9, y + 9))
        if row["low"] is not None and row["high"] is not None:
            self.rule(f"bar {row['status']}", (place(row["low"]), place(row["high"])), (y - 2, y + 2))
        if row["measured"] is not None:
            self.mark(f"dot {row['status']}", place(row["measured"]), y)
        if published is not None:
            self.mark("published", place(published), y)

    def figures(self, told: list[str], x: float, y: float) -> None:
        """What was measured, in figures, and what was published below it."""
        start = y + 4 - (len(told) - 1) * LINE / 2
        for index, line in enumerate(told):
            self.word("small" if index else "measured", x, start + LINE * index, line)

    def chart(self, datasets: Datasets) -> alt.LayerChart:
        """All of it, from the lines at the bottom to the words on top."""
        x, y = alt.X("x:Q", scale=None, axis=None), alt.Y("y:Q", scale=None, axis=None)
        ends: dict[str, Any] = {"x": x, "x2": "x2:Q", "y": y, "y2": "y2:Q"}
        shape = alt.Shape("kind:N", legend=None, scale=alt.Scale(domain=list(SHAPE), range=list(SHAPE.values())))

        def only(*kinds: str) -> alt.Chart:
            rows = [row for row in self.rows if row["kind"] in kinds]
            return alt.Chart(datasets.add(pl.DataFrame(rows, schema=SCHEMA)))

        def of_status(prefix: str) -> tuple[alt.Chart, alt.Color]:
            kinds = [prefix + status for status in COLOUR]
            scale = alt.Scale(domain=kinds, range=list(COLOUR.values()))
            return only(*kinds), alt.Color("kind:N", legend=None, scale=scale)

        (bars, bar), (dots, dot), (signs, sign) = of_status("bar "), of_status("dot "), of_status("")
        words: dict[str, Any] = {"align": "left", "lineBreak": "\n", "lineHeight": LINE}
        layers = [
            only("line").mark_rule(color=theme.GRID).encode(**ends),
            only("band").mark_rect(color=theme.MUTED, opacity=0.2).encode(**ends),
            only("reference").mark_rule(color=theme.MUTED, strokeWidth=1.4, strokeDash=[3, 2]).encode(**ends),
            bars.mark_rect(opacity=0.9).encode(**ends, color=bar),
            dots.mark_circle(size=50, opacity=1).encode(x=x, y=y, color=dot),
            only("dot").mark_circle(size=50, opacity=1, color=theme.INK).encode(x=x, y=y),
            only("published")
            .mark_point(shape="diamond", size=60, strokeWidth=1.6, fill=theme.PAPER, stroke=theme.INK, opacity=1)
            .encode(x=x, y=y),
            signs.mark_point(size=100, strokeWidth=2.2, opacity=1).encode(x=x, y=y, shape=shape, color=sign),
            only("sentence").mark_text(**words).encode(x=x, y=y, text=alt.Text("text:N")),
            only("measured").mark_text(**words, fontWeight="bold").encode(x=x, y=y, text=alt.Text("text:N")),
            only("small").mark_text(**words, color=theme.MUTED).encode(x=x, y=y, text=alt.Text("text:N")),
        ]
        chart: alt.LayerChart = alt.layer(*layers).resolve_scale(color="independent", shape="independent")
        return chart


SCHEMA = {"kind": pl.String, "x": pl.Float64, "x2": pl.Float64, "y": pl.Float64, "y2": pl.Float64, "text": pl.String}
