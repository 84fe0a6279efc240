"""Repeats that share a run, a day or a plate with those of other combinations: their scatter is no noise of a mean.

Where every combination was run in each of them, shifts of runs cancel in its mean and scatter its rows. Two things show
it. Means of combinations lie closer to sums of effects than the scatter of rows allows, F of lack of fit at its lower
end:

    F = (left by sums / its freedom) / v,   v = Σ P_ii v_i / Σ P_ii

with v_i the noise of all rows alike, and again that of each combination's own rows (as in `unequal`; the larger p). And
the k-th rows of combinations, in the order of the table, differ from each other, in all or within the levels of a
factor, or rows drift along that order, by a line and a bend: F of these shifts, or of the drift, beside combinations,
of normal scores, which has to stand when rows of each combination are dealt anew. Of a table whose answers rise (or
fall) in every combination, places of rows must tell more than sorting makes them tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.linalg import orth
from scipy.special import fdtr, fdtrc, ndtri

from recombine.checks.columns.taken_off import Off, same_levels, shifts, taken_off
from recombine.checks.columns.unnamed import over_ranks
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.effects import EXACT, LEAST_FREEDOM
from recombine.support.rows import ROW, told_rows
from recombine.support.table import Table, Target, read_tables

CHANCE = 0.01
"""p-value below which repeats are taken to share something, of either sign of it."""
LARGEST = 3_000_000
"""Combinations × effects, and rows × shifts, up to which it is looked for."""
MOST_REPEATS = 50
"""Rows of a combination up to which their order is tried."""
DEALS, MOST_DEALT = 399, 1_000_000_000
"""Times that rows are dealt anew, and rows × shifts × times up to which they are."""
SORTED = 399
"""Sorted tables drawn, none of which may look as much like runs."""
ORDER = " repeat"
"""The column of the places of rows within their combination."""
SPREAD = 0.1
"""Share of the order of the table that lies within combinations from which a drift along it can be told there."""


def too_near(known: Identifiability, target: Target) -> tuple[float, float] | None:
    """F of lack of fit and its p-value at the lower end; None where repeats or sums leave nothing to tell it by."""
    use = target.count > 0
    codes, mean, spread, count = known.codes[use], target.mean[use], target.spread[use], target.count[use]
    free, spare = int(use.sum()) - known.rank, int((count - 1).sum())
    if not target.numeric or free < LEAST_FREEDOM or spare < LEAST_FREEDOM or len(codes) * known.rank > LARGEST:
        return None
    root = np.sqrt(count)
    basis = orth(known.rows.floats(codes) * root[:, None])
    left = root * mean - basis @ (basis.T @ (root * mean))
    between, pooled = float(left @ left), float(spread.sum()) / spare
    if pooled <= 0 or between <= EXACT * float(np.square(root * (mean - np.average(mean, weights=count))).sum()):
        return None
    own, told = 1 - (basis**2).sum(axis=1), count > 1
    v, freedom = np.where(told, spread / np.maximum(count - 1, 1), pooled), np.where(told, count - 1.0, spare)
    parts, square = own * v, float((((basis * v[:, None]).T @ basis) ** 2).sum() + (v**2 * (1 - 2 * (1 - own))).sum())
    noise, guess = float(parts.sum()), float((parts**2 / (freedom + 2)).sum())
    effects = max((noise**2 - 2 * guess) / max(square - 2 * guess, 1e-300), 1.0)
    p = max(fdtr(free, spare, between / free / pooled), fdtr(effects, noise**2 / guess, between / noise))
    return between / free / pooled, float(p)


@dataclass(frozen=True, eq=False)
class Places:
    """Shifts of the k-th rows of combinations."""

    p_value: float
    """Times the ways that were tried."""
    shifts: Floats
    """Of the first, second … rows, in the mean of all combinations."""
    factor: str
    """The factor within whose levels they differ; none: they do in all alike."""
    drift: float | None
    """Of what rows of combinations differ by, the share that a line and a bend along the rows of the table explain,
    where these say it and not the places of rows."""
    without: Off | None
    """The training table with these shifts taken off; None where that is too much."""


def by_order(
    table: Any, train: Table, known: Identifiability, *, target: str, split: tuple[str, str] | None, **how: Any
) -> Places | None:
    """Whether the k-th rows of combinations, as the table lists them, share something, or rows drift; None where that
    is not seen, or the order cannot tell it. ``how`` is what `read_tables` takes."""
    names, lines = train.space.names, how.get("numbers") or {}
    frame = told_rows(table, target, split, how.get("max_bytes"))
    place_of = pl.int_range(pl.len()).over(_alike(frame, names, how.get("merge_alike"))).alias(ORDER)
    frame = frame.with_columns(place_of)
    read = read_tables([frame], [*names, ORDER, ROW], target=target, **how)[0]
    told = read.target
    if train.target is None or told is None or not told.numeric or not same_levels(read, train, 2):
        return None
    rows, most = int(told.count.sum()), len(read.space[ORDER])
    if rows != int(train.target.count.sum()) or not 1 < most <= MOST_REPEATS:  # copies, or too few rows of each
        return None
    use = told.count > 0
    codes, y = read.codes[use].astype(np.int64), told.mean[use]
    cells, place, row = codes[:, :-2], codes[:, -2], codes[:, -1]
    cell = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
    if len(np.unique(np.stack([cell, place]), axis=1).T) < len(y):
        return None
    factors = [k for k, name in enumerate(names) if name not in lines]
    tried: list[tuple[float | None, int | None, bool]] = [(differ(cell, _shifts(place), y), None, False)]
    tried += [(differ(cell, _shifts(place * len(train.space.factors[k]) + cells[:, k]), y), k, False) for k in factors]
    drift = over_ranks(row.astype(np.float64))
    if float(_centred(cell, drift[:, 0])[0].var()) >= SPREAD * float(drift[:, 0].var()):
        tried.append((differ(cell, drift, y), None, True))
    found = [(p, which, lined) for p, which, lined in tried if p is not None]
    p_value, factor, lined = min(found, key=lambda one: one[0], default=(1.0, None, False))
    if not found or p_value * len(found) >= CHANCE or _by_sorting(cell, place, y):
        return None
    means = np.bincount(place, _centred(cell, y)[0]) / np.bincount(place)
    without = taken_off(train, known, cells, drift if lined else shifts(cells, place, factor), told.of(use))
    share = explained(cell, drift, y) if lined else None
    return Places(p_value * len(found), means, "" if factor is None else names[factor], share, without)


def _shifts(label: Ints) -> Floats:
    """A column for each label."""
    _, label = np.unique(label, return_inverse=True)
    return np.eye(int(label.max()) + 1)[label] if len(label) * (int(label.max()) + 1) <= LARGEST else np.zeros((0, 0))


def explained(cell: Ints, columns: Floats, y: Floats) -> float:
    """Share of the variance within combinations that these columns explain there."""
    x, left = np.stack([_centred(cell, column)[0] for column in columns.T], axis=1), _centred(cell, y)[0]
    rest = left - x @ np.linalg.lstsq(x, left, rcond=1e-9)[0]
    free = float(len(y) - int(cell.max()) - 1)
    return float(1 - (rest @ rest) / (left @ left) * free / (free - x.shape[1]))


def _alike(frame: pl.LazyFrame, names: Sequence[str], merge_alike: bool | None) -> list[pl.Expr]:
    """What rows of one combination have in common."""
    kinds = frame.collect_schema()
    tidy = [n for n in names if merge_alike and kinds[n] == pl.String]
    return [pl.col(n).str.strip_chars().str.to_lowercase() if n in tidy else pl.col(n) for n in names]


def _centred(cell: Ints, values: Floats) -> tuple[Floats, Floats]:
    """Values less the mean of their combination, and these means."""
    mean = (np.bincount(cell, values) / np.bincount(cell))[cell]
    return np.asarray(values - mean), np.asarray(mean)


def differ(cell: Ints, columns: Floats, y: Floats) -> float | None:
    """p-value of these columns beside combinations; None where there are none, or rows leave too little to tell by."""
    if not columns.size:
        return None
    left = _centred(cell, y)[0]
    if float(left @ left) <= EXACT * float(np.square(y - y.mean()).sum()):
        return None
    _, at, many = np.unique(left, return_inverse=True, return_counts=True)
    scores = _centred(cell, ndtri((np.cumsum(many) - many / 2)[at] / len(left)))[0]
    within = np.stack([_centred(cell, column)[0] for column in columns.T], axis=1)
    sizes, axes = np.linalg.eigh(within.T @ within)  # of such columns, many alike, the SVD of LAPACK may not converge
    told = sizes > 1e-9 * max(float(sizes[-1]), 1e-9)
    into = within @ (axes[:, told] / np.sqrt(sizes[told]))
    size, free = into.shape[1], len(y) - int(cell.max()) - 1 - into.shape[1]
    if not size or free < LEAST_FREEDOM:
        return None
    gain = float(((into.T @ scores) ** 2).sum())
    p = float(fdtrc(size, free, gain / size * free / max(float(scores @ scores) - gain, 1e-300)))
    if p < CHANCE:
        rng, order = np.random.default_rng(0), np.argsort(cell, kind="stable")
        deals = min(DEALS, MOST_DEALT // into.size)
        often = 0
        for _ in range(deals):
            anew = np.empty(len(y))
            anew[order] = scores[np.lexsort((rng.random(len(y)), cell))]
            often += float(((into.T @ anew) ** 2).sum()) >= gain * (1 - 1e-9)
        p = max(p, (1 + often) / (1 + deals)) if often else p
    return p


def _by_sorting(cell: Ints, place: Ints, y: Floats) -> bool:
    """Whether a table sorted by its answers may look like this: these rise, or fall, in every combination, and their
    places tell no more of them than of evenly distributed ones that are sorted."""
    order = np.lexsort((place, cell))
    cell, place, y = cell[order], place[order], y[order]
    step = np.diff(y)[np.diff(cell) == 0]
    if not ((step >= 0).all() or (step <= 0).all()):
        return False
    rng, found = np.random.default_rng(0), _told_by_place(cell, place, y)
    drawn = (rng.random(len(y)) for _ in range(SORTED))
    return any(_told_by_place(cell, place, some[np.lexsort((some, cell))]) >= found for some in drawn)


def _told_by_place(cell: Ints, place: Ints, y: Floats) -> float:
    """Share of the squares around means of combinations that the mean of each place makes."""
    left = _centred(cell, y)[0]
    means = np.bincount(place, left) / np.maximum(np.bincount(place), 1)
    return float(np.bincount(place) @ means**2 / (left @ left))
