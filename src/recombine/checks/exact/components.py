"""Which levels hang together: connected pieces of two factors, groups of levels with determined differences, new
levels.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from recombine.checks.exact.design import Additive
from recombine.checks.exact.identifiability import Identifiability
from recombine.space import Factor, FactorSpace, Level, in_order

MOST_NAMED = 200


def levels_never_seen(known: Identifiability, space: FactorSpace) -> dict[str, list[Level]]:
    """Levels that occur only where they are asked about."""
    return {
        f.name: _named(f, np.flatnonzero(~seen))
        for f, seen in zip(space.factors, known.seen_levels, strict=True)
        if not seen.all()
    }


def connected_components(known: Identifiability, space: FactorSpace) -> tuple[dict[str, list[Level]], ...]:
    """Two factors: the levels of each connected piece, largest first."""
    if not known.graph or not isinstance(known.rows, Additive):
        return ()
    forest = known.rows.forest
    order = np.argsort(-np.bincount(forest.piece), kind="stable")[:MOST_NAMED]
    left, right = space.factors
    return tuple(
        {
            left.name: _named(left, np.flatnonzero(forest.piece[: forest.left] == p)),
            right.name: _named(right, np.flatnonzero(forest.piece[forest.left :] == p)),
        }
        for p in order
    )


def level_groups(known: Identifiability, space: FactorSpace) -> dict[str, list[list[Level]]] | None:
    """Order 1: for each factor the groups of levels within which differences are determined."""
    if not isinstance(known.rows, Additive):
        return None
    groups = known.rows.groups()
    return {f.name: [_named(f, group) for group in found] for f, found in zip(space.factors, groups, strict=False)}


def _named(factor: Factor, codes: Iterable[int]) -> list[Level]:
    levels = [(factor.levels or ())[int(i)] for i in codes]
    return [levels[i] for i in in_order(levels)]
