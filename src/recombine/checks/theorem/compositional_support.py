"""Compositional support (A2, Def. 2): does training show every value of every block that is asked for?

The definition is about whole blocks; each factor alone is looked at too, because it says where a block is missing.
Listed supports are compared exactly. Of continuous ones, values are drawn from the test support and put into training
points: a hit proves that the value is shown, and no hit among the stated number of tries counts as not shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recombine.checks.theorem._companions import Columns, columns_of, ranges_of
from recombine.errors import InputError
from recombine.space import FactorSpace, Points
from recombine.support import Explicit, Support

TRIES = 256
"""Training points into which each asked value is put."""


@dataclass(frozen=True)
class Marginal:
    """How many of the asked values of one block or factor training shows."""

    name: str
    asked: int
    shown: int
    exact: bool
    """Whether all values were compared, or ``asked`` drawn ones."""
    missing: tuple[tuple[float, ...], ...] = ()
    """Some asked values that training does not show."""
    span: tuple[float, float] | None = None
    """For a single continuous factor, from where to where the values that are not shown lie."""

    @property
    def holds(self) -> bool:
        return self.shown == self.asked


def marginals(
    train: Support, test: Support, names: tuple[str, ...], values: int = 256, seed: int = 0
) -> tuple[tuple[Marginal, ...], tuple[Marginal, ...]]:
    """The blocks, then the factors; ``values`` are drawn where the supports cannot be listed."""
    if train.space != test.space:
        raise InputError("compositional support compares two supports over the same factor space.")
    space = train.space
    blocks = [(name, columns_of(space, k)) for k, name in enumerate(names)]
    factors = [(name, np.array([column])) for column, name in enumerate(space.names)]
    if isinstance(train, Explicit) and isinstance(test, Explicit):
        groups = [[_listed(train, test, *which) for which in group] for group in (blocks, factors)]
    else:
        pool, asked = train.sample(TRIES, seed), test.sample(values, seed + 1)
        groups = [[_drawn(train, pool, asked, *which) for which in group] for group in (blocks, factors)]
    return tuple(groups[0]), tuple(groups[1])


def _listed(train: Explicit, test: Explicit, name: str, columns: Columns) -> Marginal:
    shown = {tuple(row) for row in train.codes[:, columns].tolist()}
    asked = sorted({tuple(row) for row in test.codes[:, columns].tolist()})
    missing = [row for row in asked if row not in shown]
    return Marginal(name, len(asked), len(asked) - len(missing), True, tuple(missing[:8]))


def _drawn(train: Support, pool: Points, asked: Points, name: str, columns: Columns) -> Marginal:
    shown = np.zeros(len(asked), dtype=bool)
    for start in range(0, len(asked), 64):
        some = asked[start : start + 64]
        tried = np.repeat(np.array(pool, dtype=np.float64)[None], len(some), axis=0)
        tried = np.concatenate([tried, _repeated(train.space, some, columns)], axis=1)
        tried[:, :, columns] = some[:, None, columns]
        inside = train.contains(tried.reshape(-1, tried.shape[-1])).reshape(len(some), -1)
        shown[start : start + 64] = inside.any(1)
    missing = asked[~shown][:, columns]
    span = None
    if len(columns) == 1 and len(missing) and ranges_of(train.space)[columns[0]]:
        span = float(missing.min()), float(missing.max())
    return Marginal(name, len(asked), int(shown.sum()), False, tuple(map(tuple, missing[:8].tolist())), span)


def _repeated(space: FactorSpace, asked: Points, columns: Columns) -> NDArray[np.float64]:
    """The asked value in every block alike, where blocks are alike: on a diagonal that is a training point."""
    blocks = [columns_of(space, k) for k in range(len(space.components))]
    mine = next((block for block in blocks if set(columns.tolist()) <= set(block.tolist())), blocks[0])
    made = np.array(asked, dtype=np.float64)
    for block in blocks:
        alike = len(block) == len(mine) and all(
            (space.factors[a].low, space.factors[a].high, space.factors[a].levels)
            == (space.factors[b].low, space.factors[b].high, space.factors[b].levels)
            for a, b in zip(block, mine, strict=True)
        )
        if alike:
            made[:, block] = asked[:, mine]
    return made[:, None]
