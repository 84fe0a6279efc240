"""What the drawings of a check share: fills and the key."""

from __future__ import annotations

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.check_cells import MARK
from recombine.figures.data import Datasets

FILL = {
    "seen": "#0b4f7a",
    "determined": "#a6d4ea",
    "extrapolation": "#d9c7e6",
    "undetermined": "#e69f00",
    "unseen level": "#f6e3d7",
    "not asked": "#eceef0",
    "doubtful": "#dfeef5",
}
RING = "#b2182b"
KEY = {"doubtful": "if effects add up"}
"""What the key says where the name of a status would not explain itself."""


def legend(datasets: Datasets, names: list[str], width: int, collect: bool) -> alt.LayerChart | alt.FacetChart:
    """A key of its own, so that no panel is squeezed by one; on a telephone it wraps."""
    names = [*names, "collect"] if collect else names
    across = min(len(names), max(2, width // 125))
    step = min(140, width // across)
    rows = [
        {
            "x": i % across * step,
            "y": i // across,
            "text": KEY.get(name, name),
            "mark": MARK.get(name, ""),
            "status": name,
        }
        for i, name in enumerate(names)
    ]
    lines = -(-len(names) // across)
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
        boxes.encode(x=x, y=y, color=colour),
        ring.encode(x=x, y=y),
        marks.encode(x=x, y=y, text=alt.Text("mark:N")),
        words.encode(x=x, y=y, text=alt.Text("text:N")),
    ).properties(width=width - 4, height=22 * lines)
