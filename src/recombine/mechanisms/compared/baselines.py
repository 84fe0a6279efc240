"""Simple rules fitted to the same training answers: what a learner is compared with, on the same unseen rows.

*Constant*: the mean answer, or the most frequent class. *Adding up*: one effect for each level, Σ_j g_j(z_j). *Pairs*:
one more for each pair of levels that was seen, where there are three factors or more. Effects are shrunk as far as the
training answers say (`checks/rules/effects.py`). A class is the one whose shares add up to most; of several labels or
of a sequence, at each place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recombine.checks.rules.effects import Effects, affordable, blocks_of
from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING
from recombine.statistics import FloatArray

MOST = 2_000
"""Levels that are added up at most."""
FEWEST = 3
"""Training combinations that effects are fitted to."""
ENTRIES, LEFT_OUT = 50_000_000, 10_000_000
"""Effects times combinations up to which all of these are fitted to, else so many of them, drawn at random, which are
25 for each effect or more; and up to which all are left out in turn."""
CONSTANT, ADDING, PAIRS = "always the same answer", "adding up", "pairs of levels"


@dataclass(frozen=True, eq=False)
class Baseline:
    """A rule fitted to the training answers."""

    name: str
    answers: FloatArray
    """What it says at the combinations asked about, …"""
    plain: FloatArray
    """… and, of levels that are added up, what it would say without shrinkage."""
    tried: NDArray[np.int64]
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
    if not answers.space.finite or len(trained.codes) < FEWEST:
        return found
    for name, order in ((ADDING, 1), (PAIRS, 2)):
        if order == 1 or len(answers.space) > 2:
            found += _added(name, answers, order, seed)
    return found


def too_large(answers: Answers) -> str:
    """Which rules are left out as they have too many effects to be fitted, in a sentence; nothing where none is. To
    fewer combinations they would fit worse than they are, and who is compared with them would look better."""
    if answers.trained is None or answers.classes == ("",) or not answers.space.finite:
        return ""
    names = [name for name, order in ((ADDING, 1), (PAIRS, 2)) if not _fits(answers, order)]
    names = names if len(answers.space) > 2 else [name for name in names if name != PAIRS]
    if not names:
        return ""
    are = "is no rule" if len(names) == 1 else "are no rules"
    rules = " and ".join(repr(name) for name in names)
    return f"{rules[:1].upper()}{rules[1:]} {are} it is compared with: the table has too many to fit them all."


def _fits(answers: Answers, order: int) -> bool:
    """Whether effects of all levels, or of all seen pairs too, can be fitted together."""
    trained, shape = answers.trained, answers.space.shape
    assert trained is not None
    blocks = blocks_of(trained.codes.astype(np.int64), shape, order, {})
    fitted, apart = affordable(blocks, len(trained.codes))
    kept = sum(len(block) for block in fitted if block is not apart)
    levels = sum(len(block) for block in blocks if len(block.subset) == 1)
    return levels <= MOST and len(fitted) == len(blocks) and (apart is None or kept * len(apart) <= ENTRIES)


def _added(name: str, answers: Answers, order: int, seed: int) -> list[Baseline]:
    if not _fits(answers, order):
        return []
    trained, shape = answers.trained, answers.space.shape
    assert trained is not None
    codes = trained.codes.astype(np.int64)
    blocks = blocks_of(codes, shape, order, {})
    effects = sum(len(block) for block in blocks if block is not affordable(blocks, len(codes))[1])
    drawn = np.random.default_rng(seed).permutation(len(codes))[: max(1, ENTRIES // max(1, effects))]
    rows, tried = np.sort(drawn), np.sort(drawn[: max(1, LEFT_OUT // max(1, effects))])
    fitted = _fitted if answers.patterns is None else _place_by_place
    said, plain, left_out = fitted(answers, trained.answers, rows, tried, order)
    return [Baseline(name, said, plain, tried, left_out)]


def _fitted(
    answers: Answers, known: FloatArray, rows: NDArray[np.int64], tried: NDArray[np.int64], order: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What effects say that are fitted to some rows of ``known`` answers: shrunk, not shrunk, and of each that is
    tried without it."""
    trained, asked = answers.trained, answers.codes.astype(np.int64)
    assert trained is not None
    codes = trained.codes.astype(np.int64)
    fit = Effects(codes[rows], answers.space.shape, known[rows], 1 / trained.weights[rows], order)
    said = fit.answers(asked)
    plain = fit.unshrunk(asked) if order == 1 else said
    return said, plain, fit.each_left_out(np.searchsorted(rows, tried))


def _place_by_place(
    answers: Answers, known: FloatArray, rows: NDArray[np.int64], tried: NDArray[np.int64], order: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same of several labels or a sequence: at each place shares of its classes add up by themselves. Those of
    whole answers do not add up where those of each place do."""
    patterns = answers.patterns
    assert patterns is not None
    parts = []
    for place in patterns.T:
        classes = np.unique(place[place >= 0])
        has = known[:, :-1] @ (place >= 0)
        shares = known[:, :-1] @ (place[:, None] == classes) / np.maximum(has, NOTHING)[:, None]
        there, apart = rows[has[rows] > 0], has[tried] > 0
        usual = shares[there].mean(axis=0) if len(there) else np.ones(len(classes))
        said = plain = np.tile(usual, (len(answers.codes), 1))
        left_out = np.tile(usual, (len(tried), 1))
        if len(there) >= FEWEST and len(classes) > 1:
            said, plain, left_out[apart] = _fitted(answers, shares, there, tried[apart], order)
        parts.append([classes[found.argmax(axis=1)] for found in (said, plain, left_out)])
    said, plain, left_out = (np.stack(part, axis=1) for part in zip(*parts, strict=True))
    return (
        _as_patterns(said, patterns, answers.target),
        _as_patterns(plain, patterns, answers.target),
        _as_patterns(left_out, patterns, known[tried]),
    )


def _as_patterns(said: NDArray[np.int64], patterns: NDArray[np.int64], due: FloatArray) -> FloatArray:
    """The class (combinations × classes) that stands for what is said at each place, but for those that the right
    answers (``due``) lack; the last, where none does."""
    lacking = patterns[due[:, :-1].argmax(axis=1)]
    both = np.concatenate([patterns, np.where(lacking < 0, lacking, said)])
    _, key = np.unique(both, axis=0, return_inverse=True)
    key, size = key.ravel(), len(patterns)
    place = np.full(key.max() + 1, size)
    place[key[:size]] = np.arange(size)
    return np.asarray(np.eye(size + 1)[place[key[size:]]])
