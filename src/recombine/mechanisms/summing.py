"""Are the answers a sum of what levels add, where right ones are not?

    p = Σ_k u_k(z_k) + rest.

A linear model without products of factors has no rest, seen or unseen. Where right answers have one beyond the noise it
cannot fit them: it is then too plain for its training data, and what it does elsewhere follows from that.
"""

from __future__ import annotations

import numpy as np
from scipy.special import fdtrc

from recombine.mechanisms.answers import Answers
from recombine.mechanisms.finding import FEWEST, LEVEL
from recombine.mechanisms.names import brief, share
from recombine.statistics import FloatArray

REST = 0.001
"""Share of what answers vary by that the rest may be: rounding, and what a fit was stopped short of."""
MUCH = 0.05
"""Share of what right answers vary by that their rest has to be, beyond the noise."""
MOST_LEVELS, MOST = 800, 4_000
"""Levels and combinations beyond which it is not looked."""


def adds_up(answers: Answers) -> str:
    """That they are and right ones are not, in a sentence without a full stop; nothing else. Told of numbers alone, and
    where rows that share a combination tell the noise."""
    at = answers.compared | answers.unseen
    space, free_rows = answers.space, int((answers.counts[at] - 1).sum())
    if answers.classes is not None or answers.within is None or not space.finite or len(space) < 2:
        return ""
    if sum(space.shape) > MOST_LEVELS or at.sum() > MOST or free_rows < FEWEST:
        return ""
    x = np.hstack([np.eye(size)[answers.codes[at, j]] for j, size in enumerate(space.shape)])
    said, due, n = answers.predicted.mean(axis=0)[at], answers.target[at], answers.counts[at].astype(np.float64)
    free = len(x) - int(np.linalg.matrix_rank(x))
    if free < FEWEST or not np.isfinite(said).all():
        return ""
    left, whole = _rest(x, said), float(np.square(said - said.mean(axis=0)).mean(axis=1).sum())
    if not whole > 0 or left > REST * whole:
        return ""
    free_of = np.maximum(n - 1, 0)
    pooled = float(n @ answers.within[at]) / free_rows
    noise = answers.scale * np.where(free_of > 0, n * answers.within[at] / np.maximum(free_of, 1), pooled)
    varies = float(np.square(due - due.mean(axis=0)).mean(axis=1).sum())
    rest = max(0.0, _rest(x, due) / free - float((noise / n).mean())) * free / varies if varies > 0 else 0.0
    if not rest > MUCH or _by_noise(x, due, n, noise, np.maximum(free_of, 1)) > LEVEL or not _in_training(answers):
        return ""
    names = " and ".join(map(brief, space.names)) if len(space) < 4 else "the factors"
    return (
        f"Its answers are sums of what levels of {names} add, to within {share(left / whole)} of what they vary by; of "
        f"what right ones vary by {share(rest)} is no such sum, beyond the noise: it adds up where the truth does not"
    )


def _in_training(answers: Answers) -> bool:
    """Whether training answers are no sums either, where rows of one combination tell their noise: few rows asked about
    may not, where some are much noisier than others."""
    trained = answers.trained
    if trained is None or trained.borrowed or len(trained.codes) > MOST:
        return True
    rows, n = float(trained.weights.sum()), trained.weights
    free = rows - len(n)
    if free < FEWEST:
        return True
    x = np.hstack([np.eye(size)[trained.codes[:, j]] for j, size in enumerate(answers.space.shape)])
    noise = np.full(len(n), answers.scale * trained.within * rows / free)
    return _by_noise(x, trained.answers, n, noise, np.full(len(n), free / len(n))) <= LEVEL


def _by_noise(x: FloatArray, due: FloatArray, n: FloatArray, noise: FloatArray, free: FloatArray) -> float:
    """The chance of so large a rest of right answers if they were sums: an F-test, where combinations may be noisier
    than others (Satterthwaite)."""
    root = np.sqrt(n)[:, None]
    basis = np.linalg.svd(root * x, full_matrices=False)
    span = basis[0][:, basis[1] > 1e-9 * basis[1][0]]
    expected = (1 - np.square(span).sum(axis=1)) * noise
    whole, squares = float(expected.sum()), np.square(expected)
    if not whole > 0:
        return 0.0
    over, under = (whole**2 / float((squares / by).sum()) for by in (np.ones(len(n)), free))
    return float(fdtrc(over, under, _rest(root * x, root * due) / whole))


def _rest(x: FloatArray, values: FloatArray) -> float:
    return float(np.square(values - x @ np.linalg.lstsq(x, values, rcond=None)[0]).mean(axis=1).sum())
