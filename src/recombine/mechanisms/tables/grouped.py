"""Rows of one patient, device or batch in one combination: no repeats of each other, if they are alike beyond it.

Noise is what rows of one combination differ by, and intervals are over rows as if each were drawn by itself. Rows of
one patient tell too little of it, so that a right model seems to err by more than the noise. Where a person names the
column, one row stands for all rows of a patient in a combination: their mean or, of classes, one of them. Where nobody
does, such a column is looked for (`tables/alike.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from recombine.errors import InputError, unknown
from recombine.mechanisms.answers.names import brief
from recombine.mechanisms.tables.reading import Reading, placed
from recombine.mechanisms.tables.remarks import rows_words
from recombine.support.pasted import single
from recombine.support.scan import collect, scan


def check_group(group: str, how: Reading) -> None:
    """Refuse a column of groups that is something else as well, and groups of rows that are yet to be cut into bins."""
    if group in {*how.factors, how.target, *(c for cs in how.predictions for c in cs), *(how.split or ())[:1]}:
        raise InputError(f"{group!r} is named as the group and as something else; they are two columns.")
    if how.bins:
        raise InputError("groups cannot be told where a column is cut into bins (--bins); cut it in the table.")


def one_row_each(table: Any, how: Reading, group: str, numbers: bool, seed: int) -> tuple[Any, Reading, str]:
    """A table with one row for each value of ``group`` in each combination, training and test apart; how it is read,
    and what is said of it."""
    rows = _rows(table, how, group)
    found, train = _one_each(rows, how, group, numbers, seed), how.train
    if train is not None and {how.target, group} & {*scan(train).collect_schema()}:
        train = _one_each(_rows(train, how, group), how, group, numbers, seed)
    what = "their mean" if numbers else "one of them, drawn"
    count = f"{len(found):,} of {len(rows):,}"
    note = f"Rows of one {brief(group)!r} in one combination count as one ({what}): {count} rows are left."
    both = 0 if how.split is None else _on_both_sides(rows, group, *how.split)
    if both:
        note += (
            f" {both:,} of {rows[group].n_unique():,} have both training rows and test rows, which were then known in "
            f"part; `recombine split {single('group', brief(group))}` keeps them apart."
        )
    return found, replace(how, train=train), note


def _on_both_sides(rows: pl.DataFrame, group: str, column: str, value: str) -> int:
    """How many groups have rows that were trained on and rows that were not."""
    test = (pl.col(column).cast(pl.String) == value).fill_null(False)
    return int(rows.group_by(group).agg((test.any() & ~test.all()).alias("both"))["both"].sum())


def _rows(table: Any, how: Reading, group: str) -> pl.DataFrame:
    rows = collect(placed(scan(table, "the table", how.max_bytes, how.max_rows), how)[0])
    if group not in rows.columns:
        raise unknown("column", group, rows.columns)
    blank = rows.select(pl.col(group).cast(pl.String).str.strip_chars().fill_null("") == "").to_series()
    if blank.any() and how.missing == "error":
        raise InputError(
            f"{rows_words(int(blank.sum()), 'has', 'have')} no {group!r}; fill it in, or leave these rows out with "
            "missing='drop' (--missing drop)."
        )
    return rows.filter(~blank)


def _one_each(rows: pl.DataFrame, how: Reading, group: str, numbers: bool, seed: int) -> pl.DataFrame:
    """Rows that lack an answer or a prediction are apart from those that have it."""
    answers = [n for n in (how.target, *(c for cs in how.predictions for c in cs)) if n in rows.columns]
    keys = [n for n in (*how.factors, *(how.split or ())[:1], group) if n in rows.columns]
    by = [*keys, *(pl.col(n).is_null().alias(f" {n}") for n in answers)]
    if not numbers:
        dealt = rows.sample(fraction=1.0, shuffle=True, seed=seed)
        return dealt.group_by(by, maintain_order=True).first().select(rows.columns)
    text = pl.col(answers).cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    told = rows.with_columns(text.fill_nan(None))
    others = [n for n in rows.columns if n not in keys]
    means = [pl.col(n).mean() if told[n].dtype.is_numeric() else _if_one(n) for n in others]
    return told.group_by(by, maintain_order=True).agg(means).select(rows.columns)


def _if_one(name: str) -> pl.Expr:
    """The value that all rows share; none where they differ."""
    return pl.when(pl.col(name).n_unique() == 1).then(pl.col(name).first())
