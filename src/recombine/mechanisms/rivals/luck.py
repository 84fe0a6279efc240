"""Were classes wrong, or were the rows they were asked about? The best answer to a coin flip is often wrong.

Of the rows of a combination that have either the class that is given there or the most frequent other one, whoever
gives the best answer misses half at most, in the long run:

    other ~ Binomial(other + given, q),   q ≤ ½.

Which q there are is told by all combinations together (Kiefer and Wolfowitz 1956, on a grid, by expectation and
maximisation), and by one coin flip more, as few that are never wrong do not say that none ever is. So a table without
noise convicts a combination by a few rows, and a noisy one by no fewer than a coin does not give.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING
from recombine.statistics import FloatArray

GRID = np.linspace(0.0, 0.5, 51)
ROUNDS = 200
DRAWN, MOST = 4_000, 1_000
"""How often rows of a level are drawn, and at how many of its combinations."""


def by_luck(answers: Answers, at: NDArray[np.bool_], rows: NDArray[np.int64]) -> FloatArray:
    """The chance that the best answer to each of ``rows`` is as wrong there or more; ``at`` tell of the noise."""
    other, given = _two_classes(answers)
    often, ends = _noise(other[at], given[at]), (other[rows][:, None], given[rows][:, None])
    return np.asarray(at_least(ends[0], ends[0] + ends[1], GRID) @ often)


def level_by_luck(answers: Answers, at: NDArray[np.bool_], known: NDArray[np.bool_], rng: np.random.Generator) -> float:
    """The chance that best answers to the combinations ``at``, all of one level, miss as much beyond the most frequent
    class as is missed there. A level may be noisier than others: its noise is told by its seen combinations, ``known``,
    alone."""
    other, given = _two_classes(answers)
    rows = np.flatnonzero(at)[:MOST]
    q = rng.choice(GRID, size=(DRAWN, len(rows)), p=_noise(other[known], given[known]))
    both, weight = (other + given)[rows].astype(np.int64), 1 / answers.counts[rows]
    missed = np.maximum(2 * rng.binomial(both, q) - both, 0) @ weight
    return float((1 + (missed >= np.maximum(other - given, 0.0)[rows] @ weight - NOTHING).sum()) / (1 + DRAWN))


def at_least(count: FloatArray, of: FloatArray, chance: FloatArray) -> FloatArray:
    """The chance of so many or more."""
    return np.where(count > 0, betainc(np.maximum(count, 1), np.maximum(of - count, 0) + 1, chance), 1.0)


def _two_classes(answers: Answers) -> tuple[FloatArray, FloatArray]:
    """How many rows of each combination have the most frequent class but the one given most often; and how many are
    answered rightly."""
    n, each = answers.counts.astype(np.float64), np.arange(len(answers.counts))
    others = answers.target.copy()
    others[each, answers.predicted.mean(axis=0).argmax(axis=1)] = 0.0
    return np.rint(others.max(axis=1) * n), np.rint((1 - answers.error.mean(axis=0)) * n)


def _noise(other: FloatArray, given: FloatArray) -> FloatArray:
    """How often each q of the grid occurs."""
    pairs, times = np.unique(np.stack([other, given], axis=1), axis=0, return_counts=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        fits = np.power(GRID, pairs[:, :1]) * np.power(1 - GRID, pairs[:, 1:])
    fits /= np.maximum(fits.max(axis=1, keepdims=True), 1e-300)
    often, flip = np.full(len(GRID), 1 / len(GRID)), np.eye(len(GRID))[-1]
    for _ in range(ROUNDS):
        whose = fits * often
        whose *= (times / np.maximum(whose.sum(axis=1), 1e-300))[:, None]
        often = (whose.sum(axis=0) + flip) / (times.sum() + 1)
    return np.asarray(often)
