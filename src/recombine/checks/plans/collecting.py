"""Prices, bans and purposes for what to collect: from a person's words to the candidates of `advice` and `planning`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from recombine.checks.asked.cells import cells_with, existing, level_code
from recombine.checks.asked.queries_asked import stars
from recombine.checks.columns.blocks import Shifts
from recombine.checks.exact import advice as advising
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.plans.all_ways import until_all
from recombine.checks.plans.outright import not_averaged, outright
from recombine.checks.plans.planned import Plan
from recombine.checks.plans.planning import MOST_CELLS, considered, plan_rows
from recombine.checks.plans.reckoned import every_way
from recombine.checks.rules.effects import LEAST_FREEDOM
from recombine.checks.rules.scales import Scale
from recombine.errors import InputError
from recombine.space import Codes, FactorSpace, Level
from recombine.support.table import Table

Cost = Callable[[dict[str, Level]], float] | Mapping[str, Mapping[Level, float]]

MOST_CANDIDATES = 200_000


@dataclass(frozen=True)
class Purpose:
    """What the rows are collected for: the most for a budget, or an error to reach for every asked answer.

    Examples:
        >>> import recombine as rc
        >>> table = {"a": ["x", "x", "y"], "b": ["u", "v", "u"]}
        >>> result = rc.check(table, factors=["a", "b"], purpose=rc.Purpose(budget=1))
    """

    budget: float | None = None
    error: float | None = None
    criterion: Literal["A", "D"] = "A"
    """A: precise answers to what is asked; D: precise effects."""
    noise: float | None = None
    """Standard deviation of one row; None: estimated from the table's answers where they tell, else the unit."""
    change: Mapping[str, float] | None = None
    """What it costs to change a factor from one row to the next."""


def plan_collection(
    known: Identifiability,
    space: FactorSpace,
    train: Table,
    asked: Codes | None,
    cost: Cost | None,
    forbid: Sequence[Mapping[str, Level]],
    exclude: Sequence[Mapping[str, Level]] = (),
) -> advising.Advice:
    grid = asked is None
    if asked is None and exclude:
        asked = existing(space, exclude)
    elif asked is None:
        if known.grid_rank - known.rank > advising.MOST_DIRECTIONS and not known.graph:
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
    pool = pool[~cells_with(space, pool, (*forbid, *exclude))]
    return advising.advise(known, asked, candidates=pool, costs=_prices(space, pool, cost))


def plan_for(
    known: Identifiability,
    train: Table,
    asked: Codes | None,
    purpose: Purpose,
    cost: Cost | None,
    forbid: Sequence[Mapping[str, Level]],
    exclude: Sequence[Mapping[str, Level]],
    seed: int,
    expected: Forecast | None = None,
    scale: Scale | None = None,
    distinct: bool = False,
    shifts: Shifts | None = None,
    doubted: bool = False,
) -> Plan | None:
    """The rows that serve the purpose best; None where none was named. With ``shifts`` they are in a new block. Rows
    until an error reach it for every class, and on every scale that the seen answers do not tell from ``scale``; on no
    other where effects are ``doubted`` to add up at all."""
    if purpose.budget is None and purpose.error is None:
        return None
    space, target = train.space, train.target
    more = [train.codes, *([] if asked is None else [asked])]
    cells = considered(space, exclude, seed, *more)
    pool = cells[~cells_with(space, cells, forbid)]
    # “pairs” takes noise for interactions where no rows are repeated: what is left around it is too small.
    alone = target is not None and int(target.count.sum()) - int((target.count > 0).sum()) < LEAST_FREEDOM
    adding = expected is None or (expected.rule == "pairs" and known.order == 1 and alone)
    ways = every_way(
        known, target, scale, None if adding else expected, shifts, purpose.error, purpose.noise, doubted=doubted
    )
    whole = None if asked is None and len(pool) == len(cells) else cells if asked is None else asked
    prices = _prices(space, pool, cost)
    plan_of = partial(
        plan_rows, known, space, train.counts, whole, pool, prices, budget=purpose.budget, error=purpose.error,
        criterion=purpose.criterion, change=purpose.change, distinct=distinct, shifts=shifts,
    )  # fmt: skip
    found = plan_of(by=ways[0]) if purpose.error is None else until_all(plan_of, ways)
    plain = scale is None and shifts is None
    if plain and alone and expected is not None and not purpose.noise:
        found = replace(found, caveat=not_averaged(expected, purpose.error, found.after))
    if asked is None and space.size > MOST_CELLS:
        return found
    shared = alone or (expected is not None and expected.shared)
    spared = None if target is None or shared or purpose.noise else target.repeats
    own = purpose.noise or (None if target is None or spared is None else target.scatter)
    wanted = cells if asked is None else asked
    measured = outright(known, wanted, pool, prices, purpose.error, own if plain else None, spared)
    return replace(found, outright=measured)


def _prices(space: FactorSpace, pool: Codes, cost: Cost | None) -> Floats:
    if cost is None:
        return np.ones(len(pool))
    if callable(cost):
        prices = np.array([float(cost(record)) for record in space.decode(pool)])
    else:
        added = []
        for name, levels in cost.items():
            factor = space[name]
            table = np.full(len(factor), np.nan)
            for level, price in levels.items():
                table[level_code(space, name, level)] = price
            added.append(table[pool[:, space.position(name)]])
        told = np.array(added)
        # A combination none of whose levels has a price costs what a row costs without prices.
        prices = np.where(np.isnan(told).all(axis=0), 1.0, np.nansum(told, axis=0))
    if not (np.isfinite(prices) & (prices >= 0)).all():
        raise InputError("the cost of a combination must be a finite number, 0 or more.")
    return prices
