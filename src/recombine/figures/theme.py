"""How every figure looks: font, sizes, colours, widths. Nothing about a figure's look is decided anywhere else.

Colours are Okabe and Ito's, in the order of their contrast; their orange is darkened and their yellow and sky blue
are left out, because on white they fall below 3:1. Colour never stands alone: each group also has a dash and a shape.
A page replaces the colours listed in `PAGE_COLOURS` by its own variables, so that figures follow its colour scheme;
a file keeps them as they are, dark on white.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Literal, TypeVar

import altair as alt

FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
"""Faces of equal widths, the last of them carried by the converter: what is measured there fits everywhere."""

TEXT, SMALL, PADDING = 12, 11, 2

INK, MUTED, RULE, GRID, PAPER = "#1c2127", "#59636e", "#98a1ab", "#e3e6ea", "#ffffff"
GOOD, BAD = "#00704f", "#b24700"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b87700", "#5b6570")
DASHES = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3], [12, 4], [4, 1])
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")

DIVERGING = ("#dd8232", "#f0c19a", "#f5f4f2", "#86b4d4", "#145e96")
"""Bad to good; the ends differ in lightness, so that they can also be told apart in grey."""
OVER_MAP, HALO = "#0d1013", "#fbfbfa"
"""Ink and halo on a map. A dark page turns the lightness of its maps round, and with it `MAP_COLOURS`."""

PAGE_COLOURS = {
    INK: "--ink",
    MUTED: "--muted",
    RULE: "--rule",
    GRID: "--grid",
    PAPER: "--paper",
    GOOD: "--good",
    BAD: "--bad",
    **{colour: f"--data-{i}" for i, colour in enumerate(PALETTE, 1)},
}
MAP_COLOURS = {OVER_MAP: "--over-map", HALO: "--halo"}

Width = Literal["single", "double", "phone"]
WIDTHS: dict[Width, int] = {"single": 312, "double": 648, "phone": 350}
"""Pixels at 96 per inch: one column of a paper (3.25 in), two columns (6.75 in), a telephone."""

_width: ContextVar[Width] = ContextVar("figure_width", default="double")

Chart = TypeVar("Chart", bound=alt.TopLevelMixin)


@contextmanager
def drawn_for(width: Width) -> Iterator[None]:
    """Charts made inside take this width unless they are told one; a page draws each figure twice with it."""
    token = _width.set(width)
    try:
        yield
    finally:
        _width.reset(token)


def total_width(width: Width | None = None) -> int:
    """The whole width of a figure in pixels: the one asked for, or the one being drawn for."""
    return WIDTHS[width or _width.get()]


def is_narrow(width: Width | None = None) -> bool:
    return total_width(width) < 400


def style(chart: Chart, datasets: Mapping[str, Any]) -> Chart:
    """The chart with its data and this theme inside it, so that a notebook shows what the page shows."""
    chart.config = config()  # type: ignore[attr-defined]
    chart.datasets = dict(datasets)  # type: ignore[attr-defined]
    return chart


def panels_across(count: int, most: int) -> int:
    """How many panels stand side by side, so that rows are as even as can be."""
    return math.ceil(count / math.ceil(count / most))


ABOVE = {
    "titleAngle": 0,
    "titleAlign": "left",
    "titleAnchor": "end",
    "titleX": 0,
    "titleY": -10,
    "titleBaseline": "bottom",
}
"""The title of a vertical axis is read above it, without turning the head."""


def beside(side: int) -> dict[str, Any]:
    """The title of a vertical axis left of a small square panel, where there is no room above."""
    return {"titleAngle": 0, "titleAlign": "right", "titleX": -22, "titleY": side / 2, "titleBaseline": "middle"}


@cache
def config() -> alt.Config:
    """The theme as Altair holds it."""
    return alt.Config(**settings())


def settings() -> dict[str, Any]:
    """The theme as a Vega-Lite configuration."""
    label: dict[str, Any] = {"labelFont": FONT, "labelFontSize": SMALL, "labelColor": MUTED}
    title: dict[str, Any] = {"titleFont": FONT, "titleFontSize": TEXT, "titleFontWeight": "normal", "titleColor": INK}
    axis = {
        **label,
        **title,
        "domainColor": RULE,
        "tickColor": RULE,
        "tickSize": 4,
        "labelPadding": 4,
        "titlePadding": 8,
        "gridColor": GRID,
        "labelOverlap": "greedy",
        "labelFlush": False,
    }
    legend = {**label, **title, "labelColor": INK, "labelFontSize": TEXT, "labelLimit": 320, "orient": "top"}
    return {
        "aria": False,
        "background": PAPER,
        "font": FONT,
        "padding": PADDING,
        "view": {"stroke": None},
        "axis": axis,
        "axisY": {"domain": False, "ticks": False, **ABOVE},
        "axisX": {"grid": False},
        "legend": {**legend, "symbolStrokeWidth": 2, "symbolSize": 80, "columnPadding": 18, "offset": 8},
        "header": {**label, "labelColor": INK, "labelPadding": 5, "title": None},
        "title": {"font": FONT, "fontSize": TEXT, "color": INK, "anchor": "start", "fontWeight": "bold"},
        "text": {"font": FONT, "fontSize": SMALL, "color": INK},
    }
