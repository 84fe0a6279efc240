"""Are new rows of seen combinations answered better than their noise allows?

Whoever knows the factors alone errs on a new row by its noise, or more. Rows that share a combination tell how much
that is: those of unseen combinations, and training's own. A seen combination with a single new row has none that tells,
and its error would pass for its noise, however small: a model that has seen the very rows, or reads a column there that
it does not read elsewhere, would seem to compose. So the error of all new rows of seen combinations together is held
against the noise that others tell, by an F-test; of rows of several kinds the least noise counts.
"""

from __future__ import annotations

import numpy as np
from scipy.special import fdtr

from recombine.mechanisms.answers import Answers, Trained
from recombine.mechanisms.finding import LEVEL

FEWEST_FREE = 10
"""Rows beyond the first of their combination that tell a noise."""
FAR_BELOW = 0.25
"""Share of the noise that an error has to be below: tails and rows that are noisier than others give half of it."""


def noise_left(answers: Answers) -> float:
    """The share of the noise that numbers for new rows of seen combinations leave, where it is clearly less than who
    knows the factors alone is left; 1 where it is not, where nothing tells, or where several rows of each do."""
    at, away = answers.compared, answers.unseen
    if answers.classes is not None or answers.within is None or not answers.like or not answers.space.finite:
        return 1.0
    n = answers.counts
    if int((n[at] - 1).sum()) >= FEWEST_FREE:
        return 1.0  # These rows tell it themselves (`comparing.unread`).
    free = int((n[away] - 1).sum())
    told = [(float(n[away] @ answers.within[away]) / free, free)] if free >= FEWEST_FREE else []
    told += [] if answers.trained is None else _among_training(answers.trained)
    error = float(np.average(answers.error.mean(axis=0)[at], weights=n[at]))
    if not told or not np.isfinite(error) or not min(told)[0] > 0:
        return 1.0
    share = error / min(told)[0]
    rows = int(n[at].sum())
    clearly = share < FAR_BELOW and all(fdtr(rows, many, error / noise) < LEVEL for noise, many in told)
    return share if clearly else 1.0


def _among_training(trained: Trained) -> list[tuple[float, int]]:
    """The noise that training rows of one combination tell, and how many rows tell it; nothing where few do."""
    rows = float(trained.weights.sum())
    free = int(rows) - len(trained.weights)
    return [] if trained.borrowed or free < FEWEST_FREE else [(trained.within * rows / free, free)]
