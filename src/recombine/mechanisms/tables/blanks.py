"""Rows of a table of predictions that lack the right answer or the prediction, and what is lost with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from recombine.errors import InputError
from recombine.mechanisms.answers.answered import Unanswered
from recombine.mechanisms.answers.columns import Columns
from recombine.mechanisms.tables.remarks import rows_words
from recombine.support.scan import collect

if TYPE_CHECKING:
    from recombine.mechanisms.tables.reading import Reading


def complete(
    frame: pl.LazyFrame, known: pl.LazyFrame | None, columns: Columns, how: Reading, given: Sequence[str]
) -> tuple[pl.LazyFrame, list[str], Unanswered]:
    """The rows that have an answer and a prediction, which training rows need not have; what is worth saying of the
    others, and which combinations get no answer. ``given``: the columns that a person calls the prediction."""
    schema = frame.collect_schema()
    for name in (columns.target, columns.prediction):
        if schema[name].is_float():
            frame = frame.with_columns(pl.col(name).fill_nan(None))
    right, said = pl.col(columns.target).is_null(), pl.col(columns.prediction).is_null()
    test = pl.lit(True) if how.split is None else pl.col(how.split[0]).cast(pl.String) == how.split[1]
    absent, untold = right | (said & test), said & ~right & ~test
    lost, asked, blank = map(int, collect(frame.select(
        lost=absent.sum(), asked=(absent & test).sum(), blank=untold.sum()
    )).row(0))  # fmt: skip
    if (lost or blank) and how.missing == "error":
        raise InputError(
            f"{rows_words(lost + blank, 'has', 'have')} no {columns.target!r} or no {' or '.join(map(repr, given))}; "
            "leave out what is missing with missing='drop' (--missing drop)."
        )
    notes, unanswered = [], Unanswered()
    if lost:
        of_test = f"; {asked:,} of them {'is a test row' if asked == 1 else 'are test rows'}" * (how.split is not None)
        gone, unanswered = _gone(frame, known, (right, said), test, how)
        taken = f", and {gone:,} unseen combination{'s' * (gone != 1)} lost all rows by it" * (gone > 0)
        notes.append(f"{rows_words(lost, 'was', 'were')} left out: no target or no prediction{of_test}{taken}.")
    if blank:
        have = f"{blank:,} training row{'s have' if blank > 1 else ' has'} no prediction"
        them = "them" if blank > 1 else "it"
        notes.append(f"{have}: what was trained on is known from {them}, errors on training rows without {them}.")
    return (frame.filter(~absent) if lost else frame), notes, unanswered


def _gone(
    frame: pl.LazyFrame, known: pl.LazyFrame | None, blank: tuple[pl.Expr, pl.Expr], test: pl.Expr, how: Reading
) -> tuple[int, Unanswered]:
    """How many unseen combinations have no row left, and those that have right answers and no prediction; none where it
    is not the values that are their levels. ``blank``: which rows lack the answer, and the prediction."""
    names, schema, (right, said) = [*how.factors], frame.collect_schema(), blank
    shown = frame.filter(~test & ~right) if known is None else known
    if how.bins or any(shown.collect_schema().get(name) != schema[name] for name in names):
        return 0, Unanswered()
    rows = frame.filter(test).group_by(names).agg(
        gone=(right | said).all(), due=(~right).any(), left=(said & ~right).sum()
    ).join(shown.select(names).unique(), on=names, how="anti", nulls_equal=True)  # fmt: skip
    named = pl.all_horizontal(pl.col(names).is_not_null()) | (how.missing == "level")
    gone, none, left = collect(rows.select(
        pl.col("gone").sum(), (pl.col("gone") & pl.col("due") & named).sum().alias("none"), pl.col("left").sum()
    )).row(0)  # fmt: skip
    everywhere = collect(frame.select((said & ~right).sum()))[0, 0]
    return int(gone), Unanswered(int(none), bool(left == everywhere))
