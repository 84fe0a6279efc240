"""A column that nobody named and that explains what the factors leave: a day, an operator, a plate.

    F = (Σ over directions of the column that x leaves of their squares / their number) / (the rest / its freedom)

for each column whose values recur, on normal scores of what least squares leaves, which no single large error moves.
Of a column only what the factors do not tell counts, and all of it must be told apart from them: sin² of its principal
angles with x is at least `SEPARATE`. The smallest p-value is multiplied by the columns tried.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.special import fdtrc, ndtri

from recombine.checks.bystanders import MOST_COLUMNS
from recombine.checks.curves import curves_of
from recombine.checks.effects import EXACT
from recombine.checks.expected import per_cent
from recombine.checks.identifiability import Identifiability
from recombine.checks.modular import Floats, Ints
from recombine.checks.rules import LEAST_FREEDOM, Scale
from recombine.space import FactorSpace, quoted
from recombine.support.scan import collect, scan
from recombine.support.table import read_tables

MOST_ROWS, MOST_LEVELS, LARGEST = 20_000, 200, 1_000_000
"""Rows, levels of a column, and rows × effects, up to which it is tried: it takes longer than all else in `check`."""
BY_CHANCE, MUCH = 0.03, 0.1
"""p-value, all columns counted, and the share of what is left from which one is named. (At 0.05 up to 6.8 % of planted
tables where nothing acts had a column named, as the test is not exact.)"""
SEPARATE = 0.1


def unnamed(
    table: Any, factors: Sequence[str], blocks: Sequence[str], order: int, scale: Scale | None, alone: bool, **how: Any
) -> list[str]:
    """A sentence on the column that explains most of what the factors leave, where that is no chance; ``alone``: of
    what is left of each combination by itself, where effects do not add up. ``how`` is what `read_tables` takes."""
    split = how.get("split")
    used = {*factors, *blocks, how["target"], *(split[:1] if split else ())}
    others = _recurring(table, used, how.get("max_bytes"))
    if not others or how["target"] is None:
        return []
    read = read_tables([table], [*factors, *blocks, *others], once=True, **{**how, "missing": "drop"})[0]
    target, held = read.target, len(factors)
    if target is None or not target.numeric:
        return []
    told = target.count > 0
    codes, count, y = read.codes[told].astype(np.int64), target.count[told], target.mean[told]
    space = FactorSpace(read.space.factors[:held])
    cells, at = np.unique(codes[:, :held], axis=0, return_inverse=True)
    known = Identifiability(cells, space.shape, order, curves_of(space, codes, how.get("numbers") or {}))
    effects = len(cells) if alone else known.rows.rows(cells[:1]).shape[1]
    shifts = [np.eye(len(f))[codes[:, held + k]] for k, f in enumerate(read.space.factors[held : held + len(blocks)])]
    if len(codes) * (effects + sum(s.shape[1] for s in shifts)) > LARGEST:
        return []
    x = np.hstack([(np.eye(len(cells)) if alone else known.rows.floats(cells))[at.ravel()], *shifts])
    y = y if scale is None else scale.forth(y)
    found = explaining(x, y, count, float(target.spread.sum()), codes[:, -len(others) :])
    if found is None:
        return []
    which, share, p_value, tried = found
    name, beside = others[which], f", corrected for the {tried} columns looked at" if tried > 1 else ""
    chance = f"p = {p_value:.1g}" if p_value >= 1e-4 else "p below 0.0001"
    return [
        f"column {quoted(name)}, which is not named, explains {per_cent(share)} of the scatter that the factors leave "
        f"({chance}{beside}): if it was there before the answers, as a day or an operator is, name it with --block "
        f"{shlex.quote(name)} (blocks={name!r}), and its shifts are taken off; or as a factor if its levels can be had "
        "again, and combinations with them are asked about and planned."
    ]


def _recurring(table: Any, used: Collection[str | None], max_bytes: int | None) -> list[str]:
    """The columns besides those used that have no gaps and whose values recur, twice on average."""
    frame = scan(table, max_bytes=max_bytes)
    kinds = frame.collect_schema()
    names = [n for n, kind in kinds.items() if n not in used and not kind.is_nested() and kind != pl.Object]
    rows = collect(frame.select(names[:MOST_COLUMNS])) if names else pl.DataFrame()
    levels = {n: rows[n].n_unique() for n in rows.columns if not rows[n].null_count()}
    return [n for n, many in levels.items() if 2 <= many <= min(len(rows) // 2, MOST_LEVELS)]


def explaining(x: Floats, y: Floats, count: Ints, within: float, columns: Ints) -> tuple[int, float, float, int] | None:
    """Which of the columns explains most of what x leaves of the answers, each the mean of ``count`` rows that differ
    by ``within`` in all; the share, the p-value and how many were tried. None where it may be chance, or is little."""
    root = np.sqrt(count)
    u, sizes, _ = np.linalg.svd(x * root[:, None], full_matrices=False)
    q = u[:, sizes > 1e-9 * sizes[0]]
    left = y * root - q @ (q.T @ (y * root))
    if float(left @ left) <= EXACT * float(np.square((y - np.average(y, weights=count)) * root).sum()):
        return None
    _, at, many = np.unique(left, return_inverse=True, return_counts=True)
    scores = ndtri((np.cumsum(many) - many / 2)[at] / len(left))
    scores -= q @ (q.T @ scores)
    whole, rows, tried = float(left @ left) + within, int(count.sum()) - q.shape[1], []
    for place, column in enumerate(columns.T):
        values, level = np.unique(column, return_inverse=True)
        more = len(values) - 1
        free = len(left) - q.shape[1] - more
        size = np.sqrt(np.bincount(level, count))
        into = coo_array((root / size[level], (level, np.arange(len(left))))).tocsr()
        apart, axes = np.linalg.eigh(np.eye(more + 1) - (into @ q) @ (into @ q).T)
        if not more or free < LEAST_FREEDOM or apart[1] < SEPARATE:
            continue
        own, scored = (float(((axes[:, 1:].T @ (into @ e)) ** 2 / apart[1:]).sum()) for e in (left, scores))
        rest = max(float(scores @ scores) - scored, 1e-300)
        p_value = float(fdtrc(more, free, scored / more * free / rest))
        tried.append((p_value, place, 1 - (whole - own) / (rows - more) / (whole / rows)))
    if not tried:
        return None
    p_value, place, share = min(tried)
    found = (place, share, p_value * len(tried), len(tried))
    return found if found[2] < BY_CHANCE and share >= MUCH else None
