"""Levels whose seen combinations err more than the others: one forecast for all asked combinations is too small there.

Every seen cell is left out by itself. A level's loss is the mean over its cells; how large the largest over all levels
would be by chance is told by dealing the same losses out to the cells anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.checks.modular import Floats, Ints
from recombine.checks.rules import Adding
from recombine.space import FactorSpace, quoted

FEWEST = 3
"""Seen cells of a level that is judged."""
MOST = 300
"""Cells that are left out, drawn where there are more."""
DEALT, CHANCE = 999, 0.01
WORTH = 1.5
"""Times the error elsewhere that is worth saying."""


@dataclass(frozen=True)
class Harder:
    """A level that is asked about, and the errors of its seen combinations and of the others."""

    factor: str
    level: str
    error: float
    elsewhere: float
    seen: int
    asked: int


def harder(rule: Adding, asked: Ints, space: FactorSpace) -> tuple[Harder, ...]:
    """Levels among the asked ones that err more than others beyond chance, the worst first."""
    rng, cells = np.random.default_rng(0), rule.cells
    kept = np.arange(len(cells.codes))
    if len(kept) > MOST:
        kept = np.sort(rng.choice(kept, MOST, replace=False))
    losses = (rule.left_out([kept[[i]] for i in range(len(kept))])[:, 0] - cells.answers[kept]) ** 2
    codes, factors = cells.codes[kept], [k for k in range(len(cells.shape)) if k not in cells.curves]
    places = [(k, int(level)) for k in factors for level in np.unique(codes[:, k])]
    inside = np.array([codes[:, k] == level for k, level in places], dtype=np.float64).reshape(-1, len(kept))
    counts = inside.sum(axis=1)
    judged = (counts >= FEWEST) & (counts <= len(kept) - FEWEST)
    if not judged.any() or losses.max() <= 0:
        return ()
    inside, counts = inside[judged], counts[judged]
    here = np.argsort(rng.random((DEALT, len(kept))), axis=1)
    by_chance = np.sort(_excess(losses[here], inside, counts).max(axis=1))[int((1 - CHANCE) * DEALT)]
    found = []
    for (k, level), excess, row in zip(
        (place for place, ok in zip(places, judged, strict=True) if ok),
        _excess(losses[None], inside, counts)[0], inside > 0, strict=True,
    ):  # fmt: skip
        error, elsewhere = float(np.sqrt(losses[row].mean())), float(np.sqrt(losses[~row].mean()))
        often, factor = int((asked[:, k] == level).sum()), space.factors[k]
        if factor.levels and often and excess > by_chance and error > WORTH * elsewhere:
            name = quoted(factor.levels[level])
            found.append((-excess, Harder(factor.name, name, error, elsewhere, int(row.sum()), often)))
    return tuple(told for _, told in sorted(found, key=lambda pair: pair[0]))


def _excess(losses: Floats, inside: Floats, counts: Floats) -> Floats:
    """How many standard errors the mean loss of each level is above that of all (deals × levels)."""
    means = losses @ inside.T / counts
    spread = losses.std(axis=1, keepdims=True) / np.sqrt(counts) * np.sqrt(1 - counts / losses.shape[1])
    return np.asarray((means - losses.mean(axis=1, keepdims=True)) / np.maximum(spread, 1e-300))
