"""Which rows to collect: the best for a budget, or the fewest for a precision."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recombine.checks.asked.cells import cells_with
from recombine.checks.exact.advice import Advice, advise
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.plans.chances import Chances
from recombine.checks.plans.noise import times_off
from recombine.checks.plans.optimal import Choice, choose, floor, until
from recombine.checks.plans.planned import Plan, repeats_in
from recombine.checks.plans.reckoned import Reckoned
from recombine.checks.plans.uneven import Scattered, Uneven
from recombine.checks.plans.visiting import visiting_order
from recombine.errors import InputError, NoPlan
from recombine.space import Codes, FactorSpace, Level

if TYPE_CHECKING:
    from recombine.checks.columns.blocks import Shifts

MOST_CELLS = 20_000
"""Cells that are considered, to be collected or to be answered; of a larger grid, a sample."""
MOST_EFFECTS = 1_000
MOST_ROWS = 5_000
ROUNDS, LESS = 20, 0.97
"""Times that rows are planned anew where they scatter unlike, and how much less for each time than seems to do."""
NEARLY = 1 + 1e-6
"""Above what is to be reached by so little is reached."""
AS_IT_IS = Reckoned()


def plan_rows(
    known: Identifiability,
    space: FactorSpace,
    counts: Ints | Floats,
    asked: Codes | None,
    pool: Codes,
    prices: Floats,
    *,
    budget: float | None = None,
    error: float | None = None,
    criterion: str = "A",
    change: Mapping[str, float] | None = None,
    distinct: bool = False,
    shifts: Shifts | None = None,
    by: Reckoned = AS_IT_IS,
    first: Codes | None = None,
) -> Plan:
    """The rows of ``pool`` that are worth most for ``budget`` (their prices add up to it), or rows until every asked
    standard error is at most ``error``; ``asked`` None: every cell of the pool. ``distinct``: no row is repeated before
    every asked cell is seen or in the plan (where effects do not add up, a row tells of its own cell alone). Errors are
    those inside the seen range of numbers: how far a line or curve goes on is no matter of noise. They are reckoned
    ``by`` a noise and a scale; where that does not tell what is asked for, only what determines the asked answers is
    planned. With ``shifts`` of blocks the rows are all in one new block. With a noise that was estimated rows until an
    error are planned on the most that this allows, those of ``first`` before any others."""
    _refuse(budget, error, criterion, prices, by.noise)
    noise, translated, typical, untold = by.noise, by.translated, by.typical, by.untold
    grid = asked is None
    asked = pool if asked is None else asked
    needed, whole = _determining(known, asked, pool, prices)
    inside = whole.rows.contains(pool)
    pool, prices = pool[inside], prices[inside]
    asked = asked[whole.rows.contains(asked)]
    far = known.beyond(asked) if known.curves else np.zeros(len(asked), dtype=bool)
    told = asked if far.all() else asked[~far]
    x, ask = features(whole, pool), features(whole, told)
    begin = _places(pool, needed.cells)
    if isinstance(translated, Chances):  # rows of unlike chances tell unlike much
        x, counts = x * np.sqrt(translated.worth(pool))[:, None], counts * translated.worth(known.codes)
    if shifts is None:
        before, now = _information(known, counts, x.shape[1], whole), ask
    else:
        before, x, now, ask = shifts.with_a_new(lambda codes: features(whole, codes), known, x, ask)
        _few(x.shape[1])
        begin = begin if untold and not len(begin) else np.concatenate([begin, _tie(known, pool, error, shifts)])
    first = first if first is not None and len(first) else None
    begin = begin if first is None else _places(pool, first)  # they begin with the same
    if translated is not None and len(told):
        sizes = translated.sizes(told)
        untold = _untold(int(np.isinf(sizes).sum())) if np.isinf(sizes).any() else ""
        if not untold:
            typical = float(np.sqrt((sizes**2).mean()))
            now, ask = now * sizes[:, None], ask * sizes[:, None]
    nothing = np.zeros(0, dtype=np.int64)
    start = choose(before, x[:0], now, np.ones(0), 0, first=nothing) if known.rank == whole.rank else None
    fresh = _fresh(known, pool, asked) if distinct else None
    scattered = None if by.uneven is None else _scattered(by.uneven, known, counts, whole, before, x, pool, ask, shifts)
    start = start if scattered is None or start is None else replace(scattered, asked=now).judged(start)
    fewest, lowest, bound = None, None, 0.0
    if untold:
        chosen, enough = choose(before, x, ask, np.ones(len(x)), len(begin), first=begin), False
    elif error is not None:
        most = (error / (noise * times_off(by.freedom)[1])) ** 2
        here = start if first is None else None
        chosen, fewest, lowest = _reaching(most, before, x, ask, here, begin, fresh, scattered)
        enough = needed.enough and chosen.worst <= most * NEARLY
    else:
        chosen = _spending(float(budget or 0), before, x, ask, prices, criterion, begin, grid or bool(shifts), fresh)
        enough = needed.enough and bool(np.isfinite(chosen.mean))
        bound = math.sqrt(chosen.bound) * noise if criterion == "A" else 0.0
    cells = pool[chosen.rows]
    if shifts is not None and len(cells) == 1:
        raise NoPlan(f"one row alone on a new {shifts.name} tells nothing of the factors; plan two or more.")
    order, path, least = _visits(space, cells, change)
    none = bool(untold) or (len(far) > 0 and bool(far.all()))
    ends = (math.inf if start is None else start.mean, chosen.mean, chosen.worst)
    was, then, worst = (None if none else _error(v, noise) for v in ends)
    more = (0, 1 if len(cells) else 0)
    off = [0.0, 0.0] if shifts is None else [shifts.new_row(shifts.blocks + n) / by.unit for n in more]
    return Plan(
        cells[order], prices[chosen.rows][order], was, then, worst, bound, fewest, enough, noise, by.rule, path, least,
        known.assumes(space.names, by.scale), by.scale, typical, far=int(far.sum()),
        left=known.still_beyond(asked, cells),
        repeats=repeats_in(cells[order], known.members.contains(cells[order]).tolist()),
        block=None if shifts is None else shifts.name, shift=(off[0], off[1]),
        floor=None if lowest is None else _error(lowest, noise), freedom=by.freedom, units=by.units, untold=untold,
        uneven=None if by.uneven is None else by.uneven.ends(noise),
    )  # fmt: skip


def _determining(known: Identifiability, asked: Codes, pool: Codes, prices: Floats) -> tuple[Advice, Identifiability]:
    """The fewest rows of the pool that determine what is asked, and what is known with them."""
    needed = advise(known, asked, candidates=pool, costs=prices)
    if not needed.listed:
        raise NoPlan("too much is undetermined for a plan; ask about fewer combinations.")
    return needed, known.with_rows(needed.cells) if len(needed.cells) else known


def _untold(few: int) -> str:
    """Why an error on a log scale or on log-odds is none of an answer of which nothing is known yet."""
    which = "one asked combination is" if few == 1 else f"{few:,} asked combinations are"
    return f"{which} not determined yet, and how large an answer is decides what a standard error on the scale is worth"


def _tie(known: Identifiability, pool: Codes, error: float | None, shifts: Shifts) -> Ints:
    """The row that ties a new block to the others: one whose answer is determined already, where there is any."""
    ties = np.flatnonzero(known.rows.contains(pool))
    if error is not None and not len(ties):
        raise NoPlan(
            f"to reach an error with rows on a new {shifts.name}, one of the combinations that can be collected "
            "must be determined already; give a budget instead."
        )
    return ties[:1]


def _spending(
    total: float, before: Floats, x: Floats, ask: Floats, prices: Floats, criterion: str, first: Ints, free: bool,
    fresh: NDArray[np.bool_] | None,
) -> Choice:  # fmt: skip
    """The rows that are worth most for a price; ``free``: not with those that determine what is asked, if others do."""
    chosen = choose(before, x, ask, prices, total, criterion, None if free else first, fresh)
    return chosen if np.isfinite(chosen.mean) else choose(before, x, ask, prices, total, criterion, first, fresh)


def _visits(space: FactorSpace, cells: Codes, change: Mapping[str, float] | None) -> tuple[Ints, float, float]:
    """In which order to visit the rows, what the changes of factors cost in it, and at least in any."""
    for name in change or {}:
        space.position(name)
    if not change:
        return np.arange(len(cells)), 0.0, 0.0
    return visiting_order(cells, [float(change.get(name, 0.0)) for name in space.names])


def _fresh(known: Identifiability, pool: Codes, asked: Codes) -> NDArray[np.bool_]:
    """Which rows of the pool are asked about and were never seen."""
    wanted = {tuple(row) for row in asked.tolist()}
    return np.array([tuple(row) in wanted for row in pool.tolist()], dtype=bool) & ~known.members.contains(pool)


def _scattered(
    uneven: Uneven, known: Identifiability, counts: Ints | Floats, whole: Identifiability, before: Floats, x: Floats,
    pool: Codes, ask: Floats, shifts: Shifts | None,
) -> Scattered:  # fmt: skip
    """What rows of the pool give where they scatter unlike."""
    if shifts is None:
        seen = uneven.of_rows(known.codes)
        noisy, told = (_information(known, counts * v, x.shape[1], whole) for v in (seen, 1 / seen))
    else:
        seen = uneven.of_rows(shifts.codes)
        noisy, told = (shifts.information(lambda codes: features(whole, codes), known, v) for v in (seen, 1 / seen))
    return Scattered(before, noisy, told, x, uneven.of_rows(pool), ask)


def _reaching(
    most: float, before: Floats, x: Floats, ask: Floats, start: Choice | None, first: Ints,
    fresh: NDArray[np.bool_] | None, scattered: Scattered | None = None,
) -> tuple[Choice, int, float | None]:  # fmt: skip
    """Rows until no asked variance is above ``most``, how few could do; and the least that can be had, where that is
    above it: then no rows beyond the first are planned. Where rows scatter unlike (``scattered``) they are chosen as if
    alike, for less and less until it is reached."""
    one = np.ones(len(x))
    if start is not None and start.worst <= most * NEARLY:
        return start, 0, None
    least = float(floor(before, x, ask).max(initial=0.0))
    if scattered is not None:
        least = max(least, float(floor(*scattered.weighted, ask).max(initial=0.0)))
    if least > most * NEARLY:
        return start or choose(before, x, ask, one, len(first), first=first), 0, least
    if scattered is None:
        rows, fewest = until(before, x, ask, most, MOST_ROWS, first, fresh)
        return choose(before, x, ask, one, len(rows), first=rows), fewest, None
    goal, rows = most, first
    for _ in range(ROUNDS):
        rows, _ = until(before, x, ask, goal, MOST_ROWS, rows, fresh, bounded=False)
        chosen = scattered.judged(choose(before, x, ask, one, len(rows), first=rows))
        if chosen.worst <= most * NEARLY or len(rows) >= MOST_ROWS:
            break
        goal *= LESS * most / chosen.worst
    return chosen, until(*scattered.weighted, ask, most, MOST_ROWS, first, fresh)[1], None


def _refuse(budget: float | None, error: float | None, criterion: str, prices: Floats, noise: float) -> None:
    if (budget is None) == (error is None):
        raise InputError("give either a budget or an error to reach, not both.")
    if budget is not None and not 1 <= budget <= MOST_ROWS * max(1.0, float(prices.max(initial=1.0))):
        raise InputError(f"the budget is {budget:g}; give 1 … {MOST_ROWS:,} rows (or their price).")
    if error is not None and not (math.isfinite(error) and error > 0):
        raise InputError(f"the error to reach is {error:g}; give a number above 0.")
    if criterion not in ("A", "D"):
        raise InputError(f"the criterion is {criterion!r}; give A (precise answers) or D (precise effects).")
    if budget is not None and not (prices > 0).all():
        raise InputError("with a budget every combination needs a price above 0; price a level of each.")
    if not (math.isfinite(noise) and noise > 0):
        raise InputError(f"the noise of one row is {noise:g}; give a number above 0.")


def _error(variance: float, noise: float) -> float | None:
    return math.sqrt(variance) * noise if math.isfinite(variance) else None


def features(known: Identifiability, codes: Codes) -> Floats:
    _few(known.rows.rows(codes[:1]).shape[1])
    return known.rows.floats(codes)


def _few(effects: int) -> None:
    if effects > MOST_EFFECTS:
        raise NoPlan(f"a plan is made for up to {MOST_EFFECTS:,} effects; here are {effects:,}.")


def _information(known: Identifiability, counts: Ints | Floats, size: int, whole: Identifiability) -> Floats:
    total = np.zeros((size, size))
    for start in range(0, len(known.codes), 20_000):
        x = features(whole, known.codes[start : start + 20_000])
        total += (x * counts[start : start + 20_000, None]).T @ x
    return total


def _places(pool: Codes, cells: Codes) -> Ints:
    where = {tuple(row): i for i, row in enumerate(pool.tolist())}
    return np.array([where[tuple(row)] for row in cells.tolist()], dtype=np.int64)


def considered(space: FactorSpace, exclude: Sequence[Mapping[str, Level]], seed: int, *more: Codes) -> Codes:
    """The cells of the grid that exist; of a large grid a sample, and ``more`` besides."""
    if space.size <= MOST_CELLS:
        cells = space.grid()
    else:
        sample = space.sample(MOST_CELLS, seed)
        cells = np.unique(np.vstack([np.asarray(m, dtype=np.int64)[:MOST_CELLS] for m in (sample, *more)]), axis=0)
    cells = cells[~cells_with(space, cells, exclude)]
    if not len(cells):
        raise InputError("every combination is excluded.")
    return np.asarray(cells)
