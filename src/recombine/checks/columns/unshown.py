"""Rows that are asked about on a day of which training tells no shift: their answer is that of an average one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recombine.support.table import NOT_TOLD, Table


@dataclass(frozen=True)
class Unshown:
    """How many such rows each asked combination has."""

    rows: Mapping[tuple[int, ...], int] = field(default_factory=dict)

    def __contains__(self, cell: Sequence[int]) -> bool:
        return tuple(cell) in self.rows

    def note(self, name: str, average: str) -> str:
        """How many they are in all; nothing where there are none."""
        many = sum(self.rows.values())
        which = f"{many:,} asked rows are" if many != 1 else "1 asked row is"
        what = f"of a {name} whose shift training does not tell: the answer is that of {average}"
        return f" {which} {what}, and only the range of a single row holds a shift." * bool(many)

    def words(self, cell: Sequence[int], name: str, average: str) -> str:
        """What is said of one combination."""
        many = self.rows.get(tuple(cell), 0)
        rows = f"{many:,} rows" if many > 1 else "asked"
        what = f"{rows} of a {name} whose shift training does not tell: the answer is that of {average}"
        return f"; {what}" * bool(many)


def _named(table: Table, held: int) -> NDArray[np.bool_]:
    """Which rows name all of their blocks, the columns from this one on."""
    found = np.ones(len(table.codes), dtype=bool)
    for k in range(held, len(table.space)):
        levels = np.array([level != NOT_TOLD for level in table.space.factors[k].levels or ()], dtype=bool)
        found &= levels[table.codes[:, k]]
    return found


def unshown(read: Sequence[Table], tables: Sequence[Table], held: int, told: Collection[tuple[int, ...]]) -> Unshown:
    """Of rows that name blocks, which are not ``told``; of the first table of those without an answer. ``read``: before
    blocks that are numbered anew were told apart."""
    found: dict[tuple[int, ...], int] = {}
    for i, (table, there) in enumerate(zip(tables, (_named(one, held) for one in read), strict=True)):
        asks = there if i or table.target is None else there & (table.target.count == 0)
        for row, many in zip(table.codes[asks].tolist(), table.counts[asks].tolist(), strict=True):
            if tuple(row[held:]) not in told:
                found[tuple(row[:held])] = found.get(tuple(row[:held]), 0) + int(many)
    return Unshown(found)
