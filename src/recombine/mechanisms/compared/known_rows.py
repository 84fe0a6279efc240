"""Are new rows, of seen or of unseen combinations, answered better than their noise allows?

Whoever knows the factors alone errs on a new row by its noise, or more. Rows that share a combination tell how much
that is: those of unseen combinations, and training's own. A seen combination with a single new row has none that tells,
and its error would pass for its noise, however small: a model that has seen the very rows, or reads a column there that
it does not read elsewhere, would seem to compose. So the error of all new rows of seen combinations together is held
against the noise that others tell, by an F-test; of rows of several kinds the least noise counts.

Mean answers to unseen combinations of n rows are off by noise / n, or more, whoever gives them,

    n · (p̄ − ȳ)² ≥ noise,

so that those which are far nearer were made with these very rows in hand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtr

from recombine.mechanisms.answers.answered import Answers, Trained
from recombine.mechanisms.answers.finding import LEVEL
from recombine.statistics import FloatArray

FEWEST_FREE = 10
"""Rows beyond the first of their combination that tell a noise."""
FAR_BELOW = 0.25
"""Share of the noise that an error has to be below: tails and rows that are noisier than others give half of it."""

MANY = 1_000_000
"""As many rows tell a noise that is known."""


def noise_left(answers: Answers) -> float:
    """The share of the noise that numbers for new rows of seen combinations leave, where it is clearly less than who
    knows the factors alone is left; 1 where it is not, where nothing tells, or where several rows of each do."""
    at, away = answers.compared, answers.unseen
    if answers.classes is not None or answers.within is None or not answers.like or not answers.space.finite:
        return 1.0
    n = answers.counts
    if int((n[at] - 1).sum()) >= FEWEST_FREE:
        return 1.0  # These rows tell it themselves (`comparing.unread`).
    told = _told(answers.within[away], n[away])
    told += [] if answers.trained is None else _among_training(answers.trained)
    error = float(np.average(answers.error.mean(axis=0)[at], weights=n[at]))
    if not told or not np.isfinite(error) or not min(told)[0] > 0:
        return 1.0
    share = error / min(told)[0]
    rows = int(n[at].sum())
    clearly = share < FAR_BELOW and all(fdtr(rows, many, error / noise) < LEVEL for noise, many in told)
    return share if clearly else 1.0


def nearer_than_noise(answers: Answers, said: float | None = None) -> bool:
    """Whether numbers for unseen combinations are nearer to the right ones, clearly, than a quarter of the noise that
    their rows, new rows of seen ones and training's tell. ``said``: the noise that a person tells."""
    at, away, n = answers.compared, answers.unseen, answers.counts
    if answers.classes is not None or answers.within is None or not away.any() or not answers.space.finite:
        return False
    told = [*_told(answers.within[away], n[away]), *_told(answers.within[at], n[at])]
    told += [] if answers.trained is None else _among_training(answers.trained)
    told += [] if said is None else [(said, MANY)]
    if not told or not min(told)[0] > 0:
        return False
    off = np.square(answers.predicted.mean(axis=0) - answers.target).mean(axis=1)[away] / answers.scale
    near, many = float((n[away] * off).mean()), int(away.sum())
    return all(fdtr(many, free, near / (FAR_BELOW * noise)) < LEVEL for noise, free in told)


def _told(inside: FloatArray, rows: NDArray[np.int64] | FloatArray) -> list[tuple[float, int]]:
    """The noise that rows of one combination tell, and how many rows tell it; nothing where few do. It is what half of
    the combinations have, or less: a few noisy ones or rare events are not the noise of all."""
    several, free = rows > 1, int((rows - 1).sum())
    if free < FEWEST_FREE:
        return []
    each = inside[several] * rows[several] / (rows[several] - 1)
    return [(min(float(np.median(each)), float(rows @ inside) / free), free)]


def _among_training(trained: Trained) -> list[tuple[float, int]]:
    """The noise that training rows of one combination tell, and how many rows tell it; nothing where few do."""
    inside = np.full(len(trained.weights), trained.within) if trained.inside is None else trained.inside
    return [] if trained.borrowed else _told(inside, trained.weights)
