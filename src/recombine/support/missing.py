"""Cells that are missing: which texts of a file are read so, in how many rows, and what is done with these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import polars as pl

from recombine.support.numerals import EMPTY_TEXTS
from recombine.support.scan import collect

DONE = {"drop": "left out", "level": "taken as one level, (missing)"}


def spelled(written: Sequence[pl.LazyFrame], name: str) -> dict[str, int]:
    """How many cells of a column hold each text that is read as missing, in files as they were ``written``."""
    found: Counter[str] = Counter()
    for frame in written:
        if name in frame.collect_schema():
            told = frame.filter(pl.col(name).is_in([text for text in EMPTY_TEXTS if text])).select(name)
            found.update(collect(told)[name].to_list())
    return dict(found.most_common())


def as_written(written: Sequence[pl.LazyFrame], name: str, missing: int) -> str:
    """These texts, with their numbers where no other rows were left out: ``9 'NA', 2 left blank``; nothing where all
    are blank."""
    found = spelled(written, name)
    blank = missing - sum(found.values())
    if blank < 0:
        return f"written {' or '.join(map(repr, found))}"
    each = [f"{count:,} {text!r}" for text, count in found.items()]
    return ", ".join([*each, f"{blank:,} left blank"] if found and blank else each)


def missing_words(
    frames: Sequence[pl.LazyFrame], names: Collection[str], missing: str, written: Sequence[pl.LazyFrame]
) -> list[str]:
    """A sentence for each of these columns that is missing somewhere and left out or a level; ``frames``: as read."""
    told = []
    for name in names if missing in DONE else ():
        rows = sum(int(collect(f.select(nothing_in(f.collect_schema(), name).sum()))[name][0]) for f in frames)
        if rows:
            how = as_written(written, name, rows)
            other = "; if such a text names something, write it in another way" if how else ""
            which = f"{rows:,} rows" if rows > 1 else "1 row"
            told.append(f"{name!r} is missing in {which}{f' ({how})' * bool(how)}, {DONE[missing]}{other}.")
    return told


def nothing_in(schema: pl.Schema, name: str) -> pl.Expr:
    """Where a column is missing, or holds spaces alone."""
    column, kind = pl.col(name), schema[name]
    if kind.is_float():
        return column.is_null() | column.is_nan()
    if kind != pl.String:
        return column.is_null()
    return column.is_null() | (column.cast(pl.String).str.strip_chars() == "")  # numbers in another table
