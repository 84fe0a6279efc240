"""Days, runs, plates and batches are named or numbered; what is measured has fractions, or leaves numbers out.

Whole numbers from 0 or 1 on, or without a gap, may number runs, and any may name batches: only a line along numbers
with gaps says that they measure something. What most rows have to themselves, or with rows of their own combination
alone, names a row or what it is made of, and so do columns that say so: nothing else was run with it.
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from recombine.checks.exact.modular import Floats, Ints

OWN = 0.6
"""Share of rows with a value of their combination alone from which a column names what a row is of."""
LARGEST_WHOLE = 2.0**53
THINGS = {"name", "model", "title", "city", "town", "state", "county", "country", "region", "postal", "zip"}
"""Words in the name of a column that says what, who or where something is."""


def words_in(name: str) -> set[str]:
    """The words of a column's name: of PostalCode and postal_code, postal and code."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def broken(column: pl.Series) -> bool:
    """Whether a column holds numbers with fractions, also as texts."""
    if column.dtype.is_temporal() or column.dtype == pl.Boolean:
        return False
    texts = column.cast(pl.String).str.strip_chars().str.replace(",", ".", literal=True)
    numbers = texts.cast(pl.Float64, strict=False)
    return numbers.null_count() == column.null_count() and bool((numbers % 1 != 0).any())


def as_numbers(column: pl.Series) -> pl.Series:
    """A column of a file, which is read as texts, as the numbers that they all are; another as it is."""
    if column.dtype != pl.String or column.null_count():
        return column
    numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
    if not len(numbers) or numbers.null_count() or not numbers.is_finite().all():
        return column
    whole = bool((numbers % 1 == 0).all()) and float(numbers.abs().max()) < LARGEST_WHOLE  # type: ignore[arg-type]
    return numbers.cast(pl.Int64) if whole else numbers


def numbers_runs(values: Floats) -> bool:
    """Whether whole numbers begin at 0 or 1, or leave none out."""
    low, high = float(values.min()), float(values.max())
    return bool((values % 1 == 0).all() and (low in (0.0, 1.0) or len(np.unique(values)) == high - low + 1))


def names_what(name: str, value: Ints, cell: Ints) -> bool:
    """Whether a column says what a row or its combination is rather than what it was run with."""
    if words_in(name) & THINGS:
        return True
    pairs = np.unique(np.stack([value, cell], axis=1), axis=0)[:, 0]
    alone = np.bincount(pairs, minlength=int(value.max()) + 1) == 1
    return bool(alone[value].mean() > OWN)
