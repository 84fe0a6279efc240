"""Rows of one patient, device or batch in one combination: no repeats of each other, if they are alike beyond it.

Noise is what rows of one combination differ by, and intervals are over rows as if each were drawn by itself. Rows of
one patient tell too little of it, so that a right model seems to err by more than the noise. Where a person names the
column, one row stands for all rows of a patient in a combination: their mean or, of classes, one of them. Where nobody
does, a column each of whose values lies in one combination is looked at, by a one-way analysis of variance inside
combinations,

    F = (Σ n_g m_g² / (groups − combinations)) / (what is left / (rows − groups)),

with m_g the means of groups less that of their combination, of normal scores or of classes as 0 and 1.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import fdtrc, ndtri

from recombine.errors import InputError, unknown
from recombine.mechanisms.answers.finding import LEVEL
from recombine.mechanisms.answers.names import brief, share
from recombine.mechanisms.tables.besides import MOST_COLUMNS, MOST_ROWS
from recombine.mechanisms.tables.reading import Reading, placed
from recombine.mechanisms.tables.remarks import rows_words
from recombine.statistics import FloatArray
from recombine.support.scan import collect, scan
from recombine.support.table import TARGET_CLASSES

MUCH = 0.2
"""The share of what answers vary by inside combinations that has to lie between groups (their intraclass correlation)
before it is said."""
DEALS = 299
"""Times that answers are dealt anew inside combinations, in none of which groups may be as far apart: rare events are
far from normal."""


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
            f"part; `recombine split --group {shlex.quote(brief(group))}` keeps them apart."
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


def groups_unnamed(table: Any, how: Reading, group: str | None) -> tuple[str, ...]:
    """Two sentences, short and long, on the column, not named as the group or as anything else, whose rows are most
    alike inside combinations, where that is no chance."""
    frame = scan(table, "the table", how.max_bytes, how.max_rows)
    used = {group, *how.factors, how.target, *(c for cs in how.predictions for c in cs), *(how.split or ())[:1]}
    kinds = frame.collect_schema()
    names = [n for n, kind in kinds.items() if n not in used and (kind.is_integer() or kind == pl.String)]
    names = names[:MOST_COLUMNS]
    if not names or how.bins or int(collect(frame.select(pl.len()))[0, 0]) > MOST_ROWS:
        return ()
    rows = collect(frame.select(*how.factors, how.target, *names)).drop_nulls([*how.factors, how.target])
    cell = rows.select(pl.struct(pl.col(how.factors).cast(pl.String)).rank("dense") - 1).to_series().to_numpy()
    answers, found = _scores(rows[how.target].cast(pl.String).str.strip_chars(), cell), dict[str, float]()
    for name in names:
        value = rows[name].rank("dense")
        if answers is not None and not value.null_count() and _nested(value.to_numpy() - 1, cell):
            found[name] = _alike(value.to_numpy() - 1, cell, answers, LEVEL / len(names))
    name, much = max(found.items(), key=lambda item: item[1], default=("", 0.0))
    if much < MUCH:
        return ()
    option = f"--group {shlex.quote(brief(name))}"
    return (
        f"Rows of one {brief(name)!r} are alike and are taken for repeats, so that there is more noise than it seems: "
        f"judge again with {option}.",
        f"Rows of one {brief(name)!r} are alike beyond their combination ({share(much)} of what answers differ by "
        "there lies between them), so that they are no repeats of each other and tell too little noise: "
        f"{option} (group={brief(name)!r}) counts them as one.",
    )


def _scores(answers: pl.Series, cell: NDArray[Any]) -> FloatArray | None:
    """Normal scores of what numbers are off their combination, or classes as 0 and 1."""
    y = answers.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    if not len(y):
        return None
    if not np.isfinite(y).all():
        codes = answers.rank("dense").to_numpy() - 1
        return np.eye(codes.max() + 1)[codes] if codes.max() < TARGET_CLASSES else None
    off = _less_mean(cell, y[:, None])[:, 0]
    _, at, many = np.unique(off.round(12), return_inverse=True, return_counts=True)
    return np.asarray(ndtri((np.cumsum(many) - many / 2)[at] / len(y)))[:, None]


def _nested(value: NDArray[Any], cell: NDArray[Any]) -> bool:
    """Whether each value lies in one combination."""
    return len(np.unique(value * (int(cell.max()) + 1) + cell)) == int(value.max()) + 1


def _alike(value: NDArray[Any], cell: NDArray[Any], answers: FloatArray, level: float) -> float:
    """The intraclass correlation inside combinations; 0 where it may be chance."""
    groups, cells, rows = int(value.max()) + 1, len(np.unique(cell)), len(value)
    off, many, apart, free = _less_mean(cell, answers), np.bincount(value), groups - cells, rows - groups

    def between(off: FloatArray) -> float:
        return float(sum((np.bincount(value, v) ** 2 / many).sum() for v in off.T))

    found, kinds = between(off), max(1, answers.shape[1] - 1)
    if apart < 1 or free < groups or found <= 0:  # Few rows share a value: it may as well be a measured number.
        return 0.0
    one, two = found / apart, max(float(np.square(off).sum()) - found, 1e-12 * found) / free
    if fdtrc(kinds * apart, kinds * free, one / two) > level:
        return 0.0
    rng, order, dealt = np.random.default_rng(0), np.argsort(cell, kind="stable"), np.empty_like(off)
    for _ in range(DEALS):
        dealt[order] = off[np.lexsort((rng.random(rows), cell))]
        if between(dealt) >= found * (1 - 1e-9):
            return 0.0
    first = np.unique(value, return_index=True)[1]
    size = (rows - float((many**2 / np.bincount(cell)[cell[first]]).sum())) / apart
    return max(0.0, (one - two) / (one + (size - 1) * two))


def _less_mean(cell: NDArray[Any], values: FloatArray) -> FloatArray:
    return np.column_stack([v - (np.bincount(cell, v) / np.bincount(cell))[cell] for v in values.T])
