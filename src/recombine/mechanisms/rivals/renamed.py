"""Are classes right but for their names: two of them swapped, or all numbered in another order?

Of all ways to give each class one name, the one that most rows of seen combinations agree with is tried on combinations
it was chosen without. It is said where it takes most of the error off there, at more combinations than it puts wrong
(a sign test), and what it leaves knows something. Of classes that are whole numbers four ways come first, which nothing
has to be chosen for: one too low (counted from 0), one too high, from the other end, and both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, stdtr

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.finding import LEVEL
from recombine.mechanisms.answers.names import NOTHING, brief, share
from recombine.mechanisms.answers.probabilities import SMALLEST
from recombine.mechanisms.compared.losing import HALF, QUARTER
from recombine.statistics import FEW, FloatArray

FOLDS = 20
RANKED = 1_000
"""Seen combinations whose chances are ranked."""
NAMED = 3
"""Classes that are named in a sentence."""
LEAST_NUMBERED = 3
"""Classes from which on their numbers have an order that may be another."""
ADVICE = "check in which order classes were numbered, or of which class probabilities are"


def renamed(answers: Answers, fitted: float) -> str:
    """Which names classes are given, in sentences without a full stop; nothing where they are right as they are.

    How often a class gets a name is exact where a combination has one answer, or one prediction; else its rows are
    taken to be answered apart from what they are."""
    at, due = answers.compared, answers.target
    said = answers.predicted.mean(axis=0)
    rows, kept = np.flatnonzero(at), (due * said).sum(axis=1)
    before, best = kept[rows], due[rows].max(axis=1)
    given = max(0.0, float((best - before).mean()))
    if not given > fitted:
        return ""
    for how, name in _numbered(answers).items():
        right = _hits(due, said, name)
        if _better(due[rows], before, right[rows], given * HALF):
            return _words(f"Predictions seem to be {how}", answers, kept, right, right[rows])
    whole, right = due[rows].T @ said[rows], np.zeros(len(rows))
    fold = np.random.default_rng(0).permutation(len(rows)) % FOLDS
    for k in np.unique(fold):
        own = rows[fold == k]
        right[fold == k] = (due[own] * said[own][:, _names(whole - due[own].T @ said[own])]).sum(axis=1)
    name, classes = _names(whole), answers.classes or ()
    moved = [k for k in np.flatnonzero(name != np.arange(len(name))) if whole[k, name[k]] > HALF * whole[k].sum()]
    if not (moved and _better(due[rows], before, right, QUARTER * given)):
        return ""
    words = [f"{brief(classes[k], 20)} is called {brief(classes[name[k]], 20)}" for k in moved[:NAMED]]
    text = ", ".join(words) + f" and {len(moved) - NAMED:,} more so" * (len(moved) > NAMED)
    told = f"Predictions seem to give classes other names: {text}"
    return _words(told, answers, kept, _hits(due, said, name), right)


def _numbered(answers: Answers) -> dict[str, NDArray[np.int64]]:
    """Of three classes or more that are whole numbers, how they may be numbered otherwise: for each class the place of
    the one that it is called by, -1 where that is none."""
    names = answers.classes or ()
    if len(names) < LEAST_NUMBERED or not all(name.lstrip("-").isdecimal() for name in names):
        return {}
    values = np.array([int(name) for name in names])
    ends = int(values[answers.target.any(axis=0)].min() + values[answers.target.any(axis=0)].max())
    place = {int(value): i for i, value in enumerate(values)}
    ways = {
        "one too low (as where they are counted from 0)": values - 1,
        "one too high": values + 1,
        "numbered from the other end": ends - values,
        "numbered from the other end, and one too low": ends - 1 - values,
    }
    return {how: np.array([place.get(int(v), -1) for v in called]) for how, called in ways.items()}


def _hits(due: FloatArray, said: FloatArray, name: NDArray[np.int64]) -> FloatArray:
    """How often each combination is right, where a class goes by another name."""
    return np.asarray((due * np.where(name >= 0, said[:, name], 0.0)).sum(axis=1))


def _better(due: FloatArray, before: FloatArray, right: FloatArray, most: float) -> bool:
    """Whether other names leave no more than ``most`` of the error and half of what one class for all leaves, and are
    right at more combinations than they put wrong."""
    best = due.max(axis=1)
    left = max(0.0, float((best - right).mean()))
    more, less = int((right > before + NOTHING).sum()), int((right < before - NOTHING).sum())
    by_chance = bdtrc(more - 1, more + less, 0.5) if more else 1.0
    return left <= min(most, HALF * float(best.mean() - due.mean(axis=0).max())) and by_chance <= LEVEL


def _words(told: str, answers: Answers, kept: FloatArray, named: FloatArray, right: FloatArray) -> str:
    """What is told, and how the error would fall: on unseen combinations to that of ``named``, on seen ones to that of
    ``right``, which names were chosen without."""
    at, away = answers.compared, answers.unseen
    falls = f"from {share(1 - float(kept[at].mean()))} to {share(1 - float(right.mean()))} on seen combinations"
    if away.any():
        now, then = (1 - float(hits[away].mean()) for hits in (kept, named))
        falls += f" and from {share(now)} to {share(then)} on unseen ones"
    return f"{told}. Named back, the error would fall {falls}: {ADVICE}, and measure again"


def other_class(answers: Answers) -> str:
    """That probabilities of two classes are those of the other one, in sentences without a full stop: on rows of seen
    combinations the likelier ones have the class less often, as ranks of combinations rarely have it by chance
    (Spearman, at .005), and turned round they cost a quarter less, or more than that. Cut at one half they may all give
    one class, which hides it."""
    sure, loss, at = answers.scores.get("confidence"), answers.scores.get("log loss"), np.flatnonzero(answers.compared)
    if sure is None or loss is None or len(answers.classes or ()) != 2 or len(at) < FEW:
        return ""
    at = at[:RANKED]
    given, sure, due, n = answers.predicted.mean(axis=0)[at, 1], sure.mean(axis=0)[at], answers.target[at], len(at)
    p = np.clip(given * sure + (1 - given) * (1 - sure), SMALLEST, 1 - SMALLEST)
    above, more = (np.sign(v[:, None] - v[None]) / 2 + 0.5 for v in (p, due[:, 1]))
    has, lacks = (answers.counts[at] * due[:, k] for k in (1, 0))
    if not (np.isfinite(p).all() and np.ptp(p) and np.ptp(due[:, 1])):
        return ""
    area = float(has @ above @ lacks) / float(has.sum() * lacks.sum())
    r = float(np.corrcoef(above.sum(axis=1), more.sum(axis=1))[0, 1])
    by_chance = float(stdtr(n - 2, r * np.sqrt((n - 2) / max(1 - r * r, 1e-12))))
    now = float(loss.mean(axis=0)[at].mean())
    then = float(-(due[:, 1] * np.log(1 - p) + due[:, 0] * np.log(p)).mean())
    if not (by_chance <= LEVEL / 2 and area < 0.5 and then <= (1 - QUARTER) * now):
        return ""
    return (
        f"Probabilities go against the answers: of a row of each class the one that has it is given more in {area:.0%} "
        f"of pairs, on seen combinations (AUC {share(area)}). Of the other class they would have a log loss of "
        f"{share(then)} there instead of {share(now)}: check of which class they are, and measure again"
    )


def _names(both: FloatArray) -> NDArray[np.int64]:
    """For each class the one that it is called by, each used once; its own where nothing else is better."""
    from scipy.optimize import linear_sum_assignment

    own = 1e-9 * max(float(both.max()), 1e-300) * np.eye(len(both))
    return np.asarray(linear_sum_assignment(both + own, maximize=True)[1])
