"""Which level responds to another factor least as the others do?

    (e · c)² / |c|²,    c = what single effects leave of 1[level] · (effects of the factor by their fit)

of every level and every other factor, with e what single effects leave of the answers: the sum of squares that a slope
of the level's own takes away. A level that reverses a factor's effects, or has three times as large ones, differs by
this one number, of which a test of all pairs of levels at once sees little. The fit tells nothing of e, so an F test of
c is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.checks.curves import Curve
from recombine.checks.effects import blocks_of
from recombine.checks.modular import Floats, Ints
from recombine.space import Level, quoted

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

    @classmethod
    def of(cls, at: Place, names: Sequence[str], levels: Sequence[Sequence[Level]] = ()) -> Odd:
        k, c, j = at
        return cls(names[k], quoted(levels[k][c]) if levels else str(c), None if j is None else names[j])

    @property
    def words(self) -> str:
        return f"{self.factor} {self.level} responds to {self.responds_to or 'others'} unlike its other levels"


@dataclass(frozen=True, eq=False)
class Slope:
    """Where it is, the effects that it is a slope of, and how many it is the steepest of."""

    at: Place
    column: Floats
    looks: int


def steepest(
    codes: Ints, shape: tuple[int, ...], curves: Mapping[int, Curve], basis: Floats, mean: Floats, root: Floats
) -> Slope | None:
    """The slope that takes most away, of answers that weigh ``root``²; ``basis`` spans the single effects."""
    levels = {k: np.unique(codes[:, k]) for k in range(len(shape)) if k not in curves}
    levels = {k: seen if len(seen) > 2 else seen[:1] for k, seen in levels.items() if len(seen) > 1}  # two are mirrored
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
                best = (k, int(seen[c]), j), columns[:, c]
    return None if best is None else Slope(*best, looks)


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
