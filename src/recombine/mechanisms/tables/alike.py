"""Rows of which column, that nobody named, are alike beyond their combination?

A column each of whose values lies in one combination is looked at, by a one-way analysis of variance inside
combinations,

    F = (Σ n_g m_g² / (groups − combinations)) / (what is left / (rows − groups)),

with m_g the means of groups less that of their combination, of normal scores or of classes as 0 and 1. Numbers are
looked at as they are and, where predictions tell rows of one combination apart, as what these leave of them: growth
that all patients share hides that each of them has a level of its own, and the learner takes the growth off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as selectors
from numpy.typing import NDArray
from scipy.special import fdtrc, ndtri

from recombine.mechanisms.answers.finding import LEVEL
from recombine.mechanisms.answers.names import brief, share
from recombine.mechanisms.tables.besides import MOST_COLUMNS, MOST_ROWS
from recombine.mechanisms.tables.reading import Reading
from recombine.statistics import FloatArray
from recombine.support.pasted import single
from recombine.support.scan import collect, scan
from recombine.support.table import TARGET_CLASSES

MUCH = 0.2
"""The share of what answers vary by inside combinations that has to lie between groups (their intraclass correlation)
before it is said."""
LESS = 0.9
"""What predictions leave of that is looked at where it is below this share of it."""
HALF = 0.5
DEALS = 299
"""Times that answers are dealt anew inside combinations, in none of which groups may be as far apart: rare events are
far from normal."""
ANSWERS, LEFT = "what answers differ by there", "what predictions leave of their answers there"


@dataclass(frozen=True, eq=False)
class Looked:
    """What may be alike."""

    what: str
    rows: pl.DataFrame
    cell: NDArray[np.int64]
    """The combination of each row, …"""
    values: FloatArray
    """… and normal scores of what it is off that, or its class."""
    apart: tuple[str, ...] = ()
    """A column whose values are taken for combinations of their own."""
    of: tuple[FloatArray, FloatArray] | None = None
    """Answers, and what is left of them."""


def groups_unnamed(table: Any, how: Reading, group: str | None) -> tuple[str, ...]:
    """Two sentences, short and long, on the column, not named as the group or as anything else, whose rows are most
    alike inside combinations, where that is no chance."""
    frame = scan(table, "the table", how.max_bytes, how.max_rows)
    used = {group, *how.factors, how.target, *(c for cs in how.predictions for c in cs), *(how.split or ())[:1]}
    kinds = frame.collect_schema()
    names = [n for n, kind in kinds.items() if n not in used and (kind.is_integer() or kind == pl.String)]
    names = names[:MOST_COLUMNS]
    if not names or how.bins or int(collect(frame.select(pl.len()))[0, 0]) > MOST_ROWS:
        return ()
    (own, *further), split = how.predictions[0], (how.split or ())[:1]
    rows = collect(frame.select(list(dict.fromkeys([*how.factors, how.target, own, *split, *names]))))
    rows = rows.drop_nulls([*how.factors, how.target])
    if not len(rows):
        return ()
    cell = _dense(rows, how.factors)
    nested = [n for n in names if not rows[n].null_count() and _nested(_dense(rows, [n]), cell)]
    answers = _scores(rows[how.target].cast(pl.String).str.strip_chars(), cell)
    looked = [] if answers is None else [Looked(ANSWERS, rows, cell, answers)]
    looked += _left(rows, how, own, split) if nested and not further else []
    level, found = LEVEL / len(names) / max(1, len(looked)), dict[tuple[str, str], float]()
    for at in looked:
        for name in nested:
            value = _dense(at.rows, [name, *at.apart])
            if at.of is None or _in_answers(value, at.cell, *at.of):
                found[name, at.what] = _alike(value, at.cell, at.values, level)
    (name, what), much = max(found.items(), key=lambda item: item[1], default=(("", ""), 0.0))
    if much < MUCH:
        return ()
    option = single("group", brief(name))
    return (
        f"Rows of one {brief(name)!r} are alike and are taken for repeats, so that there is more noise than it seems: "
        f"judge again with {option}.",
        f"Rows of one {brief(name)!r} are alike beyond their combination ({share(much)} of {what} lies "
        "between them), so that they are no repeats of each other and tell too little noise: "
        f"{option} (group={brief(name)!r}) counts them as one.",
    )


def _dense(rows: pl.DataFrame, names: Sequence[str]) -> NDArray[np.int64]:
    """The place of each row's values among those of the columns, from 0 on."""
    values = rows.select(pl.struct(pl.col(list(names)).cast(pl.String)).rank("dense") - 1)
    return values.to_series().to_numpy().astype(np.int64)


