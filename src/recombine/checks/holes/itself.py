"""Two factors with the same names as levels, of which nothing was seen with itself: home and away teams.

With h of n pairs of levels unseen at random, all d pairs of a name with itself are among them with a chance of

    C(n − d, h − d) / C(n, h)

Where that is small such pairs are taken not to exist: nobody asks how a team plays against itself, and no row can be
planned for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from recombine.checks.asked.cells import LISTED
from recombine.checks.holes.never_met import log_choose
from recombine.space import Codes, FactorSpace, Level

CHANCE = 0.01
"""How often as many holes at random leave out every name with itself, at most, over all pairs of factors."""
FEWEST = 3
"""Names that both factors have."""


def with_itself(codes: Codes, space: FactorSpace) -> tuple[list[dict[str, Level]], tuple[str, ...]]:
    """The pairs of a name with itself that are taken not to exist, and the two factors; ``codes``: all combinations of
    the table, those asked about too."""
    found = never_with_itself(codes, space)
    if found is None:
        return [], ()
    (first, second), same = (space.factors[k] for k in found[0]), found[1]
    twice = [{first.name: (first.levels or ())[a], second.name: (second.levels or ())[b]} for a, b in same]
    return twice, (first.name, second.name)


def never_with_itself(codes: Codes, space: FactorSpace) -> tuple[tuple[int, int], list[tuple[int, int]]] | None:
    """Two factors, by place, with the same names, and these (codes), where chance would show one with itself and no
    combination does."""
    pairs = list(combinations(range(len(space)), 2)) if space.size <= LISTED else []
    for k, m in pairs:
        first, second = space.factors[k], space.factors[m]
        shared = [name for name in first.levels or () if isinstance(name, str) and name in (second.levels or ())]
        if len(shared) < FEWEST or 2 * len(shared) <= max(len(first), len(second)):
            continue
        same = [((first.levels or ()).index(name), (second.levels or ()).index(name)) for name in shared]
        if log_chance_unseen(codes[:, [k, m]], same, (len(first), len(second))) < math.log(CHANCE / len(pairs)):
            return (k, m), same
    return None


def log_chance_unseen(seen: Codes, these: Sequence[tuple[int, int]], shape: tuple[int, int]) -> float:
    """The log of how often as many holes at random, in a table of this shape, leave out all of these pairs of levels; 0
    where one was seen."""
    there = np.unique(np.ravel_multi_index((seen[:, 0], seen[:, 1]), shape))
    cells, some = math.prod(shape), len(these)
    holes = cells - len(there)
    if np.isin(np.ravel_multi_index(tuple(np.array(these).T), shape), there).any():
        return 0.0
    return float(log_choose(cells - some, holes - some) - log_choose(cells, holes))


def left_out(names: tuple[str, ...]) -> tuple[str, list[str]]:
    """What is said of it: words to add to what is asked, and a note."""
    if not names:
        return "", []
    both = " and ".join(names)
    note = f"{both} have the same names, and no row has one of them twice: such combinations are taken not to exist"
    return f", without those of the same {both}", [
        f"{note} and left out; to ask about them, name them with --test (test)."
    ]
