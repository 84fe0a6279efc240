"""Columns that are neither factor nor answer and go with a factor: what is said of the factor may be theirs.

A day that is the same for all rows of a resin cannot be told from the resin. By chance a column with values of shares p
is the same for all rows of each level with a probability of about (Σ p²)^(rows − levels), which must be small.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from recombine.space import quoted
from recombine.support.scan import collect, scan

MOST_ROWS, MOST_COLUMNS, FIRST = 100_000, 100, 1_000
"""Rows up to which, and how many other columns, are looked at; rows that drop most columns at once."""
BY_CHANCE = 0.01
MOST_NAMED = 3


def bystanders(
    table: Any, factors: Sequence[str], used: Collection[str], merge_alike: bool | None, max_bytes: int | None
) -> list[str]:
    """A sentence for each factor with which columns go that are not ``used``."""
    frame = scan(table, max_bytes=max_bytes)
    kinds = frame.collect_schema()
    others = [
        n for n, kind in kinds.items() if n not in {*factors, *used} and not kind.is_nested() and kind != pl.Object
    ]
    if not (others := others[:MOST_COLUMNS]):
        return []
    rows = collect(frame.select(*factors, *others))
    if merge_alike:
        texts = [n for n in factors if kinds[n] == pl.String]
        rows = rows.with_columns(pl.col(texts).str.strip_chars().str.to_lowercase())
    said = []
    for factor in factors:
        found = [n for n in _constant(rows, factor, others) if _rare(rows, factor, n)]
        if found:
            named = ", ".join(map(quoted, found[:MOST_NAMED]))
            named += f" and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
            one = len(found) == 1
            which = f"column {named} is" if one else f"columns {named} are"
            said.append(
                f"{which} the same for all rows of each {factor}: what is said of {factor} may be "
                f"{f'that of {named}' if one else 'theirs'}, and holds only for these values, unless "
                f"{'it' if one else 'they'} merely describe{'s' if one else ''} {factor}."
            )
    return said


def _constant(rows: pl.DataFrame, factor: str, others: list[str]) -> list[str]:
    """Those of the columns that have one value in all rows of each level."""
    for part in (rows.head(FIRST), rows):
        if not others:
            return []
        most: Mapping[str, Any] = (
            part.group_by(factor).agg(pl.col(others).n_unique()).select(pl.col(others).max()).row(0, named=True)
        )
        others = [n for n in others if most[n] == 1]
    return others


def _rare(rows: pl.DataFrame, factor: str, other: str) -> bool:
    shares = rows[other].value_counts()["count"] / len(rows)
    alike = float((shares**2).sum())
    return alike < 1 and (len(rows) - rows[factor].n_unique()) * math.log(alike) < math.log(BY_CHANCE)