def _left(rows: pl.DataFrame, how: Reading, own: str, split: tuple[str, ...]) -> list[Looked]:
    """What predictions leave of numbers, where that is less than they found. Training rows are combinations of their
    own: who knows them by heart leaves nothing there."""
    rows = rows.with_columns(selectors.float().fill_nan(None)).drop_nulls(own)
    y, p = (
        rows[name].cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
        for name in (how.target, own)
    )
    if not len(rows) or not np.isfinite(y).all() or not np.isfinite(p).all():
        return []
    cell = _dense(rows, [*how.factors, *split])
    whole, left = (float(np.square(_less_mean(cell, v[:, None])).sum()) for v in (y, y - p))
    return [Looked(LEFT, rows, cell, _normal(y - p, cell), split, (y, y - p))] if left < LESS * whole else []


def _scores(answers: pl.Series, cell: NDArray[Any]) -> FloatArray | None:
    """Normal scores of what numbers are off their combination, or classes as 0 and 1."""
    y = answers.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    if not len(y):
        return None
    if not np.isfinite(y).all():
        codes = answers.rank("dense").to_numpy() - 1
        return np.eye(codes.max() + 1)[codes] if codes.max() < TARGET_CLASSES else None
    return _normal(y, cell)


def _normal(y: FloatArray, cell: NDArray[Any]) -> FloatArray:
    off = _less_mean(cell, y[:, None])[:, 0]
    _, at, many = np.unique(off.round(12), return_inverse=True, return_counts=True)
    return np.asarray(ndtri((np.cumsum(many) - many / 2)[at] / len(y)))[:, None]


def _nested(value: NDArray[Any], cell: NDArray[Any]) -> bool:
    """Whether each value lies in one combination."""
    return len(np.unique(value * (int(cell.max()) + 1) + cell)) == int(value.max()) + 1


def _in_answers(value: NDArray[Any], cell: NDArray[Any], answers: FloatArray, left: FloatArray) -> bool:
    """Whether half or more of what means of groups differ by, in what is ``left``, is in their answers as well: else it
    is the learner that errs alike in rows of one group, and not these that are alike."""
    off = _less_mean(cell, np.column_stack([answers, left]))
    means = np.column_stack([np.bincount(value, v) for v in off.T]) / np.sqrt(np.bincount(value))[:, None]
    return bool(means[:, 0] @ means[:, 1] >= HALF * (means[:, 1] @ means[:, 1]))


def _alike(value: NDArray[Any], cell: NDArray[Any], answers: FloatArray, level: float) -> float:
    """The intraclass correlation inside combinations; 0 where it may be chance."""
    groups, cells, rows = int(value.max()) + 1, len(np.unique(cell)), len(value)
    off, many, apart, free = _less_mean(cell, answers), np.bincount(value), groups - cells, rows - groups

    def between(off: FloatArray) -> float:
        return float(sum((np.bincount(value, v) ** 2 / many).sum() for v in off.T))

    found, kinds = between(off), max(1, answers.shape[1] - 1)
    if apart < 1 or free < groups or found <= 0:  # Few rows share a value: it may as well be a measured number.
        return 0.0
    one, two = found / apart, max(float(np.square(off).sum()) - found, 1e-12 * found) / free
    if fdtrc(kinds * apart, kinds * free, one / two) > level:
        return 0.0
    rng, order, dealt = np.random.default_rng(0), np.argsort(cell, kind="stable"), np.empty_like(off)
    for _ in range(DEALS):
        dealt[order] = off[np.lexsort((rng.random(rows), cell))]
        if between(dealt) >= found * (1 - 1e-9):
            return 0.0
    first = np.unique(value, return_index=True)[1]
    size = (rows - float((many**2 / np.bincount(cell)[cell[first]]).sum())) / apart
    return max(0.0, (one - two) / (one + (size - 1) * two))


def _less_mean(cell: NDArray[Any], values: FloatArray) -> FloatArray:
    return np.column_stack([v - (np.bincount(cell, v) / np.bincount(cell))[cell] for v in values.T])
