"""The picture of a dissection: what a part does alone, and what is left without it, beside the controls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import altair as alt
import polars as pl

from recombine.figures import theme
from recombine.figures.data import Datasets, as_labels, levels, pick
from recombine.figures.words import in_lines, text_width, wrapped

if TYPE_CHECKING:
    from recombine.structure import Dissection

SIDES = {"sub": "with the part alone", "abl": "without the part"}
ON = {"target": "on its own subroutine", "other": "on the others"}


def dissection_figure(result: Dissection) -> Any:
    """The table of a dissection as dots; one panel per subroutine and side."""
    fresh = pl.when(pl.col("network") == "untrained").then(pl.lit("untrained: ")).otherwise(pl.lit(""))
    table = result.to_frame().with_columns((fresh + pl.col("row")).alias("label"))
    return parts(table, "label", "subroutine", chance=result.chance)


def parts(
    table: pl.DataFrame, row: str, facet: str, *, chance: float | None = None, width: theme.Width | None = None
) -> alt.VConcatChart:
    """Four accuracies a row (``sub_target``, ``sub_other``, ``abl_target``, ``abl_other``), one panel a ``facet``.

    A filled dot is the accuracy on the subroutine that the mask is of, a hollow square that on the others, which is
    large enough to show a dot of the same value; between them lies the difference D.

    Left with the part alone, right without it."""
    columns = [f"{side}_{on}" for side in SIDES for on in ON]
    data = pick(table, {"row": row, "facet": facet, **{name: name for name in columns}})
    names, panels = levels(data["row"]), levels(data["facet"])
    data = data.with_columns(as_labels(data["row"]), as_labels(data["facet"]))
    total = theme.total_width(width)
    room = math.ceil(min(0.4 * total, 1.06 * max(map(text_width, names), default=0)))
    across = (total - room - 60) // 2
    datasets = Datasets()
    charts = []
    for i, panel in enumerate(panels):
        mine = data.filter(pl.col("facet") == panel)
        rows = levels(mine["row"])
        ends = i == 0, i == len(panels) - 1
        sides = [_side(datasets, mine, side, rows, across, room, panel, ends, chance) for side in SIDES]
        charts.append(alt.hconcat(*sides, spacing=24))
    return theme.style(alt.vconcat(*charts, spacing=22), datasets)


def _side(
    datasets: Datasets, table: pl.DataFrame, side: str, rows: list[str], width: int, room: int, panel: str,
    ends: tuple[bool, bool], chance: float | None,
) -> alt.LayerChart:  # fmt: skip
    """One side of a panel; the first has the key, the last says what is drawn along the axis of all."""
    long = table.unpivot([f"{side}_{on}" for on in ON], index="row", variable_name="on", value_name="accuracy")
    long = long.with_columns(pl.col("on").str.strip_prefix(f"{side}_").replace_strict(ON)).drop_nulls("accuracy")
    lines = in_lines(rows, room)
    # As wide in every panel, so that their axes stand below each other.
    axis = alt.Axis(
        labelExpr=lines, labelLimit=1.1 * room, labelColor=theme.INK, labelPadding=8,
        minExtent=room + 8, maxExtent=room + 8,
    ) if side == "sub" else None  # fmt: skip
    y = alt.Y("row:N", title=None, scale=alt.Scale(domain=rows), axis=axis)
    title = wrapped(f"accuracy {SIDES[side]}", width + 24, theme.TEXT) if ends[1] else None
    x = alt.X("accuracy:Q", title=title, scale=alt.Scale(domain=[0, 1], nice=False),
              axis=alt.Axis(grid=True, tickCount=5 if width > 180 else 2))  # fmt: skip
    names = list(ON.values())
    legend = alt.Legend(title=None, columns=1 if width < 180 else 2) if ends[0] and side == "sub" else None
    base = alt.Chart(datasets.add(long))
    line = base.mark_line(color=theme.RULE, strokeWidth=1.5).encode(x=x, y=y, detail=alt.Detail("row:N"))
    fills, sizes = [theme.PALETTE[0], "transparent"], [38, 100]
    dots = base.mark_point(strokeWidth=1.6, opacity=1).encode(
        x=x, y=y,
        color=alt.Color("on:N", legend=legend, scale=alt.Scale(domain=names, range=list(theme.PALETTE[:2]))),
        shape=alt.Shape("on:N", legend=legend, scale=alt.Scale(domain=names, range=["circle", "square"])),
        fill=alt.Fill("on:N", legend=legend, scale=alt.Scale(domain=names, range=fills)),
        size=alt.Size("on:N", legend=legend, scale=alt.Scale(domain=names, range=sizes)),
    )  # fmt: skip
    layers: list[Any] = [line, dots]
    if chance is not None:
        layers.insert(0, alt.Chart().mark_rule(color=theme.RULE, strokeDash=[3, 3]).encode(x=alt.datum(chance)))
    head = alt.Title(panel if side == "sub" else "", anchor="start", frame="bounds" if side == "sub" else "group")
    chart = cast(alt.LayerChart, alt.layer(*layers))
    high = max((len(wrapped(name, room)) - 1 for name in rows), default=0)
    return chart.properties(width=width, height=alt.Step(17 + 12 * high), title=head)
