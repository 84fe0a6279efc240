"""Are unseen combinations answered better than by guessing?

A guess has no other answers than the learner's own, to whatever combinations: these are dealt out at random, and what
as many as one of twenty deals are no worse than may be a guess. Three of sixteen numbers that are right are one deal of
3,360; of two classes a guess has half right.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING

DEALS, BY_CHANCE = 1_000, 0.05
"""How often answers are dealt out, and how seldom they may be as near."""
MOST = 1_000
"""Combinations that answers are dealt out to; of more, the first."""


def dealt_out(answers: Answers, away: NDArray[np.bool_], worst: int = 0) -> tuple[float, float]:
    """The share of deals of the learner's answers to the combinations ``away`` that err no more than it does there, and
    how deals err on average: of classes the share that is wrong. ``worst``: how many combinations are left out, those
    that err most, of the learner's answers and of each deal."""
    rows = np.flatnonzero(away)[:MOST]
    pool = np.union1d(rows, np.flatnonzero(answers.unseen | answers.compared)[: 2 * MOST])
    said, right = answers.predicted.mean(axis=0), answers.target[rows]
    if answers.classes is None:
        apart = np.square(right[:, None] - said[pool][None]).mean(axis=2)
        each = np.square(right - said[rows]).mean(axis=1)
    else:
        apart, each = 1 - right @ said[pool].T, answers.error.mean(axis=0)[rows]
    dealt = np.random.default_rng(0).random((DEALS, len(pool))).argsort(axis=1)[:, : len(rows)]
    kept = max(0, len(rows) - worst)
    costs = np.sort(apart[np.arange(len(rows)), dealt], axis=1)[:, :kept].sum(axis=1)
    own = float(np.sort(each)[:kept].sum())
    return float((1 + (costs <= own + NOTHING).sum()) / (1 + DEALS)), float(costs.mean()) / max(1, len(rows))


def nearer_than_dealt(answers: Answers) -> bool:
    """Whether numbers for unseen combinations are nearer to the right ones than dealt ones."""
    if answers.classes is not None or not np.isfinite(answers.predicted[:, answers.unseen | answers.compared]).all():
        return False
    return dealt_out(answers, answers.unseen)[0] <= BY_CHANCE
