"""Levels that differ only in spaces or capitals: unless that is said, rows of a seen combination pass for unseen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from recombine.support.encode import levels_of
from recombine.support.scan import Said, collect, rows_of


def spelled_alike(
    frames: Sequence[pl.LazyFrame], factors: Sequence[str], merge: bool = False
) -> tuple[list[pl.LazyFrame], list[str]]:
    """The tables, with ``merge`` one of such levels in place of all, and a sentence on each factor that has some."""
    frames = [*frames]
    found, notes, said = frames, list[str](), Said(merge_alike=merge)
    for name in factors:
        if any(frame.collect_schema().get(name) != pl.String for frame in frames):
            continue
        texts = pl.concat([collect(frame.select(pl.col(name).unique())) for frame in frames])[name]
        levels = levels_of(name, [*texts.drop_nulls().unique()], said, partial(rows_of, frames, pl.col(name)))
        if all(isinstance(level, str) for level in levels.values()):
            notes += said.notes
            found = [frame.with_columns(pl.col(name).replace(levels)) for frame in found] if merge else found
        said.notes.clear()
    return found, notes
