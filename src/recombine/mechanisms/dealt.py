"""Are unseen combinations answered better than by guessing?

A guess has no other answers than the learner's own, to whatever combinations: these are dealt out at random, and what is
as near to the right ones in one of twenty deals or more may be a guess. Three of sixteen numbers that are right are one
deal of 3,360; of two classes a guess has half right.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers import Answers
from recombine.mechanisms.names import NOTHING

DEALS, BY_CHANCE = 1_000, 0.05
"""How often answers are dealt out, and how seldom they may be as near."""
MOST = 1_000
"""Combinations that answers are dealt out to; of more, the first."""


def as_near_by_chance(answers: Answers, away: NDArray[np.bool_]) -> float:
    """The share of deals of the learner's answers to the combinations ``away`` that err no more than it does there."""
    rows = np.flatnonzero(away)[:MOST]
    pool = np.union1d(rows, np.flatnonzero(answers.unseen | answers.compared)[: 2 * MOST])
    said, right = answers.predicted.mean(axis=0), answers.target[rows]
    if answers.classes is None:
        apart = np.square(right[:, None] - said[pool][None]).mean(axis=2)
        own = float(np.square(right - said[rows]).mean(axis=1).sum())
    else:
        apart, own = 1 - right @ said[pool].T, float(answers.error.mean(axis=0)[rows].sum())
    dealt = np.random.default_rng(0).random((DEALS, len(pool))).argsort(axis=1)[:, : len(rows)]
    as_near = apart[np.arange(len(rows)), dealt].sum(axis=1) <= own + NOTHING
    return float((1 + as_near.sum()) / (1 + DEALS))


def nearer_than_dealt(answers: Answers) -> bool:
    """Whether numbers for unseen combinations are nearer to the right ones than dealt ones."""
    if answers.classes is not None or not np.isfinite(answers.predicted[:, answers.unseen | answers.compared]).all():
        return False
    return as_near_by_chance(answers, answers.unseen) <= BY_CHANCE
