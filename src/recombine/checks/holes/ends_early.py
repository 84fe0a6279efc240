"""Series that end before others do: half of the machines lack the last weeks, and those are asked about.

With h of the n steps of a series missing at random, the last r of them are all missing with a chance of

    C(n − r, h − r) / C(n, h)

and the number of steps that all series lack at their ends is the sum of such numbers: its chance is exact. Where both
factors have an order and each lacks the last of the other (a triangle of cohorts and ages), no series is cut as short
as the asked ones without losing the step that is asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Ints
from recombine.checks.exact.tables import two_way
from recombine.checks.holes.never_met import log_choose
from recombine.checks.rules.cut_short import Series
from recombine.space import FactorSpace, in_order

CHANCE = 0.002
"""How often random holes may leave so many at the ends of series, over all pairs of factors and both ends."""
BEYOND = 0.5
"""Share of what is forecast that lies beyond the end of its series, at least."""
MOST_PAIRS = 1_000_000
"""Pairs of levels of two factors up to which this is looked for."""


@dataclass(frozen=True)
class EndsEarly:
    """Series that are asked about beyond their end."""

    factor: str
    steps: str
    ends: str
    """ "last" or "first": what they lack."""
    series: Series = field(repr=False)

    def to_dict(self) -> dict[str, str]:
        return {"factor": self.factor, "steps": self.steps, "lack": self.ends}

    @property
    def words(self) -> str:
        """How the forecast was tried, for the first lines."""
        lacking = f"with as many of their {self.ends} levels of {self.steps} left out as the asked ones lack"
        return f"It was tried on other levels of {self.factor}, {lacking}."


def ends_early(known: Identifiability, asked: Ints, space: FactorSpace) -> EndsEarly | None:
    """The factor whose levels end early, if most asked cells lie beyond their ends."""
    tried = 2 * len(space) * (len(space) - 1)
    for k, m in permutations(range(len(space)), 2) if len(asked) else ():
        place = _places(space, m)
        if place is None or {k, m} & {*known.curves} or known.shape[k] * known.shape[m] > MOST_PAIRS:
            continue
        seen = two_way(known.codes, None, k, m, known.shape) > 0
        wanted = np.zeros_like(seen)
        wanted[asked[:, k], asked[:, m]] = True
        for ends, order in (("last", place), ("first", len(place) - 1 - place)):
            beyond = beyond_ends(seen, wanted, order)
            if _share(beyond, asked, k, m) < BEYOND or chance_of_ends(seen, wanted, beyond) > CHANCE / tried:
                continue
            other = _places(space, k)
            turned = () if other is None else (other, len(other) - 1 - other)
            if all(_share(beyond_ends(seen.T, wanted.T, way), asked, m, k) < BEYOND for way in turned):
                return EndsEarly(space.names[k], space.names[m], ends, Series(k, m, order))
    return None


def beyond_ends(seen: NDArray[np.bool_], asked: NDArray[np.bool_], place: Ints) -> NDArray[np.bool_]:
    """Asked pairs of series (rows) and steps, in this order, after the last seen one of their series."""
    last = np.where(seen, place, -1).max(axis=1, keepdims=True)
    found: NDArray[np.bool_] = asked & ~seen & (place > last) & (last >= 0)
    return found


def chance_of_ends(seen: NDArray[np.bool_], asked: NDArray[np.bool_], beyond: NDArray[np.bool_]) -> float:
    """How often as many asked pairs lie at the ends of their series, where each lacks as many at random."""
    total = np.ones(1)
    for holes, steps in zip((asked & ~seen).sum(axis=1), (asked | seen).sum(axis=1), strict=True):
        if 0 < holes < steps:
            r = np.arange(holes + 1)
            at_least = np.exp(log_choose(steps - r, holes - r) - log_choose(steps, holes))
            total = np.convolve(total, at_least - np.append(at_least[1:], 0.0))
    return float(total[int(beyond.sum()) :].sum())


def _share(beyond: NDArray[np.bool_], asked: Ints, k: int, m: int) -> float:
    """Share of the asked cells whose pair of levels lies there."""
    return float(beyond[asked[:, k], asked[:, m]].mean())


def _places(space: FactorSpace, m: int) -> Ints | None:
    """Of each level its place in the order of its numbers; None where it has none."""
    levels = space.factors[m].levels or ()
    if all(isinstance(level, (int, float)) and not isinstance(level, bool) for level in levels):
        order = np.argsort(np.array(levels, dtype=np.float64), kind="stable")
    elif all(isinstance(level, str) and re.search(r"\d", level) for level in levels):
        order = np.array(in_order(levels))
    else:
        return None
    return np.argsort(order)
