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
from recombine.checks.plans.chances import Chances
from recombine.checks.plans.outright import not_averaged, outright
from recombine.checks.plans.planned import Plan, Units
from recombine.checks.plans.planning import MOST_CELLS, considered, plan_rows
from recombine.checks.plans.translated import Translated
from recombine.checks.rules.effects import LEAST_FREEDOM
from recombine.checks.rules.scales import Scale, scaled
from recombine.errors import InputError
from recombine.space import Codes, FactorSpace, Level
from recombine.support.table import Table, Target

Cost = Callable[[dict[str, Level]], float] | Mapping[str, Mapping[Level, float]]

MOST_CANDIDATES = 200_000
LARGEST_FIT = 30_000_000
"""Combinations × effects up to which the noise of one row is estimated."""

NO_STEPS = "on a rank scale nothing tells what a standard error is in the answer's units, least so beyond the seen ones"
"""Why an error in the answer's units is not planned for."""


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
) -> Plan | None:
    """The rows that serve the purpose best; None where none was named. With ``shifts`` they are in a new block. The
    noise of one row is that around the rule which the forecast recommends. On a log ``scale`` noise and errors are
    shares of the answer, on others the noise is the unit; an error to reach is in the answer's units on either."""
    if purpose.budget is None and purpose.error is None:
        return None
    space = train.space
    more = [train.codes, *([] if asked is None else [asked])]
    cells = considered(space, exclude, seed, *more)
    pool = cells[~cells_with(space, cells, forbid)]
    # “pairs” takes noise for interactions where no rows are repeated: what is left around it is too small.
    target = train.target
    alone = target is not None and int(target.count.sum()) - int((target.count > 0).sum()) < LEAST_FREEDOM
    adding = expected is None or (expected.rule == "pairs" and known.order == 1 and alone)
    left, freedom = _noise(known, target) if adding or expected is None else (expected.noise, expected.noise_freedom)
    units: Units = "answer"
    noise, typical, unit, untold = purpose.noise or left, None, 1.0, ""
    translated: Translated | Chances | None = None
    if purpose.error is not None and target is not None and target.classes is not None:
        _refuse_classes(known, target.classes, purpose)
        translated, units, noise = Chances.of(known, target), "chance", 1.0
    elif not noise:
        units = "noise"
    elif scale is not None and shifts is not None and purpose.error is not None:
        raise InputError(
            f"the effects add up on a {scale.name} scale, shifts of {shifts.name} in the answer's own units: no rows "
            "are planned until an error; give a budget instead."
        )
    elif scale is not None and scale.steepest is None and purpose.error is not None:
        untold = NO_STEPS
    elif scale is not None and target is not None and (purpose.error is not None or scale.name == "log"):
        there = scaled(target, scale)
        typical = _step(there, scale)
        share, free = (None, None) if purpose.noise else _noise(known, there)
        noise, freedom = (share, free) if share else (noise / typical, freedom)
        if purpose.error is not None:
            sure = None if purpose.noise else freedom
            translated = Translated(known, there, scale, noise, sure, purpose.error)
        else:
            unit, units = typical, "share"
    elif scale is not None:
        unit, noise, left, units = noise, None, None, "noise"
    rule = None if purpose.noise or not left else "additive" if adding or expected is None else expected.rule
    freedom = None if rule is None or freedom is None else max(freedom - (0 if shifts is None else shifts.lost), 1.0)
    whole = None if asked is None and len(pool) == len(cells) else cells if asked is None else asked
    prices = _prices(space, pool, cost)
    plan_of = partial(
        plan_rows, known, space, train.counts, whole, pool, prices, budget=purpose.budget, error=purpose.error,
        criterion=purpose.criterion, noise=noise or 1.0, rule=rule, change=purpose.change,
        scale=None if scale is None else scale.name, typical=typical, translated=translated, untold=untold,
        distinct=distinct, shifts=shifts, unit=unit, units=units,
    )  # fmt: skip
    until = purpose.error is not None and freedom is not None
    found = _until(plan_of, freedom) if until else plan_of(freedom=freedom)
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


def _refuse_classes(known: Identifiability, classes: Sequence[str], purpose: Purpose) -> None:
    """An error where no error in the chance of a class can be planned for."""
    if len(classes) != 2:
        have = f"here {'is' if len(classes) == 1 else 'are'} {len(classes)}"
        raise InputError(
            f"rows until an error are planned for answers of two classes, and {have}: give a budget, or a column that "
            "says yes or no of one class."
        )
    if len(known.codes) * known.rank > LARGEST_FIT:
        raise InputError("the table is too large to plan for an error in the chance of a class; give a budget.")
    if purpose.noise is not None:
        raise InputError("the noise of a class follows from its chance; leave the noise out.")
    if purpose.error is not None and purpose.error >= 0.5:
        raise InputError(f"the error to reach is {purpose.error:g}, in the chance of a class; give less than 0.5.")


def _until(plan_of: Callable[..., Plan], freedom: float | None) -> Plan:
    """Rows until an error also with the most that the noise may be, and how few would do with what it was estimated
    to be; these, where no rows do with more."""
    few = plan_of()
    if few.floor is not None or not few.enough:
        return replace(few, freedom=freedom)
    sure = plan_of(freedom=freedom)
    if sure.floor is not None or not sure.enough:
        return replace(few, freedom=freedom, unsure=True)
    return replace(sure, as_estimated=len(few.cells))


def _step(there: Target, scale: Scale) -> float:
    """How far a small step on the scale moves an answer in the middle of the seen ones: on a log scale the answer."""
    middle, small = float(np.average(there.mean, weights=there.count)), 1e-3
    return float(scale.back(np.array(middle + small)) - scale.back(np.array(middle - small))) / (2 * small)


def _noise(known: Identifiability, target: Target | None) -> tuple[float | None, float | None]:
    """The standard deviation of one row around the fit, and its degrees of freedom, where the table has answers enough
    to tell."""
    large = len(known.codes) * known.rank > LARGEST_FIT
    if target is None or target.classes is not None or int(target.count.sum()) - known.rank < LEAST_FREEDOM or large:
        return None, None
    freedom = int(target.count.sum()) - known.rank
    x = known.rows.floats(known.codes)
    root = np.sqrt(target.count)
    fit = x @ np.linalg.lstsq(x * root[:, None], target.mean * root, rcond=None)[0]
    left = float((target.count * (target.mean - fit) ** 2).sum() + target.spread.sum())
    scale = float((target.count * target.mean**2).sum()) + 1e-300
    return (float(np.sqrt(left / freedom)), freedom) if left > 1e-18 * scale else (None, None)


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
