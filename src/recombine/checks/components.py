"""Which levels hang together: connected pieces of two factors, groups of levels with determined differences, new
levels.
"""

from __future__ import annotations

import numpy as np

from recombine.checks.design import Additive
from recombine.checks.identifiability import Identifiability
from recombine.space import FactorSpace, Level

MOST_NAMED = 200


def levels_never_seen(known: Identifiability, space: FactorSpace) -> dict[str, list[Level]]:
    """Levels that occur only where they are asked about."""
    return {
        f.name: [(f.levels or ())[int(i)] for i in np.flatnonzero(~seen)]
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
            left.name: [(left.levels or ())[int(i)] for i in np.flatnonzero(forest.piece[: forest.left] == p)],
            right.name: [(right.levels or ())[int(i)] for i in np.flatnonzero(forest.piece[forest.left :] == p)],
        }
        for p in order
    )


def level_groups(known: Identifiability, space: FactorSpace) -> dict[str, list[list[Level]]] | None:
    """Order 1: for each factor the groups of levels within which differences are determined."""
    if not isinstance(known.rows, Additive):
        return None
    groups = known.rows.groups()
    return {
        f.name: [[(f.levels or ())[i] for i in group] for group in found]
        for f, found in zip(space.factors, groups, strict=False)
    }
