"""What was read of tables: one value per unit, and the same units of several readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import polars as pl

Tables = Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class Reading:
    """What was read: a row with a finite ``value`` for each unit that can be judged, all units that were asked for, and
    the runs they come from."""

    found: pl.DataFrame
    asked: pl.DataFrame
    runs: frozenset[str] = frozenset()
    there: bool = True
    """Whether what it reads was run at all."""
    least: int = 1
    """How many units it takes to say anything."""
    short: tuple[int, int] | None = None
    """How many steps its runs have and how many it takes, where none has as many."""

    def values(self) -> tuple[float, ...]:
        return tuple(self.found["value"].to_list())


def paired(readings: Sequence[Reading], pair: Sequence[str]) -> list[Reading]:
    """The same units of several readings, in the same order; asked for are those that any of them asks for."""
    pair = list(pair)
    for reading in readings:
        if reading.found.select(pair).is_duplicated().any():
            raise ValueError(f"units are not told apart by {', '.join(pair)}: {reading.found.head(3)}")
    common = reduce(lambda one, other: one.join(other, on=pair), [r.found.select(pair) for r in readings]).sort(pair)
    asked = pl.concat([reading.asked.select(pair) for reading in readings]).unique(maintain_order=True)
    return [
        replace(r, found=common.join(r.found.select(*pair, "value"), on=pair, maintain_order="left"), asked=asked)
        for r in readings
    ]
