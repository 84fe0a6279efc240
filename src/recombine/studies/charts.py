"""The usual figures of a study, from names of columns: curves, dots of members, two numbers against each other.

Each filters a table, summarises it where the chart shows means, and hands the rows to `recombine.figures`; the drawing
libraries are imported when something is drawn. All take the options of `Shown`; what else they are given goes to the
chart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import polars as pl

from recombine.statistics import summarise
from recombine.studies.study import Figure

Prepare = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True)
class Shown:
    """The rows of ``table`` that a figure shows: of ``fitted`` members, unless told otherwise, what ``prepare`` makes;
    ``names`` says what values of a column are called, ``finding`` what the rows show. Without ``caption`` the notes
    have one for the figure."""

    table: str
    caption: str = ""
    prepare: Prepare = lambda table: table
    fitted: bool = True
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    finding: Callable[[pl.DataFrame], str] = lambda rows: ""

    def of(self, table: pl.DataFrame, where: Sequence[pl.Expr]) -> pl.DataFrame:
        if self.fitted and "fitted" in table.columns:
            where = (*where, pl.col("fitted").fill_null(True))
        found = self.prepare(table.filter(pl.all_horizontal(*where)) if where else table)
        return found.with_columns(pl.col(column).replace(words) for column, words in self.names.items())


OPTIONS = {option.name for option in fields(Shown)}


def chart(kind: str, *columns: Any, **look: Any) -> Callable[[pl.DataFrame], Any]:
    """A chart of `recombine.figures`, which is imported when something is drawn."""

    def draw(rows: pl.DataFrame) -> Any:
        from recombine import figures

        return getattr(figures, kind)(rows, *columns, **look)

    return draw


def curves(
    id: str, title: str, *where: pl.Expr, x: str, y: str, by: str | None = None, facet: str | None = None,
    sort: bool = True, **options: Any,
) -> Figure:  # fmt: skip
    """The mean of ``y`` with its interval over ``x``, a line for each ``by`` and a panel for each ``facet``. Without
    ``sort`` lines and panels stay in the order of the table."""
    keys = [name for name in (facet, by, x) if name]

    def means(rows: pl.DataFrame) -> pl.DataFrame:
        found = summarise(rows, y, keys)
        return found.sort(keys, maintain_order=True) if sort else found

    return _figure(id, title, where, "curves", (x, "mean", by, "low", "high"), {"facet": facet, **options}, means)


def dots(
    id: str, title: str, *where: pl.Expr, value: str, group: str | None = None, keep: Sequence[str] | None = None,
    axis: str | None = None, **options: Any,
) -> Figure:  # fmt: skip
    """Every member as a dot in a row per ``group``, with mean and interval; ``axis`` names what is measured."""
    kept: Prepare = (lambda rows: rows) if keep is None else lambda rows: rows.select(keep)
    return _figure(id, title, where, "members", (group, value), {"title": axis, **options}, kept)


def scatter(
    id: str, title: str, *where: pl.Expr, x: str, y: str, by: str | None = None, facet: str | None = None,
    **options: Any,
) -> Figure:  # fmt: skip
    """One dot per row at (``x``, ``y``), coloured ``by``, in panels by ``facet``."""
    return _figure(id, title, where, "scatter", (x, y, by, facet), options)


def drawn(id: str, title: str, *where: pl.Expr, draw: Callable[[pl.DataFrame], Any], **options: Any) -> Figure:
    """A figure with a chart of its own; all members, unless told otherwise."""
    shown = Shown(**{"fitted": False, **options})
    return Figure(id, title, shown.caption, shown.table, draw, lambda table: shown.of(table, where), shown.finding)


def _figure(
    id: str, title: str, where: Sequence[pl.Expr], kind: str, columns: Sequence[str | None], options: Mapping[str, Any],
    then: Prepare = lambda rows: rows,
) -> Figure:  # fmt: skip
    shown = Shown(**{name: value for name, value in options.items() if name in OPTIONS})
    draw = chart(kind, *columns, **{name: value for name, value in options.items() if name not in OPTIONS})
    rows: Prepare = lambda table: then(shown.of(table, where))  # noqa: E731
    return Figure(id, title, shown.caption, shown.table, draw, rows, shown.finding)
