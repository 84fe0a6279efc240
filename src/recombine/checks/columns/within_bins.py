"""Rows of one bin of a number differ by their exact values: what they differ by is then no noise.

    y = combinations + Σ over bins of a slope · (value − mean of the bin) + ε,    F of the slopes, of normal scores

beside combinations, which has to stand when rows of each combination are dealt anew (as in `shared`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recombine.checks.columns.shared import CHANCE, differ, explained
from recombine.checks.columns.taken_off import Off, same_levels, taken_off
from recombine.checks.exact.identifiability import Identifiability
from recombine.support.rows import told_rows
from recombine.support.table import Table, read_tables

EXACT = " exact"
"""What the columns of exact values end in."""


@dataclass(frozen=True, eq=False)
class Within:
    """Slopes within bins."""

    names: tuple[str, ...]
    """The factors that are cut into bins."""
    share: float
    """Of what rows of combinations differ by."""
    p_value: float
    off: Off | None
    """The training table with the slopes taken off."""


def within_bins(table: Any, train: Table, known: Identifiability, **how: Any) -> Within | None:
    """Whether rows of one bin differ by their exact values, beyond chance. ``how`` is what `read_tables` takes."""
    bins, numbers, target = how["bins"], how.get("numbers") or {}, how["target"]
    names = [name for name in train.space.names if name in bins]
    if not names or train.target is None:
        return None
    frame = told_rows(table, target, how.get("split"), how.get("max_bytes"))
    frame = frame.with_columns(pl.col(name).alias(name + EXACT) for name in names)
    exact = {name + EXACT: "linear" for name in names}
    how_here = {**how, "split": None, "numbers": {**numbers, **exact}}
    read = read_tables([frame], [*train.space.names, *exact], **how_here)[0]
    told, held = read.target, len(train.space)
    if told is None or not same_levels(read, train, len(names)):
        return None
    use = told.count > 0
    codes, told = read.codes[use].astype(np.int64), told.of(use)
    cells, columns = codes[:, :held], list[np.ndarray]()
    for k, name in enumerate(names, held):
        value = np.array([float(v) for v in read.space[name + EXACT].levels or ()])[codes[:, k]]
        columns += _slopes(cells[:, train.space.names.index(name)], value)
    cell = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
    slopes = np.stack(columns, axis=1)
    p_value = differ(cell, slopes, told.mean)
    if p_value is None or p_value >= CHANCE:
        return None
    off = taken_off(train, known, cells, slopes, told)
    return Within(tuple(names), explained(cell, slopes, told.mean), p_value, off)


def _slopes(bins: np.ndarray, value: np.ndarray) -> Sequence[np.ndarray]:
    """For each bin the values of its rows, less their mean."""
    return [np.where(bins == one, value - value[bins == one].mean(), 0.0) for one in np.unique(bins)]
