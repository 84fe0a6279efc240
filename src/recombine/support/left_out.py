"""Rows of combinations that are excluded (region=Total) are left out before anything is learnt of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import polars as pl

from recombine.errors import InputError
from recombine.space import Level
from recombine.support.numerals import as_number
from recombine.support.scan import collect

MOST_NAMED = 4


def left_out(
    frames: list[pl.LazyFrame], records: Sequence[Mapping[str, Level]], names: Collection[str]
) -> tuple[list[pl.LazyFrame], list[Mapping[str, Level]], list[str]]:
    """The frames without them, the records of which there were rows, and a note; ``names``: the columns whose levels
    stand in the rows as they are."""
    found, lost = list[Mapping[str, Level]](), 0
    for record in records:
        if not record or not set(record) <= set(names):
            continue
        rows = 0
        for i, frame in enumerate(frames):
            here = pl.all_horizontal(_is(frame, name, level) for name, level in record.items()).fill_null(False)
            if gone := int(collect(frame.select(here.sum()))[0, 0]):
                frames[i], rows = frame.filter(~here), rows + gone
                if not int(collect(frames[i].select(pl.len()))[0, 0]):
                    raise InputError("every row of a table is excluded; leave out fewer (--exclude).")
        found += [record] * bool(rows)
        lost += rows
    if not found:
        return frames, [], []
    which = ", ".join(" × ".join(f"{n}={v}" for n, v in record.items()) for record in found[:MOST_NAMED])
    which += f" and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
    return frames, found, [f"{lost:,} row{'s' * (lost > 1)} with what is excluded ({which}) left out."]


def _is(frame: pl.LazyFrame, name: str, level: Level) -> pl.Expr:
    """Where a column has this level, also one that a command line could only give as text."""
    values = collect(frame.select(pl.col(name).unique()))[name].to_list()
    return pl.any_horizontal(pl.lit(False), *(pl.col(name) == v for v in values if _same(v, level)))


def _same(value: object, level: Level) -> bool:
    if value is None:
        return False
    texts = [str(v).strip().lower() for v in (value, level)]
    if texts[0] == texts[1]:
        return True
    one, two = (as_number(text.removesuffix("%").rstrip()) for text in texts)
    return one is not None and one == two
