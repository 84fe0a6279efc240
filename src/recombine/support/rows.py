"""A table row by row: which combination each row has, beside all of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.errors import InputError, unknown
from recombine.space import Codes, Factor, FactorSpace
from recombine.support.answers import find_answers
from recombine.support.scan import Said, collect, scan
from recombine.support.table import Missing, encode, factor_names

ROW, ANSWERED = " row", " answered"


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
    answered: NDArray[np.bool_]
    """Which rows have an answer; all of them where no target was named."""

    @property
    def counts(self) -> NDArray[np.int64]:
        return np.bincount(self.combination, minlength=len(self.combinations))

    def with_answer(self) -> Rows:
        """The rows that have an answer, and their combinations."""
        at = self.answered
        kept, place = np.unique(self.combination[at], return_inverse=True)
        return replace(
            self, combinations=self.combinations[kept], combination=place, index=self.index[at],
            frame=self.frame.filter(at), answered=at[at],
        )  # fmt: skip


def read_rows(
    table: Any,
    factors: Sequence[str] | None,
    *,
    others: Sequence[str] = (),
    target: str | None = None,
    bins: Mapping[str, int] | None = None,
    missing: Missing = "error",
    merge_alike: bool = False,
    max_rows: int | None = None,
    max_bytes: int | None = None,
) -> Rows:
    """The rows of a table; ``factors`` None: every column but ``others``, which must be there too. ``target`` is the
    column of answers: rows where it is blank have none."""
    said = Said(merge_alike=merge_alike)
    others = [*others, *([target] if target is not None else [])]
    frame = scan(table, "the table", max_bytes, max_rows, None, said)
    columns = frame.collect_schema().names()
    names = [c for c in columns if c not in others] if factors is None else factor_names(factors)
    for name in (*names, *others):
        if name not in columns:
            raise unknown("column", name, columns)
    if target in names:
        raise InputError(f"{target!r} cannot be a factor and the target at once.")
    said.tables = [frame]
    told = pl.lit(True) if target is None else find_answers([frame], target, None, said).column.is_not_null()
    (frame,), _, encoders = encode([frame.with_row_index(ROW)], names, dict(bins or {}), missing, said)
    said.refuse()
    whole = collect(frame.with_columns(e.code.alias(f" {e.name}") for e in encoders).with_columns(told.alias(ANSWERED)))
    space = FactorSpace(tuple(Factor(e.name, e.levels) for e in encoders))
    codes = whole.select([f" {name}" for name in names]).to_numpy().astype(np.int64)
    combinations, place = np.unique(codes, axis=0, return_inverse=True)
    kept = whole.select(columns)
    index, answered = whole[ROW].to_numpy().astype(np.int64), whole[ANSWERED].to_numpy()
    return Rows(space, combinations, place.ravel(), index, kept, tuple(said.notes), answered)


def told_rows(table: Any, target: str, split: tuple[str, str] | None, max_bytes: int | None) -> pl.LazyFrame:
    """The training rows that have an answer, with their place in the table."""
    frame = scan(table, max_bytes=max_bytes).with_row_index(ROW).filter(pl.col(target).is_not_null())
    if split is not None:
        frame = frame.filter((pl.col(split[0]).cast(pl.String) == split[1]).fill_null(False).not_())
    return frame
