"""Which level responds to another factor least as the others do?

    (e · c)² / |c|²,    c = what single effects leave of 1[level] · (effects of the factor by their fit)

of every level and every other factor, with e what single effects leave of the answers: the sum of squares that a slope
of the level's own takes away. A level that reverses a factor's effects, or has three times as large ones, differs by
this one number, of which a test of all pairs of levels at once sees little. The fit tells nothing of e, so an F test of
c is exact.

A level whose answers have nothing to do with the others' may have any such slope, 0 too: beside the noise of repeated
rows the same is asked of all that it does with a factor, c = 1[level] · 1[each level of the factor].
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.checks.adds_up.recurring import f_test
from recombine.checks.exact.curves import Curve
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.effects import blocks_of
from recombine.space import FactorSpace, Level, quoted

MOST_WORK = 100_000_000
"""Cells × effects × levels × factors up to which all levels are looked at."""
Place = tuple[int, int, int | None]
"""A factor, the code of its level, and the factor to which that responds; None: to all others."""


@dataclass(frozen=True)
class Odd:
    """A level that responds to another factor, or to all, unlike the other levels."""

    factor: str
    level: str
    responds_to: str | None
    alone: bool = False
    """Whether the others add up as far as repeated rows tell, and it is off by more than all that they leave."""

    @classmethod
    def of(cls, at: Place, names: Sequence[str], levels: Sequence[Sequence[Level]] = (), alone: bool = False) -> Odd:
        k, c, j = at
        return cls(names[k], quoted(levels[k][c]) if levels else str(c), None if j is None else names[j], alone)

    def at(self, space: FactorSpace) -> tuple[int, int]:
        """The place of its factor, and its code."""
        k = space.names.index(self.factor)
        return k, [quoted(level) for level in space.factors[k].levels or ()].index(self.level)

    @property
    def words(self) -> str:
        return f"{self.factor} {self.level} responds to {self.responds_to or 'others'} unlike its other levels"


@dataclass(frozen=True, eq=False)
class Unlike:
    """Where it is, what it does (cells × columns), and of how many it is the one least like the others."""

    at: tuple[int, int, int]
    columns: Floats
    looks: int


def steepest(
    codes: Ints, shape: tuple[int, ...], curves: Mapping[int, Curve], basis: Floats, mean: Floats, root: Floats
) -> Unlike | None:
    """The slope that takes most away, of answers that weigh ``root``²; ``basis`` spans the single effects."""
    levels = _levels(codes, curves)
    if basis.size * sum(map(len, levels.values())) * (len(shape) - 1) > MOST_WORK:
        return None
    left = root * mean - basis @ (basis.T @ (root * mean))
    best, most, looks = None, 0.0, 0
    for j, effect in _effects(codes, shape, curves, mean, root).items():
        for k, seen in levels.items():
            if j == k:
                continue
            columns = np.where(codes[:, k, None] == seen, effect[:, None], 0.0)
            own = root[:, None] * columns
            own -= basis @ (basis.T @ own)
            size = (own**2).sum(axis=0)
            told = size > 1e-9 * (columns**2).sum(axis=0)
            gain = np.where(told, (left @ own) ** 2 / np.where(told, size, 1.0), 0.0)
            looks += int(told.sum())
            if gain.max() > most:
                most, c = float(gain.max()), int(gain.argmax())
                best = (k, int(seen[c]), j), columns[:, [c]]
    return None if best is None else Unlike(*best, looks)


def least_alike(
    codes: Ints, curves: Mapping[int, Curve], basis: Floats, left: Floats, root: Floats, noise: tuple[float, float]
) -> Unlike | None:
    """The level that does least as the others do with a factor, whatever that is, by F beside the noise of rows."""
    levels = _levels(codes, curves)
    pairs = [(k, j) for k, seen in levels.items() if len(seen) > 2 for j in levels if j != k]
    if sum(len(levels[k]) * len(levels[j]) ** 2 for k, j in pairs) * basis.shape[1] > MOST_WORK:
        return None
    best, least, looks = None, 1.0, 0
    for k, j in pairs:
        for c in levels[k]:
            here = np.flatnonzero(codes[:, k] == c)
            own = (codes[here, j, None] == np.unique(codes[here, j])) * root[here, None]
            fitted = own.T @ basis[here]
            sizes, axes = np.linalg.eigh(own.T @ own - fitted @ fitted.T)
            told = sizes > 1e-9 * (own**2).sum(axis=0).max()
            if told.sum() < 2:  # a slope tells as much
                continue
            looks += 1
            gain = float(((axes.T @ (own.T @ left[here]))[told] ** 2 / sizes[told]).sum())
            if (p := f_test(gain, int(told.sum()), *noise)) < least:
                best, least = (k, int(c), j), p
    return None if best is None else Unlike(best, profile(codes, best), looks)


def profile(codes: Ints, at: tuple[int, int, int]) -> Floats:
    """Indicators of all that a level meets of a factor (cells × levels of that)."""
    k, c, j = at
    here = codes[:, k] == c
    return np.asarray(here[:, None] & (codes[:, [j]] == np.unique(codes[here, j])), dtype=np.float64)


def _levels(codes: Ints, curves: Container[int]) -> dict[int, Ints]:
    """The seen levels of each factor that is no number, one of two: they are mirrored."""
    levels = {k: np.unique(codes[:, k]) for k in range(codes.shape[1]) if k not in curves}
    return {k: seen if len(seen) > 2 else seen[:1] for k, seen in levels.items() if len(seen) > 1}


def _effects(
    codes: Ints, shape: tuple[int, ...], curves: Mapping[int, Curve], mean: Floats, root: Floats
) -> dict[int, Floats]:
    """What each factor adds to each cell by least squares, the shortest solution where several fit as well."""
    blocks = blocks_of(codes, shape, 1, curves)
    columns = [np.ones((len(codes), 1)), *(block.columns(codes).toarray() for block in blocks)]
    beta = np.linalg.lstsq(root[:, None] * np.hstack(columns), root * mean, rcond=1e-9)[0]
    parts = np.split(beta, np.cumsum([own.shape[1] for own in columns])[:-1])
    found = dict[int, Floats]()
    for block, own, part in zip(blocks, columns[1:], parts[1:], strict=True):
        found[block.subset[0]] = found.get(block.subset[0], np.zeros(len(codes))) + own @ part
    return found
