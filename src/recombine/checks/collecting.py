"""Prices and bans for what to collect: from a person's words to the candidates of `advice`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from recombine.checks import advice as advising
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
    for record in forbid:
        matches = np.ones(len(pool), dtype=bool)
        for name, level in record.items():
            matches &= pool[:, space.position(name)] == _code(space, name, level)
        pool = pool[~matches]
    return advising.advise(known, asked, candidates=pool, costs=_prices(space, pool, cost))


def _code(space: FactorSpace, name: str, level: Level) -> int:
    """The code of a level, also where a command line could only give it as text."""
    factor = space[name]
    same_text = [i for i, known in enumerate(factor.levels or ()) if str(known).lower() == str(level).lower()]
    return same_text[0] if len(same_text) == 1 else factor.code(level)


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
                table[factor.code(level)] = price
            prices += table[pool[:, space.position(name)]]
    if not (np.isfinite(prices) & (prices >= 0)).all():
        raise InputError("the cost of a combination must be a finite number, 0 or more.")
    return prices
