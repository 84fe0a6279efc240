"""Are the answers a sum of what levels add, where right ones are not?

    p = Σ_k u_k(z_k) + rest.

A linear model without products of factors has no rest, seen or unseen. Where right answers have one beyond the noise it
cannot fit them: it is then too plain for its training data, and what it does elsewhere follows from that. The errors of
such a model are largest at few combinations and levels, and these are no slips: unless right answers are sums without
them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from recombine.mechanisms.answers.answered import Answers, Trained
from recombine.mechanisms.answers.finding import FEWEST, LEVEL
from recombine.mechanisms.answers.names import brief, share
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
    x = _levels(answers.codes[at], space.shape)
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


def sums_but_for(answers: Answers, apart: NDArray[np.bool_]) -> bool:
    """Whether right answers are sums at all combinations but these, as far as rows asked about and training rows tell
    (at .05): it is then these that are amiss, and sums that miss them may be right."""
    at = (answers.compared | answers.unseen) & ~apart
    n, within, trained = answers.counts[at].astype(np.float64), answers.within, answers.trained
    if within is None or not (n > 1).any() or int(at.sum()) <= FEWEST:
        return False
    free, x = np.maximum(n - 1, 0), _levels(answers.codes[at], answers.space.shape)
    noise = answers.scale * np.where(free > 0, n * within[at] / np.maximum(free, 1), n @ within[at] / free.sum())
    chances = [_by_noise(x, answers.target[at], n, noise, np.maximum(free, 1))]
    if trained is not None and not trained.borrowed and len(trained.codes) <= MOST:
        left_out = {*map(tuple, answers.codes[apart].tolist())}
        kept = np.array([tuple(code) not in left_out for code in trained.codes.tolist()])
        chances += [] if (chance := _chance_in_training(answers, trained, kept)) is None else [chance]
    return min(chances) * len(chances) > LEVEL


def _levels(codes: NDArray[np.int64], shape: tuple[int, ...]) -> FloatArray:
    return np.hstack([np.eye(size)[codes[:, j]] for j, size in enumerate(shape)])


def _in_training(answers: Answers) -> bool:
    """Whether training answers are no sums either, where rows of one combination tell their noise: few rows asked about
    may not, where some are much noisier than others."""
    trained = answers.trained
    if trained is None or trained.borrowed or len(trained.codes) > MOST:
        return True
    chance = _chance_in_training(answers, trained, np.ones(len(trained.codes), dtype=bool))
    return chance is None or chance <= LEVEL


def _chance_in_training(answers: Answers, trained: Trained, kept: NDArray[np.bool_]) -> float | None:
    """The chance of so large a rest of training answers, if they were sums, at some combinations; None where too few
    rows share one."""
    rows, n = float(trained.weights.sum()), trained.weights[kept]
    free = rows - len(trained.weights)
    if free < FEWEST or not len(n):
        return None
    noise = np.full(len(n), answers.scale * trained.within * rows / free)
    x = _levels(trained.codes[kept].astype(np.int64), answers.space.shape)
    return _by_noise(x, trained.answers[kept], n, noise, np.full(len(n), free / len(trained.weights)))


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
