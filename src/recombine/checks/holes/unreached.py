"""What is asked about and lies where nothing seen reaches: in a corner, in several, on a diagonal that was never run,
or in another pattern of what is missing.

Every cell that can be left out to try a forecast then lies elsewhere, and whether effects add up there nothing tells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Ints
from recombine.checks.holes.corner import (
    BEHIND,
    Staircase,
    apart,
    corner,
    log_chance_of,
    of_levels,
    pairs_of,
    pairs_of_names,
    staircase,
)
from recombine.checks.holes.itself import log_chance_unseen, never_with_itself
from recombine.checks.holes.never_met import two_that_never_met
from recombine.checks.holes.pattern import in_a_pattern
from recombine.space import FactorSpace, quoted

MOST_NAMED = 6
"""Levels of a factor that are named."""
PATTERN = 0.002
"""How often random holes may have such a pattern, over all pairs of factors."""
FEWEST_MATCHED = 6
"""Levels from which a diagonal is one: of n holes, one for each level, 1 of n! random tables have it."""


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


def unreached(known: Identifiability, counts: Ints, asked: Ints, space: FactorSpace) -> Corner | None:
    """The corner that asked cells lie in, if many of them do; ``counts`` are the rows of each seen cell."""
    for found in (_cornered, _patterned, _twice, _matched, _far_out, _never_met, _two_blocks):
        if corner := found(known, counts, asked, space):
            return corner
    return None


def _cornered(known: Identifiability, counts: Ints, asked: Ints, space: FactorSpace) -> Corner | None:
    held = corner(known, asked, space)
    return _in_blocks([held], asked, space) if held else None


def _never_met(known: Identifiability, counts: Ints, asked: Ints, space: FactorSpace) -> Corner | None:
    held = apart(known, counts, asked, space)
    return _in_blocks([held], asked, space) if held else None


def _two_blocks(known: Identifiability, counts: Ints, asked: Ints, space: FactorSpace) -> Corner | None:
    chance = PATTERN / math.comb(len(space), 2)
    for (k, m), rows in pairs_of_names(known, counts, asked, space):
        blocks = two_that_never_met(rows > 0, chance) or ()
        held = [((k, block.rows), (m, block.columns)) for block in blocks]
        if not held or np.any([of_levels(one, asked) for one in held], axis=0).mean() < BEHIND:
            continue
        if sum(log_chance_of(rows, block) for block in blocks) < math.log(chance):
            return _in_blocks(held, asked, space)
    return None


def _in_blocks(blocks: Sequence[tuple[tuple[int, Ints], ...]], asked: Ints, space: FactorSpace) -> Corner:
    """Cells of one block of levels, or of several of the same factors."""
    named = " or of ".join(
        " with ".join(f"{space.factors[k].name} in {{{_some(space, k, levels)}}}" for k, levels in held)
        for held in blocks
    )
    there = np.any([of_levels(held, asked) for held in blocks], axis=0)
    where = Corner.where if len(blocks) == 1 else "in corners that nothing seen reaches"
    factors = blocks[0][0][0], blocks[0][1][0]
    return _told(factors, there, asked, f"of {named}, of which none was seen", where)


def _far_out(known: Identifiability, counts: Ints, asked: Ints, space: FactorSpace) -> Corner | None:
    found = staircase(known, counts, asked, space)
    return None if found is None else _told(found.factors, found.behind, asked, _behind(found, space))


def _patterned(known: Identifiability, counts: Ints, asked: Ints, space: FactorSpace) -> Corner | None:
    """Pairs of levels that are missing in a pattern which levels of different emptiness do not leave by chance."""
    pairs = math.comb(len(space), 2)
    for (k, m), rows in pairs_of(known, counts, asked, space):
        seen = rows > 0
        if k in known.curves or m in known.curves:
            continue
        wanted = np.zeros_like(seen)
        wanted[asked[:, k], asked[:, m]] = True
        found = in_a_pattern(seen, wanted, PATTERN / pairs)
        there = np.zeros(len(asked), dtype=bool) if found is None else found.missing[asked[:, k], asked[:, m]]
        if found is not None and there.mean() >= BEHIND:
            lacking = f"{{{_some(space, k, found.rows)}}} lack {{{_some(space, m, found.columns)}}}"
            same = f"levels of {space.names[k]} that lack the same levels of {space.names[m]}"
            which = f"in a pattern that chance would hardly leave, {same} (as {lacking})"
            return _told((k, m), there, asked, which, "where the missing ones have a pattern")
    return None


def _twice(known: Identifiability, counts: Ints, asked: Ints, space: FactorSpace) -> Corner | None:
    """Pairs of a name with itself, where they are asked about and none was seen."""
    found = never_with_itself(known.codes, space) if len(asked) else None
    if found is None:
        return None
    (k, m), same = found
    there = _among(asked[:, [k, m]], same)
    both = f"the same {space.names[k]} and {space.names[m]}"
    which = f"of {both}, of which none was seen"
    return _told((k, m), there, asked, which, f"for {both}") if there.any() else None


def _matched(known: Identifiability, counts: Ints, asked: Ints, space: FactorSpace) -> Corner | None:
    """Pairs of levels with the same place in the order of both factors, where many of them are asked about and none was
    seen: v1 with w1, v2 with w2."""
    pairs = math.comb(len(space), 2)
    for k, m in combinations(range(len(space)), 2) if len(asked) else ():
        size, side = len(space.factors[k]), len(space.factors[m])
        if size != side or not FEWEST_MATCHED <= size <= len(known.codes) or {k, m} & {*known.curves}:
            continue
        same = [(i, i) for i in range(size)]
        there = _among(asked[:, [k, m]], same)
        if there.mean() < BEHIND:
            continue
        if log_chance_unseen(known.codes[:, [k, m]], same, (size, side)) < math.log(PATTERN / pairs):
            one, two = (space.factors[f].levels or () for f in (k, m))
            named = ", ".join(f"{quoted(one[i])} with {quoted(two[i])}" for i in range(2))
            both = f"the same place in the order of {space.names[k]} and {space.names[m]}"
            return _told((k, m), there, asked, f"of {both} ({named}, …), of which none was seen", f"for {both}")
    return None


def _among(cells: Ints, pairs: list[tuple[int, int]]) -> NDArray[np.bool_]:
    most = 1 + max(int(cells.max()), *map(max, pairs))
    found: NDArray[np.bool_] = np.isin(cells @ (most, 1), np.array(pairs) @ (most, 1))
    return found


def _told(
    factors: tuple[int, int], there: NDArray[np.bool_], asked: Ints, which: str, where: str = Corner.where
) -> Corner:
    pairs = frozenset((int(a), int(b)) for a, b in asked[there][:, list(factors)])
    return Corner(factors, pairs, f"{_many(int(there.sum()), len(asked))} {which}", where)


def _many(some: int, asked: int) -> str:
    if asked == 1:
        return "the one that is forecast is"
    many = f"all {asked:,}" if some == asked else f"{some:,} of the {asked:,}"
    return f"{many} that are forecast {'is' if some == 1 else 'are'}"


def _behind(found: Staircase, space: FactorSpace) -> str:
    one, two = (space.factors[k].name for k in found.factors)
    if found.ends is None:
        order = f"{one} and {two} leave empty if ordered by how many of each other they were seen with"
        return f"in the one corner that {order}"
    return f"of {found.ends[0]} {one} with {found.ends[1]} {two}, and no seen one is as far out in both"


def _some(space: FactorSpace, k: int, codes: Ints) -> str:
    named = [quoted((space.factors[k].levels or ())[int(code)]) for code in codes[:MOST_NAMED]]
    return ", ".join(named) + (", …" if len(codes) > MOST_NAMED else "")
