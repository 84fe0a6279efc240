"""Which rows were trained on and which are asked about, where one column says so: `column=value` names the test rows.

All other rows were trained on, unless some of them are plainly called training: rows of a validation set are then
neither, and left out.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl

from recombine.errors import InputError, unknown
from recombine.support.scan import collect, settled

TRAINING = re.compile(r"train(ing|ed|set|val)?(?![a-z])")
"""How a value begins that is plainly called training."""
ASKS = "blank"
"""What `recombine split` calls a row without an answer: a question, whichever part it lies in."""
MOST_NAMED = 3


def split_of(split: str | tuple[str, Any] | None) -> tuple[str, str] | None:
    """Column and value of a split, written as text or as a pair."""
    if split is None:
        return None
    column, value = split.partition("=")[::2] if isinstance(split, str) else split if len(split) == 2 else ("", "")
    # Tables write what is true or false in small letters.
    column, value = str(column), str(value).lower() if isinstance(value, bool | np.bool_) else str(value)
    if not column or not value:
        raise InputError(f"split is {split!r}; write column=value, for example split=test.")
    return column, value


def without_others(frame: pl.LazyFrame, column: str, value: str) -> tuple[pl.LazyFrame, list[str]]:
    """The rows that were trained on or are asked about, and what is worth saying of the others."""
    text = _as_text(column, frame)
    counted = collect(frame.select(text.alias("text")).group_by("text").agg(pl.len().alias("rows")).sort("text"))
    rows = {name: int(count) for name, count in counted.iter_rows() if name is not None and name.strip()}
    if value not in rows:
        return frame, []
    others = [name for name in rows if name not in (value, ASKS)]
    training = [name for name in others if TRAINING.match(name.strip().casefold())]
    left = [name for name in others if name not in training]
    if not training:
        if len(others) < 2:
            return frame, []
        return frame, [f"Rows with {column} = {_named(others)} are all taken as trained on."]
    if not left:
        return frame, []
    lost = sum(rows[name] for name in left)
    many = f"{lost:,} rows" if lost > 1 else "1 row"
    return frame.filter(~text.is_in(left).fill_null(False)), [
        f"{many} with {column} = {_named(left)} {'were' if lost > 1 else 'was'} left out: neither trained on "
        f"({_named(training)}) nor asked about ({value!r})."
    ]


def has_rows(frame: pl.LazyFrame, column: str, value: str) -> bool:
    """Whether any row has this value."""
    return bool(collect(frame.select((_as_text(column, frame) == value).any().alias("any")))["any"][0])


def cut(frame: pl.LazyFrame, column: str, value: str) -> list[pl.LazyFrame]:
    """The rows that were trained on, then those that are asked about."""
    is_test = (_as_text(column, frame) == value).fill_null(False)
    values = collect(frame.select(_as_text(column, frame).unique().drop_nulls()))[column].to_list()
    if value not in values:
        raise unknown(f"value of the split column {column!r}:", value, sorted(values))
    if len(values) < 2 and not collect(frame.select(pl.col(column).is_null().any()))[0, 0]:
        raise InputError(
            f"every row has {column} = {value!r}, so the split leaves nothing that was trained on; add those rows, or "
            "name the table that has them as train (--train)."
        )
    return [settled(frame.filter(~is_test)), settled(frame.filter(is_test))]


def _named(values: list[str]) -> str:
    more = len(values) - MOST_NAMED
    first = [repr(name[:40]) for name in values[: MOST_NAMED if more > 0 else None]]
    if more > 0:
        return f"{', '.join(first)} and {more:,} more"
    return first[0] if len(first) == 1 else f"{', '.join(first[:-1])} or {first[-1]}"


def _as_text(column: str, frame: pl.LazyFrame) -> pl.Expr:
    kind = frame.collect_schema()[column]
    return pl.col(column).cast(pl.String) if kind != pl.String else pl.col(column)
