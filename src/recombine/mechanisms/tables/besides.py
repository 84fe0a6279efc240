"""What columns besides the factors add to a learner's answers, taken off these and off the right ones alike.

Who reads an age answers rows of one combination differently, and its mean answers to combinations move with the ages
that happen to be there, so that no rule of the factors is seen in them. What it makes of the columns is told within
combinations, where the factors are the same:

    p − p̄ = Σ_k g_k(x_k) − its mean + rest,

g_k a line that bends at each tenth of the values, or a number for each text; another one at unseen combinations, where
that fits clearly better: a column may be read rightly of what was trained on alone. Σ_k g_k is taken off p. Off y is
taken what the same columns add to y, so that what is left of the error is no misreading of these columns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import fdtrc

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.finding import FEWEST, LEVEL, Finding
from recombine.mechanisms.answers.names import brief
from recombine.statistics import FloatArray, Over

MOST_ROWS, MOST_COLUMNS = 20_000, 30
"""Rows up to which, and how many other columns, are looked at."""
PIECES = 10
MOST_VALUES = 20
"""Values of a text up to which it is looked at."""
MUCH = 0.02
"""Share of what answers differ by within combinations that a column has to explain, beyond those before it and
beyond chance (an F-test at .01, shared among all that are looked at)."""
LIKE_ANSWERS = 0.5
"""A column that goes with the answers across combinations by more, as another model's predictions do, says what the
factors say, and is not taken off."""
MISREAD = "misread"
SHARE = 0.2
"""Share of the error on unseen combinations that has to be misreading, at the lower end of the interval; and of the
misreading of the column that is misread most, before another is named."""
Read = tuple[str, bool]
"""A column, and whether it is what it adds at unseen combinations alone."""


def columns_taken_off(
    tables: Sequence[pl.DataFrame], factors: Sequence[str], target: str, prediction: str, used: Collection[str],
    unseen: NDArray[np.bool_],
) -> tuple[list[pl.DataFrame], dict[str, float], float]:  # fmt: skip
    """The tables without what other columns add, the names of these, each with how much more it is misread where unseen
    (in squares), and by how much all answers to unseen combinations may be off then: about which value a column is
    misread is known no better than its mean is (two standard errors).
    The first table has the predictions, and ``unseen`` of its rows are of unseen combinations; others may be
    there whose answers lose the same."""
    first, ends = tables[0], np.cumsum([len(t) for t in tables])
    others = [n for n in first.columns if n not in used and all(n in t.columns for t in tables)]
    y, p = np.concatenate([_number(t[target]) for t in tables]), _number(first[prediction])
    if not (np.isfinite(y).all() and np.isfinite(p).all()):
        return [*tables], {}, 0.0
    cell = first.select(pl.struct(pl.col(factors).cast(pl.String)).rank("dense") - 1).to_series().to_numpy()
    designs = {n: d - d.mean(axis=0) for n in others if (d := _design([t[n] for t in tables])) is not None
               and _alike(cell, d[: len(p), 0], y[: len(p)]) <= LIKE_ANSWERS}  # fmt: skip
    sided = {(n, side): d[: len(p)] * (unseen[:, None] if side else 1.0)
             for n, d in designs.items() for side in (False, True)}  # fmt: skip
    chosen, effects = _chosen(cell, sided, p)
    if not chosen:
        return [*tables], {}, 0.0
    names = list(dict.fromkeys(name for name, _ in chosen))
    x = np.hstack([designs[n] for n in names])
    right, _ = _fitted(_within(cell, x[: len(p)]), _within(cell, y[: len(p), None])[:, 0])
    reads = _adds([sided[c] for c in chosen], effects)
    adds = _adds([designs[n] for n in names], right)
    read, due = np.sum(reads, axis=0), np.sum(adds, axis=0)
    off = {n: sum(r for r, c in zip(reads, chosen, strict=True) if c[0] == n) - own[: len(p)]
           for n, own in zip(names, adds, strict=True)}  # fmt: skip
    misread = {n: float(o[unseen].var() - o[~unseen].var()) if 0 < unseen.sum() < len(p) else 0.0
               for n, o in off.items()}  # fmt: skip
    first = first.with_columns(pl.Series(prediction, p - read))
    parts = np.split(due, ends[:-1])
    doubt = 2 * float((read - due[: len(p)])[unseen].std()) / len(p) ** 0.5 if unseen.any() else 0.0
    return (
        [
            t.with_columns(pl.Series(target, _number(t[target]) - off))
            for t, off in zip([first, *tables[1:]], parts, strict=True)
        ],
        misread,
        doubt,
    )


def misread(answers: Answers, over: Over) -> list[Finding]:
    """How much of the error on unseen combinations goes where the columns besides the factors add to its answers what
    they add to the right ones, beyond what goes of it on seen ones: who reads them nowhere does not misread them."""
    bare, at, away = answers.bare, np.flatnonzero(answers.compared), np.flatnonzero(answers.unseen)
    if bare is None or min(len(at), len(away)) < FEWEST:
        return []
    whole, left = answers.error * answers.scale, bare.error * bare.scale

    def gone(seen: NDArray[np.int64], unseen: NDArray[np.int64]) -> FloatArray:
        more = (whole - left)[:, away[unseen]].mean(axis=1) - (whole - left)[:, at[seen]].mean(axis=1)
        return np.asarray(more / np.maximum(whole[:, away[unseen]].mean(axis=1), 1e-300))

    most = SHARE * max(answers.besides.values())
    which = [brief(name) for name, by in answers.besides.items() if by >= most] or [*map(brief, answers.besides)]
    value, names = over(gone, [len(at), len(away)]), " and ".join(which)
    add = "adds to answers what it adds" if len(which) == 1 else "add to answers what they add"
    what = f"share of the error on unseen combinations that goes if {names} {add} to right ones"
    limit = "Told inside combinations: what a column shifts all answers by is no part of it."
    return [Finding(MISREAD, f"misread {names}", what, value, speaks=value.low >= SHARE, limit=limit)]


def misread_words(found: Sequence[Finding]) -> str:
    """That a column is misread where the verdict names no mechanism, in a sentence: rows of one value may be wrong that
    are too few to make a gap."""
    own = next((e for e in found if e.id == MISREAD and e.speaks and not e.named), None)
    return "" if own is None else f"A column is misread on unseen combinations: {own.numbers()}."


def _chosen(cell: Any, designs: Mapping[Read, FloatArray], p: FloatArray) -> tuple[list[Read], FloatArray]:
    """The columns that answers clearly go with inside combinations, the first the most, and their effects."""
    own, chosen = _within(cell, p[:, None])[:, 0], list[Read]()
    inside = {n: _within(cell, d) for n, d in designs.items()}
    left, effects = own, np.zeros(0)
    while len(chosen) < len(inside):
        tried = {n: _fitted(np.hstack([inside[c] for c in [*chosen, n]]), own) for n in inside if n not in chosen}
        best = min(tried, key=lambda n: float(np.square(tried[n][1]).sum()))
        gain, rest = float(np.square(left).sum()), float(np.square(tried[best][1]).sum())
        gain, more = gain - rest, inside[best].shape[1]
        free = len(own) - int(cell.max()) - 1 - len(tried[best][0])
        if free < 1 or gain <= MUCH * float(np.square(own).sum()):
            break
        if len(tried) * fdtrc(more, free, gain / more / max(rest / free, 1e-300)) > LEVEL:
            break
        chosen, (effects, left) = [*chosen, best], tried[best]
    return chosen, effects


def _adds(designs: Sequence[FloatArray], effects: FloatArray) -> list[FloatArray]:
    """What each design adds with its own of the effects."""
    ends = np.cumsum([d.shape[1] for d in designs])[:-1]
    return [d @ own for d, own in zip(designs, np.split(effects, ends), strict=True)]


def _number(column: pl.Series) -> FloatArray:
    """As numbers; what is none is not a number."""
    return column.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False).to_numpy()


def _design(parts: Sequence[pl.Series]) -> FloatArray | None:
    """A column as pieces of a line, or one number for each text; none where it has gaps, or texts that hardly recur."""
    if any(part.dtype.is_nested() or part.dtype in (pl.Object, pl.Binary) or part.null_count() for part in parts):
        return None
    texts = pl.concat([part.cast(pl.String) for part in parts])
    values = _number(texts)
    if np.isfinite(values).all():
        values = (values - values.min()) / (np.ptp(values) or 1.0)
        bends = np.unique(np.quantile(values, np.arange(PIECES) / PIECES))
        return np.asarray(np.maximum(values[:, None] - bends, 0.0))
    codes = texts.rank("dense").to_numpy() - 1
    return np.eye(codes.max() + 1)[codes] if codes.max() < MOST_VALUES else None


def _alike(cell: Any, x: FloatArray, y: FloatArray) -> float:
    """The share of what mean answers to combinations vary by that goes with the means of a column."""
    one, two = (np.bincount(cell, v) / np.bincount(cell) for v in (x, y))
    one, two = one - one.mean(), two - two.mean()
    return float((one @ two) ** 2 / max(float((one @ one) * (two @ two)), 1e-300))


def _within(cell: Any, values: FloatArray) -> FloatArray:
    """The values less their mean over the rows of their combination."""
    count = np.bincount(cell)
    return np.column_stack([v - (np.bincount(cell, v) / count)[cell] for v in values.T])


def _fitted(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Effects by least squares, and what they leave."""
    effects = np.linalg.pinv(x.T @ x, rcond=1e-9, hermitian=True) @ (x.T @ y)
    return effects, y - x @ effects
