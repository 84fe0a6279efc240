"""A level whose answers scatter more than the others': it should not widen every range, nor steer the others' effects.

With z the squares of what a fit leaves over what it should leave (leverages allowed for), a level may be noisier if the
mean of ∛z over its cells is beyond chance: how large the largest over all levels would be by chance is told by dealing
the same z out to the cells anew. Taken is the one whose own noise lets the fit say most of cells left out one by one
(Σ log p, which a level that merely takes part in an interaction of another raises less).
"""

from __future__ import annotations

from collections.abc import Callable, Container

import numpy as np

from recombine.checks.effects import EXACT, Effects
from recombine.checks.modular import Floats, Ints

FEWEST = 3
"""Seen cells of a level that is judged."""
MOST = 600
"""Cells among which losses are dealt out anew, drawn where there are more."""
DEALT, CHANCE = 999, 0.01
WORTH = 1.5
"""Times the error elsewhere that is worth saying."""
TRIED, LEVELS, ROUNDS = 4, 2, 3
"""Levels that are tried, that are taken at most, and fits until the noise of one settles."""

Noisy = dict[tuple[int, int], float]
"""Variance at a level (place of the factor, code) over that elsewhere."""


def own_noise(fit: Callable[[Floats], Effects], found: Effects, curves: Container[int]) -> tuple[Effects, Noisy]:
    """A fit in which levels that are noisier than others have a noise of their own; the same where none is."""
    noise, noisy = found.noise, Noisy()
    for _ in range(LEVELS):
        if found.sigma2 <= EXACT * found.spread:
            break
        tried = [_tried(fit, found, noise, noisy, place) for place in _noisier(found, curves) if place not in noisy]
        best = max(tried, key=lambda one: one[0].score(), default=None)
        if best is None or best[0].score() <= found.score():
            break
        found, noisy = best
    return found, noisy


def times(noisy: Noisy, codes: Ints) -> Floats:
    """How many times as large the variance of cells is as elsewhere."""
    found = np.ones(len(codes))
    for (k, level), more in noisy.items():
        found[codes[:, k] == level] *= more
    return found


def _tried(
    fit: Callable[[Floats], Effects], found: Effects, noise: Floats, noisy: Noisy, place: tuple[int, int]
) -> tuple[Effects, Noisy]:
    here, more = found.codes[:, place[0]] == place[1], 1.0
    for _ in range(ROUNDS):
        squares = found.squares()
        more *= float(squares[here].mean() / max(squares[~here].mean(), 1e-300))
        found = fit(noise * times({**noisy, place: more}, found.codes))
    return found, {**noisy, place: more}


def _noisier(found: Effects, curves: Container[int]) -> list[tuple[int, int]]:
    """Levels beyond chance, those that stand out most first."""
    kept = some(len(found.codes))
    codes, squares = found.codes[kept], found.squares()[kept]
    places, inside = levels(codes, curves)
    if not places:
        return []
    even = np.cbrt(squares)  # as good as normal
    here = excess(even[None], inside)[0]
    means = [(squares[at > 0].mean(), squares[at == 0].mean()) for at in inside]
    if here.max() <= by_chance(even, inside):
        return []
    order = [i for i in np.argsort(-here) if means[i][0] > WORTH**2 * means[i][1]]
    return [places[i] for i in order[:TRIED]]


def some(cells: int) -> Ints:
    """Cells that are looked at: all, or some drawn."""
    every = np.arange(cells)
    return np.sort(np.random.default_rng(0).choice(every, MOST, replace=False)) if cells > MOST else every


def levels(codes: Ints, curves: Container[int]) -> tuple[list[tuple[int, int]], Floats]:
    """Levels that enough cells have, and enough have not, and which cells have them (levels × cells)."""
    places = [(k, int(level)) for k in range(codes.shape[1]) if k not in curves for level in np.unique(codes[:, k])]
    inside = np.array([codes[:, k] == level for k, level in places], dtype=np.float64).reshape(-1, len(codes))
    judged = (inside.sum(axis=1) >= FEWEST) & (inside.sum(axis=1) <= len(codes) - FEWEST)
    return [place for place, ok in zip(places, judged, strict=True) if ok], inside[judged]


def by_chance(losses: Floats, inside: Floats) -> float:
    """What the largest excess over all levels stays below if losses are dealt out to the cells anew."""
    here = np.argsort(np.random.default_rng(0).random((DEALT, len(losses))), axis=1)
    return float(np.sort(excess(losses[here], inside).max(axis=1))[int((1 - CHANCE) * DEALT)])


def excess(losses: Floats, inside: Floats) -> Floats:
    """How many standard errors the mean loss of each level is above that of all (deals × levels)."""
    counts = inside.sum(axis=1)
    means = losses @ inside.T / counts
    spread = losses.std(axis=1, keepdims=True) / np.sqrt(counts) * np.sqrt(1 - counts / losses.shape[1])
    return np.asarray((means - losses.mean(axis=1, keepdims=True)) / np.maximum(spread, 1e-300))
