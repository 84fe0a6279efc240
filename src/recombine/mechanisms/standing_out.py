"""Which unseen combinations are clearly wrong where others are not? A mean over many hides one that is wholly wrong.

Each is tested against the others, at a level of .05 shared among all that are looked at, and has to be wrong by itself:
another answer would be better there than the one given.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, stdtrit

from recombine.mechanisms.answers import Answers
from recombine.mechanisms.comparing import Comparison
from recombine.mechanisms.losing import HALF, QUARTER
from recombine.mechanisms.names import brief, share
from recombine.statistics import FEW, FloatArray

LEVEL = 0.05
MOST = 0.2
"""Share of the combinations that can stand out from the others, of numbers."""
OWN_NOISE = 3.0
"""Standard errors of its own rows that a mean answer has to be off by."""
MANY = 10
"""Rows of its own, beyond the first, from which a combination's own standard error is trusted."""
NAMED = 3
"""Combinations that are named in a sentence."""


def standing_out(answers: Answers, comparison: Comparison) -> NDArray[np.int64]:
    """The unseen combinations that stand out, the worst first."""
    rows = np.flatnonzero(answers.unseen)
    if len(rows) < FEW or not np.isfinite(answers.error).all() or answers.classes == ("",):
        return rows[:0]
    found = _numbers(answers, comparison, rows) if answers.classes is None else _classes(answers, rows)
    return rows[found][np.argsort(-answers.error[:, rows[found]].mean(axis=0), kind="stable")]


def words(answers: Answers, rows: NDArray[np.int64], alone: bool) -> str:
    """Which they are, in a clause; ``alone``: whether the others are right."""
    error = answers.error.mean(axis=0)
    records = answers.space.decode(answers.codes[rows[:NAMED]])
    levels = [", ".join(f"{brief(k, 20)} = {brief(v, 20)}" for k, v in record.items()) for record in records]
    named = [f"{what} (error {share(float(error[row]))})" for row, what in zip(rows, levels, strict=False)]
    more = f"; and {len(rows) - NAMED:,} more" * (len(rows) > NAMED)
    count = f"{len(rows):,} of {int(answers.unseen.sum()):,} unseen combinations"
    wrong = f"{'is' if len(rows) == 1 else 'are'} clearly wrong where the others are not"
    what = wrong if alone else f"stand{'s' * (len(rows) == 1)} out as the worst of all"
    return f"{count} {what}{_shared(answers, rows)}: {'; '.join(named)}{more}"


def _shared(answers: Answers, rows: NDArray[np.int64]) -> str:
    """The level that all of them have, and most unseen combinations of it are among them, if there is one."""
    for factor, own, every in zip(answers.space.factors, answers.codes[rows].T, answers.codes.T, strict=True):
        of = int((answers.unseen & (every == own[0])).sum())
        if factor.levels and len(rows) > 1 and (own == own[0]).all() and 2 * len(rows) > of:
            level = f"{brief(factor.name, 20)} = {brief(factor.levels[int(own[0])], 20)}"
            return f", all with {level} ({len(rows):,} of its {of:,})"
    return ""


def _classes(answers: Answers, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """More wrong rows than the others' share of wrong ones gives by chance, and than right ones; and one class would be
    right more often."""
    n = answers.counts[rows].astype(np.float64)
    right = np.rint((1 - answers.error[:, rows].mean(axis=0)) * n)
    wrong = n - right
    at = answers.compared
    known = float(np.average(answers.error.mean(axis=0)[at], weights=answers.counts[at])) if answers.like else 0.0
    others = np.maximum((wrong.sum() - wrong + 1) / (n.sum() - n + 2), known)  # None wrong of few is not never wrong.
    usual = np.rint(answers.target[rows].max(axis=1) * n)
    more = _at_least(wrong, n, others) <= LEVEL / len(rows)
    better = _at_least(usual, usual + right, np.full(len(n), 0.5)) <= LEVEL
    return np.asarray(more & (wrong > right) & better)


def _at_least(count: FloatArray, of: FloatArray, chance: FloatArray) -> FloatArray:
    """The chance of so many or more."""
    return np.where(count > 0, betainc(np.maximum(count, 1), np.maximum(of - count, 0) + 1, chance), 1.0)


def _numbers(answers: Answers, comparison: Comparison, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mean answers so far off that the others do not give them (Rosner's test for several outliers), nor seen ones,
    nor the noise of its own rows; and that cost half as much as always giving the same answer, or more: a quarter,
    where many rows of its own leave no doubt."""
    found = np.zeros(len(rows), dtype=bool)
    if answers.target.shape[1] > 1 or comparison.constant is None:
        return found
    off = (answers.predicted.mean(axis=0) - answers.target)[:, 0]
    own, left = off[rows], np.ones(len(rows), dtype=bool)
    suspects: list[int] = []
    last = 0
    for i in range(1, max(1, int(MOST * len(rows))) + 1):
        m = int(left.sum())
        apart, spread = np.where(left, np.abs(own - own[left].mean()), -1.0), float(own[left].std(ddof=1))
        suspects.append(int(apart.argmax()))
        t = float(stdtrit(m - 2, 1 - LEVEL / (2 * m)))
        if apart.max() > spread * (m - 1) * t / np.sqrt((m - 2 + t**2) * m):
            last = i
        left[suspects[-1]] = False
    found[suspects[:last]] = True
    inside = np.zeros(len(rows)) if answers.within is None else answers.scale * answers.within[rows]
    free = np.maximum(answers.counts[rows] - 1, 1)
    doubt = np.sqrt(inside / free)
    far = (np.abs(own) > OWN_NOISE * doubt) & (np.abs(own) > np.abs(off[answers.compared]).max(initial=0.0))
    certain = (free >= MANY) & (np.abs(own) > stdtrit(free, 1 - LEVEL / (2 * len(rows))) * doubt)
    least = np.where(certain, QUARTER, HALF) * comparison.constant.error.mean
    return np.asarray(found & far & (np.square(own) / answers.scale > least))
