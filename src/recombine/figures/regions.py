"""Rectangles over a plane of inputs, such as the quarter that training never sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from recombine.figures import theme
from recombine.figures.data import plain


class Region(NamedTuple):
    """A rectangle in the units of the axes, and what is written in it (in the first panel only)."""

    x: tuple[float, float]
    y: tuple[float, float]
    label: str = ""


def region_rows(regions: Sequence[Region], panels: Sequence[str]) -> list[dict[str, Any]]:
    """The rectangles once a panel, as rows of a faceted chart's one table."""
    rows = []
    for index, panel in enumerate(panels):
        for across, up, label in regions:
            (x, x2), (y, y2) = sorted(across), sorted(up)
            place = {"x": x, "x2": x2, "y": y, "y2": y2, "mid_x": (x + x2) / 2, "mid_y": (y + y2) / 2}
            rows.append({"part": "region", "facet": panel, **place, "label": plain(label) if index == 0 else ""})
    return rows


def region_layers(base: alt.Chart, x: alt.X, y: alt.Y, *, over_map: bool) -> list[alt.Chart]:
    """A dashed frame a region, and its label with a halo, so that it can be read on any colour."""
    ink, halo = (theme.OVER_MAP, theme.HALO) if over_map else (theme.MUTED, theme.PAPER)
    rows = base.transform_filter("datum.part == 'region'")
    frame = rows.mark_rect(fill=None, stroke=ink, strokeWidth=1.2, strokeDash=[4, 3]).encode(
        x=x, x2=alt.X2("x2:Q"), y=y, y2=alt.Y2("y2:Q")
    )
    words = rows.transform_filter("datum.label != ''").encode(
        x=alt.X("mid_x:Q"), y=alt.Y("mid_y:Q"), text=alt.Text("label:N")
    )
    return [
        frame,
        words.mark_text(fontSize=theme.SMALL, stroke=halo, strokeWidth=3.5, strokeJoin="round", color=halo),
        words.mark_text(fontSize=theme.SMALL, color=ink),
    ]
