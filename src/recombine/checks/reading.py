"""What `check` reads: the training table, what is asked about, and what is worth saying about both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recombine.errors import InputError
from recombine.support.table import Table, Target, read_tables


def read(
    table: Any, test: Any, factors: Sequence[str], min_support: int, **how: Any
) -> tuple[Table, Table | None, list[str]]:
    """The training table, the table that is asked about (None: the grid), and what is worth saying about reading;
    ``how`` is what `read_tables` takes."""
    tables = read_tables([table] if test is None else [table, test], factors, **how)
    train, asked = tables[0], tables[1] if len(tables) > 1 else None
    notes = _reading_notes(train, asked)
    return _supported(train, min_support), asked, notes


def split_of(split: str | tuple[str, str] | None) -> tuple[str, str] | None:
    """Column and value of a split, written as text or as a pair."""
    if split is None or not isinstance(split, str):
        return None if split is None else (str(split[0]), str(split[1]))
    column, sign, value = split.partition("=")
    if not sign or not column or not value:
        raise InputError(f"split is {split!r}; write column=value, for example split=test.")
    return column, value


def in_words(asked: Table | None, split: tuple[str, str] | None, test: Any) -> str:
    """What is asked about."""
    if asked is None:
        return "the grid of the table's levels minus training"
    if split:
        return f"the rows with {split[0]} = {split[1]}"
    return f"the test table {test}" if isinstance(test, (str, Path)) else "the test table"


def _supported(train: Table, min_support: int) -> Table:
    keep = train.counts >= min_support
    if not keep.any():
        raise InputError(
            f"no combination occurs in {min_support} rows or more; the most frequent has {int(train.counts.max())}."
        )
    if keep.all():
        return train
    target = train.target
    if target is not None:
        target = Target(target.name, target.classes, target.count[keep], target.mean[keep], target.spread[keep])
    return Table(train.space, train.codes[keep], train.counts[keep], train.dropped, target)


def _reading_notes(train: Table, asked: Table | None) -> list[str]:
    notes = []
    dropped = train.dropped + (asked.dropped if asked else 0)
    if dropped:
        notes.append(f"{dropped:,} rows with missing factors were left out.")
    single = [f.name for f in train.space.factors if len(f) == 1]
    if single:
        have = "has" if len(single) == 1 else "have"
        notes.append(f"{', '.join(single)} {have} one level only and cannot be recombined.")
    if train.target is not None and train.target.conflicts:
        notes.append(
            f"{train.target.conflicts:,} training combinations were given different answers in different rows; "
            "their average is used."
        )
    return notes
