"""A corner of the grid that nothing seen reaches: the asked combinations are of A′ × B′, and no seen one is; or they
lie behind a staircase, where no seen one is as far out in both factors at once; or, with other holes around, many of
them are of levels that never met.

Every cell that can be left out to try a forecast then lies outside of it, so that no seen row tells whether levels that
never met act together where they meet: all high doses of two drugs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.exact.tables import two_way
from recombine.checks.holes.never_met import Block, log_choose, never_met
from recombine.checks.holes.rare import log_chance_if_rare
from recombine.space import FactorSpace

CHANCE, WHOLE = 0.01, 0.04
"""How often as many holes, placed at random, may leave as large a corner by chance, over all pairs of factors; and one
that holds all that is asked. The first is strict since levels that were run less often leave corners too."""
BEHIND = 1 / 3
"""Share of what is forecast that lies behind a staircase, or in a block of levels that never met, at least."""
MOST_STEPS = 30
"""Cells behind a staircase up to which its shapes are counted one by one."""
MOST_PAIRS = 1_000_000
"""Pairs of levels of two factors up to which a staircase is looked for."""


@dataclass(frozen=True, eq=False)
class Staircase:
    """Where no seen cell is as far out in both factors."""

    factors: tuple[int, int]
    ends: tuple[str, str] | None
    """Of numbers, which of them are far out: "high" or "low"; None: of names, far out are those seen with fewest."""
    behind: NDArray[np.bool_]
    """Which asked cells are."""


def corner(known: Identifiability, asked: Ints, space: FactorSpace) -> tuple[tuple[int, Ints], ...]:
    """Two factors, by place, and two or more levels of each (codes) that all asked cells have and no seen one; none
    where there is no such pair, or chance would leave one. Numbers are left out: of these each value may be new."""
    held = [(k, np.unique(asked[:, k])) for k in range(len(space)) if k not in known.curves] if len(asked) else []
    inside = {}
    for k, levels in held:
        there = np.isin(np.arange(len(space.factors[k])), levels)[known.codes[:, k]]
        if len(levels) > 1 and not there.all():  # a level that is asked with all of another factor was seen with one
            inside[k] = levels, there
    pairs = math.comb(len(space), 2)
    for (k, first), (m, second) in combinations(inside.items(), 2):
        if not (first[1] & second[1]).any() and _in_one_block(known, asked, k, m) < WHOLE / pairs:
            return (k, first[0]), (m, second[0])
    return ()


def _in_one_block(known: Identifiability, asked: Ints, k: int, m: int) -> float:
    """At most how often as many asked pairs of levels, drawn from as many holes placed at random, lie in one block of
    this shape without a seen pair."""
    shape = known.shape[k], known.shape[m]
    seen, drawn = (len(np.unique(cells[:, [k, m]], axis=0)) for cells in (known.codes, asked))
    size = [len(np.unique(asked[:, factor])) for factor in (k, m)]
    cells, block = math.prod(shape), math.prod(size)
    holes = cells - seen
    ways = sum(log_choose(n, some) for n, some in zip(shape, size, strict=True)) + log_choose(block, drawn)
    empty = log_choose(cells - block, holes - block) - log_choose(cells - drawn, holes - drawn)
    return math.exp(min(ways - log_choose(cells, drawn) + empty, 0.0))


def staircase(known: Identifiability, counts: Ints, asked: Ints, space: FactorSpace) -> Staircase | None:
    """Two factors whose unseen pairs of levels begin at a staircase, further out than chance would put as many holes,
    and than rare levels leave them, if many asked cells lie behind it. Of two factors that are numbers the order is
    that of the numbers, up or down; of others there is one only if every unseen pair lies behind it."""
    chance = CHANCE / math.comb(len(space), 2)
    for (k, m), rows in pairs_of(known, counts, asked, space):
        seen = rows > 0
        values = [_numbers(space, factor) for factor in (k, m)]
        met = np.logical_and.outer(seen.any(axis=1), seen.any(axis=0))  # a value between seen ones is in no corner
        for ends, orders in _orders(seen, values):
            behind = _unreached(seen, *orders) & met
            there = behind[asked[:, k], asked[:, m]]
            several = min(behind.any(axis=0).sum(), behind.any(axis=1).sum()) > 1
            if not several or there.mean() < BEHIND or (ends is None and (behind | seen).sum() < seen.size):
                continue
            size, ordered = int(behind.sum()), ends is not None
            if _by_chance(size, int((~seen).sum()), seen.shape, ordered) >= chance:
                continue
            if _log_ways(size, seen.shape, ordered) + log_chance_if_rare(rows, behind) < math.log(chance):
                return Staircase((k, m), ends, there)
    return None


def apart(known: Identifiability, counts: Ints, asked: Ints, space: FactorSpace) -> tuple[tuple[int, Ints], ...]:
    """Two factors, by place, and levels of each (codes) that never met, more than chance would leave among other
    holes, and than rare levels do; none where few asked cells are of them. Two numbers are left to `staircase`."""
    chance = CHANCE / math.comb(len(space), 2)
    for (k, m), rows in pairs_of_names(known, counts, asked, space):
        if (block := never_met(rows > 0, chance)) is None:
            continue
        held = (k, block.rows), (m, block.columns)
        if of_levels(held, asked).mean() >= BEHIND and log_chance_of(rows, block) < math.log(chance):
            return held
    return ()


def log_chance_of(rows: Floats, block: Block) -> float:
    """The log of how many blocks of this shape rare levels alone would leave, on average."""
    empty = np.zeros(rows.shape, dtype=bool)
    empty[np.ix_(block.rows, block.columns)] = True
    sizes = zip(rows.shape, (len(block.rows), len(block.columns)), strict=True)
    return float(sum(log_choose(n, some) for n, some in sizes)) + log_chance_if_rare(rows, empty)


def of_levels(held: tuple[tuple[int, Ints], ...], asked: Ints) -> NDArray[np.bool_]:
    """Which asked cells are of these levels."""
    inside: NDArray[np.bool_] = np.all([np.isin(asked[:, k], levels) for k, levels in held], axis=0)
    return inside


def pairs_of(
    known: Identifiability, counts: Ints, asked: Ints, space: FactorSpace
) -> Iterator[tuple[tuple[int, int], Floats]]:
    """Pairs of factors, and how many rows have each pair of their levels."""
    for k, m in combinations(range(len(space)), 2) if len(asked) else ():
        shape = known.shape[k], known.shape[m]
        if math.prod(shape) > min(MOST_PAIRS, len(known.codes) ** 2 / 2):  # of numbers, nearly each row has its own
            continue
        yield (k, m), two_way(known.codes, counts, k, m, known.shape)


def pairs_of_names(
    known: Identifiability, counts: Ints, asked: Ints, space: FactorSpace
) -> Iterator[tuple[tuple[int, int], Floats]]:
    """The same without curves, and where not both are numbers."""
    for (k, m), rows in pairs_of(known, counts, asked, space):
        if not {k, m} & {*known.curves} and any(_numbers(space, factor) is None for factor in (k, m)):
            yield (k, m), rows


def _numbers(space: FactorSpace, k: int) -> NDArray[Any] | None:
    levels = space.factors[k].levels or ()
    told = all(isinstance(level, (int, float)) and not isinstance(level, bool) for level in levels)
    return np.array(levels, dtype=np.float64) if told else None


def _orders(
    seen: NDArray[np.bool_], values: list[NDArray[Any] | None]
) -> Iterator[tuple[tuple[str, str] | None, tuple[Ints, Ints]]]:
    """Levels of both factors from the nearest to the furthest out."""
    first, second = values
    if first is None or second is None:
        yield None, (np.argsort(-seen.sum(axis=1), kind="stable"), np.argsort(-seen.sum(axis=0), kind="stable"))
        return
    for up in (1, -1):
        for also in (1, -1):
            ends = "high" if up > 0 else "low", "high" if also > 0 else "low"
            yield ends, (np.argsort(up * first), np.argsort(also * second))


def _unreached(seen: NDArray[np.bool_], rows: Ints, columns: Ints) -> NDArray[np.bool_]:
    """Pairs of levels that no seen pair is as far out as, in both."""
    ordered = seen[np.ix_(rows, columns)][::-1, ::-1]
    reached = np.logical_or.accumulate(np.logical_or.accumulate(ordered, axis=0), axis=1)[::-1, ::-1]
    found = np.zeros_like(seen)
    found[np.ix_(rows, columns)] = ~reached
    return found


def _by_chance(behind: int, holes: int, shape: tuple[int, ...], ordered: bool) -> float:
    """At most how often so many holes, placed at random, leave so many pairs behind some staircase: the number of these
    times the chance that one is all holes."""
    cells = math.prod(shape)
    one = log_choose(cells - behind, holes - behind) - log_choose(cells, holes)
    return math.exp(min(_log_ways(behind, shape, ordered) + one, 0.0))


def _log_ways(behind: int, shape: tuple[int, ...], ordered: bool) -> float:
    """The log of the number of staircases with so many pairs behind them, at most."""
    ways = math.log(4.0) if ordered else sum(math.lgamma(n + 1) for n in shape)
    if behind > MOST_STEPS:  # there are no more shapes than this (Hardy and Ramanujan 1918)
        ways += math.pi * math.sqrt(2 * behind / 3)
    elif ordered:
        ways += math.log(max(sum(1 for _ in _steps(behind, *shape)), 1))
    else:
        ways = math.log(max(sum(_placed(steps, *shape) for steps in _steps(behind, *shape)), 1))
    return ways


def _steps(cells: int, rows: int, most: int, least: int = 2) -> Iterator[tuple[int, ...]]:
    """Staircases of so many cells: the lengths of their rows, none longer than the one before, at least ``least`` rows
    and, of the first of two or more, columns."""
    if cells == 0:
        if least <= 0:
            yield ()
        return
    for first in range(min(cells, most), 0 if least < 2 else 1, -1):
        if first * rows >= cells:
            for rest in _steps(cells - first, rows - 1, first, least - 1):
                yield (first, *rest)


def _placed(steps: tuple[int, ...], rows: int, columns: int) -> int:
    """In how many ways named levels make it: nothing tells apart those in rows, or columns, of the same length."""
    across = [sum(length > j for length in steps) for j in range(columns)]
    down = [*steps, *[0] * (rows - len(steps))]
    return math.prod(
        math.factorial(len(of)) // math.prod(math.factorial(n) for n in Counter(of).values()) for of in (down, across)
    )
