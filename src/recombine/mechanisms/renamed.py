"""Are classes right but for their names: two of them swapped, or all numbered in another order?

Of all ways to give each class one name, the one that most rows of seen combinations agree with is tried on combinations
it was chosen without. It is said where it takes most of the error off there, at more combinations than it puts wrong
(a sign test), and what it leaves knows something.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from recombine.mechanisms.answers import Answers
from recombine.mechanisms.finding import LEVEL
from recombine.mechanisms.losing import HALF, QUARTER
from recombine.mechanisms.names import NOTHING, brief, share
from recombine.statistics import FloatArray

FOLDS = 20
NAMED = 3
"""Classes that are named in a sentence."""
ADVICE = "check in which order classes were numbered, or of which class probabilities are"


def renamed(answers: Answers, fitted: float) -> str:
    """Which names classes are given, in sentences without a full stop; nothing where they are right as they are.

    How often a class gets a name is exact where a combination has one answer, or one prediction; else its rows are
    taken to be answered apart from what they are."""
    at, away, due = answers.compared, answers.unseen, answers.target
    said = answers.predicted.mean(axis=0)
    rows, kept = np.flatnonzero(at), (due * said).sum(axis=1)
    before, best = kept[rows], due[rows].max(axis=1)
    given = max(0.0, float((best - before).mean()))
    if not given > fitted:
        return ""
    whole, right = due[rows].T @ said[rows], np.zeros(len(rows))
    fold = np.random.default_rng(0).permutation(len(rows)) % FOLDS
    for k in np.unique(fold):
        own = rows[fold == k]
        right[fold == k] = (due[own] * said[own][:, _names(whole - due[own].T @ said[own])]).sum(axis=1)
    left = max(0.0, float((best - right).mean()))
    knows = left <= HALF * float(best.mean() - due[rows].mean(axis=0).max())
    more, less = int((right > before + NOTHING).sum()), int((right < before - NOTHING).sum())
    by_chance = bdtrc(more - 1, more + less, 0.5) if more else 1.0
    name, classes = _names(whole), answers.classes or ()
    moved = [k for k in np.flatnonzero(name != np.arange(len(name))) if whole[k, name[k]] > HALF * whole[k].sum()]
    if not (moved and left <= QUARTER * given and knows and by_chance <= LEVEL):
        return ""
    words = [f"{brief(classes[k], 20)} is called {brief(classes[name[k]], 20)}" for k in moved[:NAMED]]
    text = ", ".join(words) + f" and {len(moved) - NAMED:,} more so" * (len(moved) > NAMED)
    falls = f"from {share(1 - float(before.mean()))} to {share(1 - float(right.mean()))} on seen combinations"
    if away.any():
        now, then = (1 - float(hits[away].mean()) for hits in (kept, (due * said[:, name]).sum(axis=1)))
        falls += f" and from {share(now)} to {share(then)} on unseen ones"
    return (
        f"Predictions seem to give classes other names: {text}. Named back, the error would fall {falls}: {ADVICE}, "
        "and measure again"
    )


def _names(both: FloatArray) -> NDArray[np.int64]:
    """For each class the one that it is called by, each used once; its own where nothing else is better."""
    from scipy.optimize import linear_sum_assignment

    own = 1e-9 * max(float(both.max()), 1e-300) * np.eye(len(both))
    return np.asarray(linear_sum_assignment(both + own, maximize=True)[1])
