"""Simple rules fitted to the same training answers: what a learner is compared with, on the same unseen rows.

*Constant*: the mean answer, or the most frequent class. *Adding up*: one effect for each level, Σ_j g_j(z_j). *Pairs*:
one more for each pair of levels that was seen, where there are three factors or more. Effects are shrunk by ridge; how
much is decided by leaving out each combination. A class is the one whose shares add up to most.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers import Answers, Trained
from recombine.space import Points
from recombine.statistics import FloatArray

SHRINKAGE = (1e-6, 1e-2, 0.1, 1.0, 10.0)
MOST = 1_000
"""Effects or combinations that one fit may have; of more, as many combinations are drawn."""
CONSTANT, ADDING, PAIRS = "always the same answer", "adding up", "pairs of levels"


@dataclass(frozen=True, eq=False)
class Baseline:
    """A rule fitted to the training answers."""

    name: str
    answers: FloatArray
    """What it says at the combinations asked about, …"""
    plain: FloatArray
    """… and what it would say without shrinkage."""
    fitted_to: NDArray[np.int64]
    left_out: FloatArray
    """Training combinations, and what it says of each when fitted without it."""


def baselines(answers: Answers, seed: int = 0) -> list[Baseline]:
    """The rules that can be fitted; none where the training answers are not known or factors have no levels."""
    trained = answers.trained
    if trained is None or answers.classes == ("",):
        return []
    mean = np.average(trained.answers, axis=0, weights=trained.weights)
    asked, known = (np.tile(mean, (len(codes), 1)) for codes in (answers.codes, trained.codes))
    found = [Baseline(CONSTANT, asked, asked, np.arange(len(known)), known)]
    if not answers.space.finite or len(trained.codes) < 3:
        return found
    singles: list[tuple[int, ...]] = [(j,) for j in range(len(answers.space))]
    pairs: list[tuple[int, ...]] = list(combinations(range(len(answers.space)), 2))
    for name, groups in ((ADDING, singles), (PAIRS, singles + pairs)):
        if name == ADDING or len(answers.space) > 2:
            found.append(_ridge(name, answers.codes, trained, mean, groups, seed))
    return found


def _ridge(
    name: str, asked: Points, trained: Trained, mean: FloatArray, groups: list[tuple[int, ...]], seed: int
) -> Baseline:
    rows = np.arange(len(trained.codes))
    columns = _Columns(trained.codes, groups)
    if min(len(rows), columns.count) > MOST:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST, replace=False))
        columns = _Columns(trained.codes[rows], groups)
    weight = np.sqrt(trained.weights[rows] / trained.weights.mean())[:, None]
    y = weight * (trained.answers[rows] - mean)
    basis, values, turn = _decomposed(weight * columns(trained.codes[rows]))
    best, error = 1 / values, np.inf
    for shrink in SHRINKAGE:
        share = values**2 / (values**2 + shrink)
        leverage = (np.square(basis) @ share)[:, None]
        off = (y - basis @ (share[:, None] * (basis.T @ y))) / np.maximum(1 - leverage, 1e-6)
        if float(np.square(off).sum()) < error * (1 - 1e-9):
            best, error, left = share / values, float(np.square(off).sum()), off
    both = [turn.T @ (inverse[:, None] * (basis.T @ y)) for inverse in (best, 1 / values)]
    parts = [
        columns(asked[start : start + MOST]) @ np.concatenate(both, axis=1) for start in range(0, len(asked), MOST)
    ]
    said, plain = np.split(np.concatenate([*parts, np.zeros((0, 2 * len(mean)))]), 2, axis=1)
    return Baseline(name, mean + said, mean + plain, rows, trained.answers[rows] - left / weight)


def _decomposed(design: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Singular vectors and values of a design, by the smaller of its two Gram matrices: several times faster."""
    wide = design.shape[1] > len(design)
    squares, vectors = np.linalg.eigh(design @ design.T if wide else design.T @ design)
    some = squares > 1e-12 * squares[-1]
    values, vectors = np.sqrt(squares[some]), vectors[:, some]
    if wide:
        return vectors, values, (design.T @ vectors / values).T
    return design @ vectors / values, values, vectors.T


class _Columns:
    """Indicators of combinations: one column for each level or pair of levels that training showed."""

    def __init__(self, known: Points, groups: list[tuple[int, ...]]) -> None:
        self.groups = groups
        self.shape = known.max(axis=0).astype(np.int64) + 1
        self.shown = [np.unique(self._keys(known, group)) for group in groups]
        self.count = sum(map(len, self.shown))

    def __call__(self, codes: Points) -> FloatArray:
        parts = [self._keys(codes, g)[:, None] == shown[None] for g, shown in zip(self.groups, self.shown, strict=True)]
        return np.concatenate(parts, axis=1).astype(np.float64)

    def _keys(self, codes: Points, group: tuple[int, ...]) -> NDArray[np.int64]:
        """One number for each level or pair; −1 for a level beyond those known."""
        keys = np.zeros(len(codes), dtype=np.int64)
        for j in group:
            level = codes[:, j].astype(np.int64)
            keys = np.where((keys < 0) | (level >= self.shape[j]), -1, keys * self.shape[j] + level)
        return keys
