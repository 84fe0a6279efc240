"""Answers with what a column or their order adds to them taken off: how the test of adding up is made beside it.

    y = effects of the factors + Σ over directions of the column + ε,    by least squares over the rows

What is left of a row is stretched as far as estimating the directions shrank it, means of combinations and rows around
these each by its own freedom, so that the one can be judged by the other: with C the projection on combinations and P
on [X B], C (1 − P) has a trace of tr C − tr C P left of tr C − rank X. Rows that repeat one in its block are not
shrunk.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import orth
from scipy.special import stdtr

from recombine.checks.columns.anew import numbered_anew
from recombine.checks.columns.unnamed import LARGEST, ordered, over_ranks
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.headed import Moving
from recombine.checks.rules.weighing import worth_in
from recombine.errors import InputError
from recombine.support.table import Table, Target, read_tables

CHANCE = 0.05
"""p-value below which an order goes with what the factors do."""
NONE_KEPT = 1e-6
"""Freedom below which a fit leaves nothing but rounding."""


@dataclass(frozen=True, eq=False)
class Off:
    """The training table with something taken off."""

    table: Table
    goes_with_effects: bool
    """Whether its first direction goes with what the factors do, as another answer does; the order of runs does by
    chance alone."""


def without_column(table: Any, train: Table, known: Identifiability, column: Moving, **how: Any) -> Off | None:
    """The training table with what a column adds taken off: a line and a bend along it, or a shift of each value, in
    each level of a factor if values seem to be numbered anew there; None where the column cannot be read, or it is too
    much. ``how`` is what `read_tables` takes."""
    name, lines = column.name, how.get("numbers") or {}
    number = {name: "linear"} if column.lined and column.kind == "number" else {}
    with suppress(InputError):
        how_here = {**how, "missing": "drop", "numbers": {**lines, **number}}
        read = read_tables([table], [*train.space.names, name], once=True, **how_here)[0]
        if read.target is None or not same_levels(read, train):
            return None
        use = read.target.count > 0
        codes, told = read.codes[use].astype(np.int64), read.target.of(use)
        cells, value = codes[:, :-1], codes[:, -1]
        if column.lined:
            order = ordered(name, column.kind, read.space[name].levels or ())
            return taken_off(train, known, cells, over_ranks(order[value]), told)
        anew = numbered_anew(cells, value, known.rows.floats(cells), told)
        return taken_off(train, known, cells, shifts(cells, value, anew), told)
    return None


def same_levels(read: Table, train: Table, more: int = 1) -> bool:
    """Whether the factors of both have the same levels: a test table may have more."""
    return [f.levels for f in read.space.factors[:-more]] == [f.levels for f in train.space.factors]


def shifts(cells: Ints, value: Ints, factor: int | None) -> Floats:
    """Directions of a shift of each value, within each level of a factor if one is given: there they add to zero."""
    inside = np.zeros(len(value), np.int64) if factor is None else cells[:, factor]
    _, label = np.unique(np.stack([inside, value]), axis=1, return_inverse=True)
    columns = np.eye(int(label.max()) + 1)[label.ravel()]
    for level in np.unique(inside):
        columns[inside == level] -= columns[inside == level].mean(axis=0)
    return np.asarray(columns)


def taken_off(train: Table, known: Identifiability, codes: Ints, columns: Floats, target: Target) -> Off | None:
    """The table with these directions (answers × columns) taken off; None where it is too much. Where they go with a
    factor it does not matter which of both is told to have acted: effects add up as much or as little."""
    there = train.support().contains(codes)
    codes, columns, target = codes[there], columns[there], target.of(there)
    effects = known.rows.rows(codes[:1]).shape[1]
    if len(codes) * (effects + columns.shape[1]) > LARGEST:
        return None
    x = known.rows.floats(codes)
    both, weight = np.hstack([x, columns]), np.sqrt(worth_in(np.hstack([x, columns]), target))
    beta = np.linalg.lstsq(both * weight[:, None], target.mean * weight, rcond=1e-9)[0]
    moved, fit = columns @ beta[effects:], both @ beta
    left = stretched(target.mean - fit, both, weight, codes, known.rank)
    y, rows = fit + left - (moved - np.average(moved, weights=weight**2)), target.count.astype(np.float64)
    cells, cell = np.unique(codes, axis=0, return_inverse=True)
    cell, own = cell.ravel(), rows if target.weights is None else target.weights
    counts, worth = np.bincount(cell, rows).astype(np.int64), np.bincount(cell, own).astype(np.float64)
    mean = np.bincount(cell, own * y) / worth
    spread: Floats = np.bincount(cell, target.spread + own * (y - mean[cell]) ** 2).astype(np.float64)
    weights = None if target.weights is None else worth
    told = replace(target, count=counts, mean=mean, spread=spread, ends=None, weights=weights)
    return Off(replace(train, codes=cells, counts=counts, target=told), _together(columns[:, 0], x @ beta[:effects]))


def _together(one: Floats, two: Floats) -> bool:
    """Whether these go together beyond chance."""
    if not np.ptp(one) or not np.ptp(two) or len(one) < 3:
        return False
    r = min(abs(float(np.corrcoef(one, two)[0, 1])), 1 - 1e-12)
    return bool(2 * stdtr(len(one) - 2, -r * np.sqrt((len(one) - 2) / (1 - r**2))) < CHANCE)


def stretched(left: Floats, both: Floats, root: Floats, codes: Ints, rank: int) -> Floats:
    """What a fit leaves, as far as it would be off if the shifts were known: means of combinations, and rows around
    them, each by its own freedom. ``root``: of what the rows are worth."""
    cells = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    worth, basis = np.bincount(cells, root**2), orth(both * root[:, None])
    sums = np.zeros((len(worth), basis.shape[1]))
    np.add.at(sums, cells, root[:, None] * basis)
    between = len(worth) - float((sums**2 / worth[:, None]).sum())
    within = len(left) - basis.shape[1] - between
    mean = (np.bincount(cells, root**2 * left) / worth)[cells]
    return _times(len(worth) - rank, between) * mean + _times(len(left) - len(worth), within) * (left - mean)


def _times(there: float, kept: float) -> float:
    """Once where nothing is kept: there is nothing to stretch."""
    return float(np.sqrt(there / kept)) if kept > NONE_KEPT else 1.0
