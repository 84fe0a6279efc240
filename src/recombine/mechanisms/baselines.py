"""Simple rules fitted to the same training answers: what a learner is compared with, on the same unseen rows.

*Constant*: the mean answer, or the most frequent class. *Adding up*: one effect for each level, Σ_j g_j(z_j). *Pairs*:
one more for each pair of levels that was seen, where there are three factors or more. Effects are shrunk by ridge; how
much is decided by leaving out each combination. A class is the one whose shares add up to most.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from recombine.mechanisms.answers import Answers, Trained
from recombine.space import Points
from recombine.statistics import FloatArray

SHRINKAGE = (1e-6, 1e-2, 0.1, 1.0, 10.0)
MOST = 1_500
"""Effects or combinations that one fit may have; of more, as many combinations are drawn."""
CONSTANT, ADDING, PAIRS = "always the same answer", "adding up", "pairs of levels"


@dataclass(frozen=True, eq=False)
class Baseline:
    """What a rule says at the combinations asked about, and at those it was fitted to without having seen them."""

    name: str
    answers: FloatArray
    left_out: FloatArray
    plain: FloatArray
    """What the same rule says at the combinations asked about without shrinkage."""


def baselines(answers: Answers, seed: int = 0) -> list[Baseline]:
    """The rules that can be fitted; none where the training answers are not known or factors have no levels."""
    trained = answers.trained
    if trained is None or answers.classes == ("",):
        return []
    mean = np.average(trained.answers, axis=0, weights=trained.weights)
    asked, known = (np.tile(mean, (len(codes), 1)) for codes in (answers.codes, trained.codes))
    constant = Baseline(CONSTANT, asked, known, asked)
    if not answers.space.finite or len(trained.codes) < 3:
        return [constant]
    found = [constant]
    singles: list[tuple[int, ...]] = [(j,) for j in range(len(answers.space))]
    pairs: list[tuple[int, ...]] = list(combinations(range(len(answers.space)), 2))
    for name, groups in ((ADDING, singles), (PAIRS, singles + pairs)):
        if name == ADDING or len(answers.space) > 2:
            found.append(Baseline(name, *_ridge(answers, trained, mean, groups, seed)))
    return found


def _ridge(
    answers: Answers, trained: Trained, mean: FloatArray, groups: list[tuple[int, ...]], seed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What the rule says where asked, and at each training combination without it; then where asked, unshrunk."""
    design, asked = _indicators(trained.codes, answers.codes, groups)
    rows = np.arange(len(design))
    if min(design.shape) > MOST:
        rows = np.sort(np.random.default_rng(seed).choice(len(design), MOST, replace=False))
    weight = np.sqrt(trained.weights[rows] / trained.weights.mean())[:, None]
    y = weight * (trained.answers[rows] - mean)
    basis, values, turn = np.linalg.svd(weight * design[rows], full_matrices=False)
    some = values > 1e-9 * values[0]
    basis, values, turn = basis[:, some], values[some], turn[some]
    best, error = None, np.inf
    for shrink in SHRINKAGE:
        share = values**2 / (values**2 + shrink)
        leverage = (np.square(basis) @ share)[:, None]
        off = (y - basis @ (share[:, None] * (basis.T @ y))) / np.maximum(1 - leverage, 1e-6)
        if float(np.square(off).sum()) < error * (1 - 1e-9):
            best, error, left = share / values, float(np.square(off).sum()), off
    assert best is not None
    effects, plain = (turn.T @ (inverse[:, None] * (basis.T @ y)) for inverse in (best, 1 / values))
    left_out = mean + design @ effects
    left_out[rows] = trained.answers[rows] - left / weight
    return mean + asked @ effects, left_out, mean + asked @ plain


def _indicators(known: Points, asked: Points, groups: list[tuple[int, ...]]) -> tuple[FloatArray, FloatArray]:
    """One column for each level or pair of levels that training showed."""
    columns: list[FloatArray] = []
    both = np.concatenate([known, asked]).astype(np.int64)
    for group in groups:
        keys = np.ravel_multi_index(tuple(both[:, list(group)].T), tuple(both[:, list(group)].max(axis=0) + 1))
        shown = np.unique(keys[: len(known)])
        columns.append((keys[:, None] == shown[None]).astype(np.float64))
    whole = np.concatenate(columns, axis=1)
    return whole[: len(known)], whole[len(known) :]
