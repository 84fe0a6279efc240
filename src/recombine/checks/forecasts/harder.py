"""Levels whose seen combinations err more than the others: the forecast is for the levels that are asked about.

Every seen cell that is not the only one of a level is left out by itself (of such a level nothing would be known). With
z the losses over their mean, the n cells of a level are expected to have

    1 + n r / (1 + (n − 1) r) · (z̄ − 1),   r the correlation of z within the levels of the factor (at least 0)

times the mean loss (best linear prediction: by chance alone r is 0 and no level is harder), and a cell the product over
its factors. Named are levels whose loss is beyond chance: how large the largest over all levels would be by chance is
told by dealing the same losses out to the cells anew. Where rows weigh, a loss is that of a row of typical noise.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.noisy import WORTH
from recombine.space import FactorSpace, quoted

FEWEST = 3
"""Seen cells of a level that is judged."""
MOST = 600
"""Cells among which losses are dealt out anew, drawn where there are more."""
DEALT, CHANCE = 999, 0.01
LEAST = 0.05
"""Share of the mean loss below which none is expected."""
DUST = 1e-24
"""Share of the largest answer, squared, up to which a loss is rounding."""


@dataclass(frozen=True)
class Harder:
    """A level that is asked about, and the errors of its seen combinations and of the others."""

    factor: str
    level: str
    error: float
    elsewhere: float
    seen: int
    asked: int
    at: tuple[int, int]
    """Place of the factor and code of the level."""


def harder(rule: Adding, asked: Ints, space: FactorSpace) -> tuple[Harder, ...]:
    """Levels among the asked ones that err more than others beyond chance, the worst first."""
    cells = rule.cells
    kept, losses = _alone(rule)
    places, inside = _levels(cells.codes[kept], cells.curves)
    if not places or losses.max(initial=0.0) <= DUST * float(np.square(cells.answers).max()):
        return ()
    chance = _by_chance(losses, inside)
    found = []
    for (k, level), beyond, row in zip(places, _excess(losses[None], inside)[0], inside > 0, strict=True):
        error, elsewhere = float(np.sqrt(losses[row].mean())), float(np.sqrt(losses[~row].mean()))
        often, factor = int((asked[:, k] == level).sum()), space.factors[k]
        if factor.levels and often and beyond > chance and error > WORTH * elsewhere:
            name = quoted(factor.levels[level])
            found.append((-beyond, Harder(factor.name, name, error, elsewhere, int(row.sum()), often, (k, level))))
    return tuple(told for _, told in sorted(found, key=lambda pair: pair[0]))


def times_wider(rule: Adding, at: tuple[int, int]) -> float:
    """How many times as wide ranges of a level have to be that a test finds unlike the others: by its errors, which are
    few, as t has it, over all. 1 where they are hardly larger than elsewhere, or there are none."""
    kept, losses = _alone(rule)
    here = rule.cells.codes[kept, at[0]] == at[1]
    if here.sum() < 2 or here.all() or losses[here].mean() <= WORTH**2 * losses[~here].mean():
        return 1.0
    few = float(stdtrit(here.sum(), 0.95) / ndtri(0.95))
    return few * float(np.sqrt(losses[here].mean() / losses.mean()))


def asked_over_tried(rule: Adding, asked: Ints, tried: Ints) -> float:
    """The mean loss to expect at the levels that are asked about, over that at the levels of the cells tried."""
    kept, losses = _alone(rule)
    if losses.max(initial=0.0) <= 0:
        return 1.0
    z, expected = losses / losses.mean() - 1, [np.ones(len(asked)), np.ones(len(tried))]
    for k, size in enumerate(rule.cells.shape):
        if k in rule.cells.curves:
            continue
        level = rule.cells.codes[kept, k]
        count, total, squares = (np.bincount(level, w, size) for w in (np.ones(len(z)), z, z**2))
        pairs = float((count * (count - 1)).sum())
        r = float(np.clip((total**2 - squares).sum() / pairs / max(z.var(), 1e-300), 0.0, 1.0)) if pairs else 0.0
        told = 1 + r * total / (1 + np.maximum(count - 1, 0) * r)
        expected = [e * told[codes[:, k]] for e, codes in zip(expected, (asked, tried), strict=True)]
    there, here = (max(float(e.mean()), LEAST) for e in expected)
    return there / here


def _alone(rule: Adding) -> tuple[Ints, Floats]:
    """Seen cells, drawn where there are many, and their squared errors, each left out by itself."""
    kept, surprise = _some(np.flatnonzero(~rule.cells.thin(rule.cells.codes))), rule.surprise
    if not len(kept):
        return kept, np.zeros(0)
    losses = (rule.left_out([kept[[i]] for i in range(len(kept))])[:, 0] - rule.cells.answers[kept]) ** 2
    if rule.cells.weights is not None:  # a level of rows over few cases is no harder than others
        losses = losses * (rule.variance.mean() / np.maximum(rule.variance, 1e-300))
    rule.surprise = surprise
    return kept, losses


def _some(cells: Ints) -> Ints:
    """Cells that are looked at: all, or some drawn."""
    return np.sort(np.random.default_rng(0).choice(cells, MOST, replace=False)) if len(cells) > MOST else cells


def _levels(codes: Ints, curves: Container[int]) -> tuple[list[tuple[int, int]], Floats]:
    """Levels that enough cells have, and enough have not, and which cells have them (levels × cells)."""
    places = [(k, int(level)) for k in range(codes.shape[1]) if k not in curves for level in np.unique(codes[:, k])]
    inside = np.array([codes[:, k] == level for k, level in places], dtype=np.float64).reshape(-1, len(codes))
    judged = (inside.sum(axis=1) >= FEWEST) & (inside.sum(axis=1) <= len(codes) - FEWEST)
    return [place for place, ok in zip(places, judged, strict=True) if ok], inside[judged]


def _by_chance(losses: Floats, inside: Floats) -> float:
    """What the largest excess over all levels stays below if losses are dealt out to the cells anew."""
    here = np.argsort(np.random.default_rng(0).random((DEALT, len(losses))), axis=1)
    return float(np.sort(_excess(losses[here], inside).max(axis=1))[int((1 - CHANCE) * DEALT)])


def _excess(losses: Floats, inside: Floats) -> Floats:
    """How many standard errors the mean loss of each level is above that of all (deals × levels)."""
    counts = inside.sum(axis=1)
    means = losses @ inside.T / counts
    spread = losses.std(axis=1, keepdims=True) / np.sqrt(counts) * np.sqrt(1 - counts / losses.shape[1])
    return np.asarray((means - losses.mean(axis=1, keepdims=True)) / np.maximum(spread, 1e-300))
