"""Panels of one figure: how many stand side by side, and where the title of each stands."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from recombine.figures import theme
from recombine.figures.words import in_lines, text_width


def side_by_side(count: int, most: int, width: theme.Width | None = None) -> int:
    """How many panels stand beside each other: up to ``most``; on a telephone one, or two where three or more below
    each other would fill several screens, and more than a page of a paper."""
    if theme.is_narrow(width):
        most = 1 if count < 3 else 2
    return theme.panels_across(count, most)


def heads(panels: Sequence[str], side: int, y_title: str) -> alt.Header:
    """The titles of panels ``side`` pixels wide, whose vertical axis is named above them at the left.

    Beside that name, at the right end, where all of them fit; else above it, in lines."""
    room = side - text_width(y_title, theme.TEXT) - 12
    if all(text_width(panel) <= room for panel in panels):
        return alt.Header(labelAnchor="end", labelPadding=11)
    return alt.Header(labelAnchor="start", labelPadding=30, labelExpr=in_lines(panels, side), labelLimit=side + 20)
