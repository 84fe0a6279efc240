"""A table row by row: which combination each row has, beside all of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.errors import unknown
from recombine.space import Codes, Factor, FactorSpace
from recombine.support.scan import Said, collect, scan
from recombine.support.table import Missing, encode, factor_names

ROW = " row"


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that have every factor, in the order of the table."""

    space: FactorSpace
    combinations: Codes
    """The distinct combinations."""
    combination: NDArray[np.int64]
    """Which of them each row has."""
    index: NDArray[np.int64]
    """The place of each row in the table."""
    frame: pl.DataFrame
    """All columns of these rows."""
    notes: tuple[str, ...]

    @property
    def counts(self) -> NDArray[np.int64]:
        return np.bincount(self.combination, minlength=len(self.combinations))


def read_rows(
    table: Any,
    factors: Sequence[str] | None,
    *,
    others: Sequence[str] = (),
    bins: Mapping[str, int] | None = None,
    missing: Missing = "error",
    max_rows: int | None = None,
    max_bytes: int | None = None,
) -> Rows:
    """The rows of a table; ``factors`` None: every column but ``others``, which must be there too."""
    said = Said()
    frame = scan(table, "the table", max_bytes, max_rows, None, said)
    columns = frame.collect_schema().names()
    names = [c for c in columns if c not in others] if factors is None else factor_names(factors)
    for name in (*names, *others):
        if name not in columns:
            raise unknown("column", name, columns)
    said.tables = [frame]
    (frame,), _, encoders = encode([frame.with_row_index(ROW)], names, dict(bins or {}), missing, said)
    said.refuse()
    whole = collect(frame.with_columns(e.code.alias(f" {e.name}") for e in encoders))
    space = FactorSpace(tuple(Factor(e.name, e.levels) for e in encoders))
    codes = whole.select([f" {name}" for name in names]).to_numpy().astype(np.int64)
    combinations, place = np.unique(codes, axis=0, return_inverse=True)
    kept = whole.select(columns)
    return Rows(space, combinations, place.ravel(), whole[ROW].to_numpy().astype(np.int64), kept, tuple(said.notes))
