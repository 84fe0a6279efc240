"""Prices and bans for what to collect: from a person's words to the candidates of `advice`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from recombine.checks import advice as advising
from recombine.checks.cells import cells_with, level_code
from recombine.checks.identifiability import Identifiability
from recombine.checks.modular import Floats
from recombine.checks.queries_asked import stars
from recombine.errors import InputError
from recombine.space import Codes, FactorSpace, Level
from recombine.support.table import Table

Cost = Callable[[dict[str, Level]], float] | Mapping[str, Mapping[Level, float]]

MOST_CANDIDATES = 200_000


def plan_collection(
    known: Identifiability,
    space: FactorSpace,
    train: Table,
    asked: Codes | None,
    cost: Cost | None,
    forbid: Sequence[Mapping[str, Level]],
) -> advising.Advice:
    grid = asked is None
    if asked is None:
        if known.grid_rank - known.rank > advising.MOST_DIRECTIONS and len(known.shape) != 2:
            more = known.grid_rank - known.rank
            word = "rank of the grid minus rank of training; too many to list"
            return advising.Advice.number_only(train.codes[:0], more, word)
        asked = stars(known, train.counts)
    if cost is None and not forbid:
        return advising.advise(known, asked)
    if space.size <= MOST_CANDIDATES:
        pool = space.grid()
        pool = pool[~known.members.contains(pool)]
    elif grid:
        raise InputError(
            f"costs and forbidden cells need the grid to be listed; {space.size:.3g} combinations are too many."
        )
    else:
        pool = asked
    pool = pool[~cells_with(space, pool, forbid)]
    return advising.advise(known, asked, candidates=pool, costs=_prices(space, pool, cost))


def _prices(space: FactorSpace, pool: Codes, cost: Cost | None) -> Floats:
    if cost is None:
        return np.ones(len(pool))
    if callable(cost):
        prices = np.array([float(cost(record)) for record in space.decode(pool)])
    else:
        prices = np.zeros(len(pool))
        for name, levels in cost.items():
            factor = space[name]
            table = np.zeros(len(factor))
            for level, price in levels.items():
                table[level_code(space, name, level)] = price
            prices += table[pool[:, space.position(name)]]
    if not (np.isfinite(prices) & (prices >= 0)).all():
        raise InputError("the cost of a combination must be a finite number, 0 or more.")
    return prices
