"""Where a learner fails: a map of its error over two factors, or its error level by level."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from recombine.figures import theme
from recombine.figures._members import members
from recombine.figures.data import Datasets, label, number, plain
from recombine.mechanisms.answers.names import brief
from recombine.statistics import FloatArray

if TYPE_CHECKING:
    from recombine.mechanisms import MeasureResult

MOST_LEVELS = 40
LARGEST_CELL = 46
MOST_BARS = 30
LABELS = 130
"""Pixels left of the picture for the names of levels."""
SHADES = ("#f2f4f6", "#f3c79a", "#dd8232", "#9c3f00")
"""From no error to all wrong, or to the largest one where all are small; the page's own ink is written on them in two
lightnesses."""
DARK = 0.75
SMALL = 0.5
"""Where no error is larger, the scale ends at the largest one and not at 1."""
FRAME = 0.86
"""Side of the frame around an unseen combination, as a share of its cell's."""


def measured_figure(result: MeasureResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """The one obvious picture: a map for two factors, levels for one or several, dots where nothing has levels."""
    space = result.answers.space
    if space.finite and len(space) == 2 and max(space.shape) <= MOST_LEVELS:
        return error_map(result, width)
    if space.finite:
        return error_by_level(result, width)
    return error_dots(result, width)


def measured_rows(result: MeasureResult) -> pl.DataFrame:
    """The data of the figure."""
    space = result.answers.space
    if space.finite and (len(space) != 2 or max(space.shape) > MOST_LEVELS):
        rows = [{**row, "level": str(row["level"])} for row in result.levels()]
        return pl.DataFrame(rows, infer_schema_length=None)
    return result.to_frame()


def error_map(result: MeasureResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """Each combination with its error; the unseen ones are framed."""
    answers = result.answers
    names = [[brief(label(level)) for level in factor.levels or ()] for factor in answers.space.factors]
    rows, columns = ([f"{i} {name}" for i, name in enumerate(group)] for group in names)
    error = answers.error.mean(axis=0)
    top = _top(error)
    texts = [_cell_text(float(e), top) for e in error]
    table = pl.DataFrame(
        {
            "row": [rows[int(a)] for a, _ in answers.codes],
            "column": [columns[int(b)] for _, b in answers.codes],
            "error": error,
            "shown": texts,
            "side": ["seen" if s else "unseen" for s in answers.seen],
        }
    )
    total = theme.total_width(width)
    left = max(30, min(LABELS if not theme.is_narrow(width) else 90, 7 * max(map(len, names[0])) + 14))
    cell = max(7.0, min(LARGEST_CELL, (total - left - 20) / len(columns)))
    datasets = Datasets()
    base = alt.Chart(datasets.add(table))
    y = alt.Y("row:N", sort=rows, title=brief(plain(answers.space.names[0])), axis=_axis(left, **theme.ABOVE))
    across = max(map(len, names[1])) * 6.5 > cell
    x = alt.X(
        "column:N",
        sort=columns,
        title=brief(plain(answers.space.names[1])),
        axis=_axis(90, labelAngle=-45 if across else 0),
    )
    colour = alt.Color(
        "error:Q",
        scale=alt.Scale(domain=[0, top / 3, 2 * top / 3, top], range=list(SHADES), clamp=True, interpolate="rgb"),
        legend=alt.Legend(
            title=f"{_error_words(result)}; framed: unseen",
            orient="top",
            gradientLength=min(200, total // 3),
            values=[0, top / 2, top],
            format=".2~g",
            titleLimit=total,
            offset=28,
        ),
    )
    # Inside its own cell: on the border, frames of unseen cells would frame a seen one between them.
    inside: dict[str, Any] = {"width": alt.RelativeBandSize(FRAME), "height": alt.RelativeBandSize(FRAME)}
    layers: list[alt.Chart] = [
        base.mark_rect(aria=False).encode(x=x, y=y, color=colour),
        base.transform_filter("datum.side == 'unseen'")
        .mark_rect(aria=False, fillOpacity=0, stroke=theme.OVER_MAP, strokeWidth=1.6 if cell > 12 else 1.0, **inside)
        .encode(x=x, y=y),
    ]
    if cell >= max(24, 6 * max(map(len, texts))):
        text = base.mark_text(aria=False, fontSize=theme.SMALL - 1, baseline="middle")
        for test, ink in (("<", theme.OVER_MAP), (">=", theme.HALO)):
            some = text.transform_filter(f"datum.error {test} {DARK * top}")
            layers.append(some.encode(x=x, y=y, text=alt.Text("shown:N"), color=alt.value(ink)))
    chart = alt.layer(*layers).properties(width=cell * len(columns), height=cell * len(rows))
    return theme.style(chart, datasets)


def error_by_level(result: MeasureResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """For each level of each factor, its error on unseen combinations and on the seen ones they are compared with."""
    found = sorted(result.levels(), key=lambda row: -(row["unseen"] or 0.0))[:MOST_BARS]
    order = {name: i for i, name in enumerate(result.answers.space.names)}
    found.sort(key=lambda row: (order[row["factor"]], -(row["unseen"] or 0.0)))
    names = [f"{i} {brief(plain(str(row['factor'])))} = {brief(label(row['level']))}" for i, row in enumerate(found)]
    names_of = {"seen": f"seen ({result.compared_on})", "unseen": "unseen"}
    records = [
        {"name": name, "side": names_of[side], "error": row[side]}
        for name, row in zip(names, found, strict=True)
        for side in ("seen", "unseen")
        if row[side] is not None
    ]
    spans = [
        {"name": name, "low": min(row["seen"], row["unseen"]), "high": max(row["seen"], row["unseen"])}
        for name, row in zip(names, found, strict=True)
        if row["seen"] is not None and row["unseen"] is not None
    ]
    total = theme.total_width(width)
    datasets = Datasets()
    base = alt.Chart(datasets.add(pl.DataFrame(records)))
    y = alt.Y("name:N", sort=names, title=None, axis=_axis(round(0.36 * total), labelColor=theme.INK, labelPadding=8))
    found_ = np.array([r["error"] for r in records])
    domain = [0.0, max(_top(found_), found_.max())]
    x = alt.X("error:Q", title=_error_words(result), scale=alt.Scale(domain=domain, nice=False),
              axis=alt.Axis(grid=True, tickCount=max(3, total // 110)))  # fmt: skip
    sides: dict[str, Any] = {"domain": list(names_of.values())}
    colour = alt.Color("side:N", scale=alt.Scale(**sides, range=list(theme.PALETTE[:2])), legend=alt.Legend(title=None))
    shape = alt.Shape("side:N", scale=alt.Scale(**sides, range=list(theme.SHAPES[:2])), legend=alt.Legend(title=None))
    layers = [base.mark_point(filled=True, size=70, opacity=1, aria=False).encode(x=x, y=y, color=colour, shape=shape)]
    if spans:
        rule = alt.Chart(datasets.add(pl.DataFrame(spans))).mark_rule(color=theme.RULE, aria=False)
        layers.insert(0, rule.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y))
    chart = alt.layer(*layers).properties(width=total, height=alt.Step(24))
    return theme.style(chart.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding")), datasets)


def error_dots(result: MeasureResult, width: theme.Width | None = None) -> alt.TopLevelMixin:
    """Every member's error on seen and on unseen combinations."""
    answers = result.answers
    sides = {"seen": answers.compared, "unseen": answers.unseen}
    rows = [
        {"side": side, "error": value}
        for side, mask in sides.items()
        if mask.any()
        for value in answers.error[:, mask].mean(axis=1).tolist()
    ]
    return members(pl.DataFrame(rows), "side", "error", title=_error_words(result), width=width)


def _top(errors: FloatArray) -> float:
    """The error that is shown as the largest: 1 or, where all are much less, the power of ten above them or half or a
    fifth of it."""
    most = float(np.nanmax(errors, initial=0.0))
    if not 0 < most < SMALL:
        return 1.0
    ten = 10.0 ** math.ceil(math.log10(most))
    return next(ten * part for part in (0.2, 0.5, 1.0) if ten * part >= most)


def _cell_text(error: float, top: float) -> str:
    """Two decimals, or more where errors are small, without what a small cell has no room for."""
    if not math.isfinite(error):
        return "–"
    text = number(error, 1 - math.floor(math.log10(top)) if top < 1 else 2)
    return text.removeprefix("0") if float(text) not in (0, 1) else text[0]


def _axis(limit: int, **more: Any) -> alt.Axis:
    """Levels carry their number in front, so that two that look alike stay apart; it is not shown."""
    cut = "substring(datum.label, indexof(datum.label, ' ') + 1)"
    return alt.Axis(labelExpr=cut, labelLimit=limit, grid=False, domain=False, ticks=False, labelOverlap=False, **more)


def _error_words(result: MeasureResult) -> str:
    if result.answers.kind == "class":
        return "share of wrong answers"
    return "squared error (1: always answering the mean)"
