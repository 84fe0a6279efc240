"""A corner of the grid that nothing seen reaches: the asked combinations are of A′ × B′, and no seen one is; or they
lie behind a staircase, where no seen one is as far out in both factors at once; or, with other holes around, many of
them are of levels that never met; or what is missing has another pattern: a band, several blocks, a diagonal.

Every cell that can be left out to try a forecast then lies outside of it, so that no seen row tells whether levels that
never met act together where they meet: all high doses of two drugs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.checks.identifiability import Identifiability
from recombine.checks.itself import never_with_itself
from recombine.checks.modular import Ints
from recombine.checks.never_met import log_choose, never_met
from recombine.checks.pattern import in_a_pattern
from recombine.space import FactorSpace, quoted

MOST_NAMED = 6
"""Levels of a factor that are named."""
CHANCE, WHOLE = 0.01, 0.04
"""How often as many holes, placed at random, may leave as large a corner by chance, over all pairs of factors; and one
that holds all that is asked. The first is strict since levels that were run less often leave corners too."""
BEHIND = 1 / 3
"""Share of what is forecast that lies behind a staircase, or in a block of levels that never met, at least."""
MOST_STEPS = 30
"""Cells behind a staircase up to which its shapes are counted one by one."""
MOST_PAIRS = 1_000_000
"""Pairs of levels of two factors up to which a staircase is looked for."""
PATTERN = 0.002
"""How often random tables whose levels lack as many may have such a pattern, over all pairs of factors."""


@dataclass(frozen=True)
class Corner:
    """Asked cells of which nothing seen tells whether effects add up."""

    factors: tuple[int, int]
    pairs: frozenset[tuple[int, int]]
    """Their levels of both (codes)."""
    which: str
    """How many they are, and of which levels."""
    where: str = "in a corner that nothing seen reaches"

    def holds(self, cell: Sequence[int]) -> bool:
        return (cell[self.factors[0]], cell[self.factors[1]]) in self.pairs

    @property
    def words(self) -> str:
        return f"{self.which}: whether effects add up there no seen row can tell"


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


def staircase(known: Identifiability, asked: Ints, space: FactorSpace) -> Staircase | None:
    """Two factors whose unseen pairs of levels begin at a staircase, further out than chance would put as many holes,
    if many asked cells lie behind it. Of two factors that are numbers the order is that of the numbers, up or down; of
    others there is one only if every unseen pair lies behind it."""
    pairs = math.comb(len(space), 2)
    for (k, m), seen in _met(known, asked, space):
        values = [_numbers(space, factor) for factor in (k, m)]
        met = np.logical_and.outer(seen.any(axis=1), seen.any(axis=0))  # a value between seen ones is in no corner
        for ends, orders in _orders(seen, values):
            behind = _unreached(seen, *orders) & met
            there = behind[asked[:, k], asked[:, m]]
            several = min(behind.any(axis=0).sum(), behind.any(axis=1).sum()) > 1
            if not several or there.mean() < BEHIND or (ends is None and (behind | seen).sum() < seen.size):
                continue
            if _by_chance(int(behind.sum()), int((~seen).sum()), seen.shape, ends is not None) < CHANCE / pairs:
                return Staircase((k, m), ends, there)
    return None


def apart(known: Identifiability, asked: Ints, space: FactorSpace) -> tuple[tuple[int, Ints], ...]:
    """Two factors, by place, and levels of each (codes) that never met, more than chance would leave among other
    holes; none where few asked cells are of them. Two numbers are left to `staircase`."""
    pairs = math.comb(len(space), 2)
    for (k, m), seen in _met(known, asked, space):
        ordered = all(_numbers(space, factor) is not None for factor in (k, m))
        left_out = ordered or k in known.curves or m in known.curves
        block = None if left_out else never_met(seen, CHANCE / pairs)
        held = () if block is None else ((k, block.rows), (m, block.columns))
        if held and _of(held, asked).mean() >= BEHIND:
            return held
    return ()


def _of(held: tuple[tuple[int, Ints], ...], asked: Ints) -> NDArray[np.bool_]:
    """Which asked cells are of these levels."""
    inside: NDArray[np.bool_] = np.all([np.isin(asked[:, k], levels) for k, levels in held], axis=0)
    return inside


def _met(
    known: Identifiability, asked: Ints, space: FactorSpace
) -> Iterator[tuple[tuple[int, int], NDArray[np.bool_]]]:
    """Pairs of factors, and which of their levels were seen together."""
    for k, m in combinations(range(len(space)), 2) if len(asked) else ():
        shape = known.shape[k], known.shape[m]
        if math.prod(shape) > min(MOST_PAIRS, len(known.codes) ** 2 / 2):  # of numbers, nearly each row has its own
            continue
        seen = np.zeros(shape, dtype=bool)
        seen[known.codes[:, k], known.codes[:, m]] = True
        yield (k, m), seen


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


def _by_chance(behind: int, holes: int, shape: tuple[int, int], ordered: bool) -> float:
    """At most how often so many holes, placed at random, leave so many pairs behind some staircase: the number of these
    times the chance that one is all holes."""
    ways = math.log(4.0) if ordered else sum(math.lgamma(n + 1) for n in shape)
    if behind > MOST_STEPS:  # there are no more shapes than this (Hardy and Ramanujan 1918)
        ways += math.pi * math.sqrt(2 * behind / 3)
    elif ordered:
        ways += math.log(max(sum(1 for _ in _steps(behind, *shape)), 1))
    else:
        ways = math.log(max(sum(_placed(steps, *shape) for steps in _steps(behind, *shape)), 1))
    cells = math.prod(shape)
    one = log_choose(cells - behind, holes - behind) - log_choose(cells, holes)
    return math.exp(min(ways + one, 0.0))


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


def unreached(known: Identifiability, asked: Ints, space: FactorSpace) -> Corner | None:
    """The corner that asked cells lie in, if many of them do."""
    for found in (_cornered, _twice, _patterned, _far_out, _never_met):
        if corner := found(known, asked, space):
            return corner
    return None


def _cornered(known: Identifiability, asked: Ints, space: FactorSpace) -> Corner | None:
    return _of_levels(corner(known, asked, space), asked, space)


def _never_met(known: Identifiability, asked: Ints, space: FactorSpace) -> Corner | None:
    return _of_levels(apart(known, asked, space), asked, space)


def _of_levels(held: tuple[tuple[int, Ints], ...], asked: Ints, space: FactorSpace) -> Corner | None:
    if not held:
        return None
    named = " with ".join(f"{space.factors[k].name} in {{{_some(space, k, levels)}}}" for k, levels in held)
    return _told((held[0][0], held[1][0]), _of(held, asked), asked, f"are of {named}, of which none was seen")


def _far_out(known: Identifiability, asked: Ints, space: FactorSpace) -> Corner | None:
    found = staircase(known, asked, space)
    return None if found is None else _told(found.factors, found.behind, asked, _behind(found, space))


def _patterned(known: Identifiability, asked: Ints, space: FactorSpace) -> Corner | None:
    """Pairs of levels that are missing in a pattern which levels of different emptiness do not leave by chance."""
    pairs = math.comb(len(space), 2)
    for (k, m), seen in _met(known, asked, space):
        if k in known.curves or m in known.curves:
            continue
        wanted = np.zeros_like(seen)
        wanted[asked[:, k], asked[:, m]] = True
        found = in_a_pattern(seen, wanted, PATTERN / pairs)
        there = np.zeros(len(asked), dtype=bool) if found is None else found.missing[asked[:, k], asked[:, m]]
        if found is not None and there.mean() >= BEHIND:
            lacking = f"{{{_some(space, k, found.rows)}}} lack {{{_some(space, m, found.columns)}}}"
            same = f"levels of {space.names[k]} that lack the same levels of {space.names[m]}"
            which = f"lie in a pattern that chance would hardly leave, {same} (as {lacking})"
            return _told((k, m), there, asked, which, "where the missing ones have a pattern")
    return None


def _twice(known: Identifiability, asked: Ints, space: FactorSpace) -> Corner | None:
    """Pairs of a name with itself, where they are asked about and none was seen."""
    found = never_with_itself(known.codes, space) if len(asked) else None
    if found is None:
        return None
    (k, m), same = found
    there = np.array([pair in {*same} for pair in zip(*asked[:, [k, m]].T.tolist(), strict=True)])
    both = f"the same {space.names[k]} and {space.names[m]}"
    which = f"have {both}, of which none was seen"
    return _told((k, m), there, asked, which, f"of {both}") if there.any() else None


def _told(
    factors: tuple[int, int], there: NDArray[np.bool_], asked: Ints, which: str, where: str = Corner.where
) -> Corner:
    pairs = frozenset((int(a), int(b)) for a, b in asked[there][:, list(factors)])
    return Corner(factors, pairs, f"{_many(int(there.sum()), len(asked))} that are forecast {which}", where)


def _many(some: int, asked: int) -> str:
    return f"all {asked:,}" if some == asked else f"{some:,} of the {asked:,}"


def _behind(found: Staircase, space: FactorSpace) -> str:
    one, two = (space.factors[k].name for k in found.factors)
    if found.ends is None:
        order = f"{one} and {two} leave empty if ordered by how many of each other they were seen with"
        return f"are in the one corner that {order}"
    return f"are of {found.ends[0]} {one} with {found.ends[1]} {two}, and no seen one is as far out in both"


def _some(space: FactorSpace, k: int, codes: Ints) -> str:
    named = [quoted((space.factors[k].levels or ())[int(code)]) for code in codes[:MOST_NAMED]]
    return ", ".join(named) + (", …" if len(codes) > MOST_NAMED else "")
