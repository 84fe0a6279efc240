"""Two factors with the same names as levels, of which nothing was seen with itself: home and away teams.

With h of n pairs of levels unseen at random, all d pairs of a name with itself are among them with a chance of

    C(n − d, h − d) / C(n, h)

Where that is small such pairs are taken not to exist: nobody asks how a team plays against itself, and no row can be
planned for it.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from recombine.checks.cells import LISTED
from recombine.checks.never_met import log_choose
from recombine.space import Codes, FactorSpace, Level

CHANCE = 0.01
"""How often as many holes at random leave out every name with itself, at most, over all pairs of factors."""
FEWEST = 3
"""Names that both factors have."""


def with_itself(codes: Codes, space: FactorSpace) -> tuple[list[dict[str, Level]], tuple[str, ...]]:
    """The pairs of a name with itself that are taken not to exist, and the two factors; ``codes``: all combinations of
    the table, those asked about too."""
    pairs = list(combinations(range(len(space)), 2)) if space.size <= LISTED else []
    for k, m in pairs:
        first, second = space.factors[k], space.factors[m]
        shared = [name for name in first.levels or () if isinstance(name, str) and name in (second.levels or ())]
        if len(shared) < FEWEST or 2 * len(shared) <= max(len(first), len(second)):
            continue
        seen = np.unique(codes[:, [k, m]], axis=0)
        same = {((first.levels or ()).index(name), (second.levels or ()).index(name)) for name in shared}
        cells = len(first) * len(second)
        holes = cells - len(seen)
        if holes < len(same) or same & {(int(a), int(b)) for a, b in seen}:
            continue
        chance = log_choose(cells - len(same), holes - len(same)) - log_choose(cells, holes)
        if chance < math.log(CHANCE / len(pairs)):
            return [{first.name: name, second.name: name} for name in shared], (first.name, second.name)
    return [], ()


def left_out(names: tuple[str, ...]) -> tuple[str, list[str]]:
    """What is said of it: words to add to what is asked, and a note."""
    if not names:
        return "", []
    both = " and ".join(names)
    note = f"{both} have the same names, and no row has one of them twice: such combinations are taken not to exist"
    return f", without those of the same {both}", [f"{note} and left out; to ask about them, name them with --test."]
