"""The usual figures of a study, from names of columns: curves, dots of members, two numbers against each other.

Each filters a table (only fitted members unless told otherwise), summarises it where the chart shows means, and hands
the rows to `recombine.figures`; the drawing libraries are imported when something is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from recombine.statistics import summarise
from recombine.studies.study import Figure

Prepare = Callable[[pl.DataFrame], pl.DataFrame]


def curves(
    id: str,
    title: str,
    caption: str,
    *where: pl.Expr,
    table: str,
    x: str,
    y: str,
    by: str | None = None,
    facet: str | None = None,
    prepare: Prepare | None = None,
    fitted: bool = True,
    names: Mapping[str, Mapping[str, str]] | None = None,
    sort: bool = True,
    **look: Any,
) -> Figure:
    """The mean of ``y`` with its interval over ``x``, a line for each ``by`` and a panel for each ``facet``.

    ``prepare`` changes the table first, ``names`` what values of a column are called; ``look`` goes to the chart.
    Without ``sort`` lines and panels stay in the order of the table."""
    keys = [name for name in (facet, by, x) if name]

    def rows(given: pl.DataFrame) -> pl.DataFrame:
        found = summarise(shown(given, where, prepare, fitted, names), y, keys)
        return found.sort(keys, maintain_order=True) if sort else found

    def draw(drawn: pl.DataFrame) -> Any:
        from recombine import figures

        return figures.curves(drawn, x, "mean", by, "low", "high", facet=facet, **look)

    return Figure(id, title, caption, table, draw, rows)


def dots(
    id: str,
    title: str,
    caption: str,
    *where: pl.Expr,
    table: str,
    value: str,
    group: str | None = None,
    prepare: Prepare | None = None,
    fitted: bool = True,
    names: Mapping[str, Mapping[str, str]] | None = None,
    keep: Sequence[str] | None = None,
    axis: str | None = None,
    **look: Any,
) -> Figure:
    """Every member as a dot in a row per ``group``, with mean and interval; ``axis`` names what is measured."""

    def rows(given: pl.DataFrame) -> pl.DataFrame:
        found = shown(given, where, prepare, fitted, names)
        return found.select(keep) if keep is not None else found

    def draw(drawn: pl.DataFrame) -> Any:
        from recombine import figures

        return figures.members(drawn, group, value, title=axis, **look)

    return Figure(id, title, caption, table, draw, rows)


def scatter(
    id: str,
    title: str,
    caption: str,
    *where: pl.Expr,
    table: str,
    x: str,
    y: str,
    by: str | None = None,
    facet: str | None = None,
    prepare: Prepare | None = None,
    fitted: bool = True,
    names: Mapping[str, Mapping[str, str]] | None = None,
    **look: Any,
) -> Figure:
    """One dot per row at (``x``, ``y``), coloured ``by``, in panels by ``facet``."""

    def rows(given: pl.DataFrame) -> pl.DataFrame:
        return shown(given, where, prepare, fitted, names)

    def draw(drawn: pl.DataFrame) -> Any:
        from recombine import figures

        return figures.scatter(drawn, x, y, by, facet, **look)

    return Figure(id, title, caption, table, draw, rows)


def drawn(
    id: str,
    title: str,
    caption: str,
    *where: pl.Expr,
    table: str,
    draw: Callable[[pl.DataFrame], Any],
    prepare: Prepare | None = None,
    fitted: bool = False,
    names: Mapping[str, Mapping[str, str]] | None = None,
) -> Figure:
    """A figure with a chart of its own."""
    return Figure(id, title, caption, table, draw, lambda given: shown(given, where, prepare, fitted, names))


def shown(
    table: pl.DataFrame,
    where: Sequence[pl.Expr],
    prepare: Prepare | None,
    fitted: bool,
    names: Mapping[str, Mapping[str, str]] | None,
) -> pl.DataFrame:
    """The rows of a table that a figure shows."""
    if fitted and "fitted" in table.columns:
        where = (*where, pl.col("fitted").fill_null(True))
    found = table.filter(pl.all_horizontal(*where)) if where else table
    found = prepare(found) if prepare else found
    return found.with_columns(pl.col(column).replace(words) for column, words in (names or {}).items())
