"""Simple rules fitted to the same training answers: what a learner is compared with, on the same unseen rows.

*Constant*: the mean answer, or the most frequent class. *Adding up*: one effect for each level, Σ_j g_j(z_j). *Pairs*:
one more for each pair of levels that was seen, where there are three factors or more. Effects are shrunk as far as the
training answers say (`checks/effects.py`). A class is the one whose shares add up to most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recombine.checks.effects import Block, Effects, subsets_of
from recombine.mechanisms.answers import Answers
from recombine.statistics import FloatArray

MOST = 800
"""Effects that one fit may have; of more, fewer combinations are drawn."""
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
    for name, order in ((ADDING, 1), (PAIRS, 2)):
        if order == 1 or len(answers.space) > 2:
            found.append(_added(name, answers, order, seed))
    return found


def _added(name: str, answers: Answers, order: int, seed: int) -> Baseline:
    trained, shape = answers.trained, answers.space.shape
    assert trained is not None
    codes = trained.codes.astype(np.int64)
    rows = np.random.default_rng(seed).permutation(len(codes))
    while sum(len(Block.of(codes[rows], shape, s).keys) for s in subsets_of(len(shape), order)) > MOST:
        rows = rows[: len(rows) // 2]
    rows = np.sort(rows)
    fit = Effects(codes[rows], shape, trained.answers[rows], 1 / trained.weights[rows], order)
    asked = answers.codes.astype(np.int64)
    return Baseline(name, fit.answers(asked), fit.unshrunk(asked), rows, fit.each_left_out())
