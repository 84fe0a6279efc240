"""A corner of the grid that nothing seen reaches: the asked combinations are all of A′ × B′, and no seen one is.

Every cell that can be left out to try a forecast then lies outside of it, so that no seen row tells whether levels that
never met act together where they meet: all high doses of two drugs."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from recombine.checks.identifiability import Identifiability
from recombine.checks.modular import Ints
from recombine.space import FactorSpace, quoted

if TYPE_CHECKING:
    from recombine.checks.verdict import CheckResult

LIKE_THE_SEEN = "The forecast supposes that the asked combinations behave like the seen ones"
MOST_NAMED = 6
"""Levels of a factor that are named."""


def corner(known: Identifiability, asked: Ints, space: FactorSpace) -> tuple[tuple[int, Ints], ...]:
    """Two factors, by place, and two or more levels of each (codes) that all asked cells have and no seen one; none
    where there is no such pair. Numbers are left out: of these each value may be new."""
    held = [(k, np.unique(asked[:, k])) for k in range(len(space)) if k not in known.curves] if len(asked) else []
    inside = {}
    for k, levels in held:
        there = np.isin(np.arange(len(space.factors[k])), levels)[known.codes[:, k]]
        if len(levels) > 1 and not there.all():  # a level that is asked with all of another factor was seen with one
            inside[k] = levels, there
    for (k, first), (m, second) in combinations(inside.items(), 2):
        if not (first[1] & second[1]).any():
            return (k, first[0]), (m, second[0])
    return ()


def supposed(result: CheckResult) -> str:
    """What every forecast rests on, and where nothing seen can bear it out; where only a part of what is asked is
    listed, no corner is told."""
    codes = [q.codes for q in result.queries if q.status == "determined"] if len(result.queries) == result.total else []
    asked, space = np.array(codes, dtype=np.int64).reshape(-1, len(result.space)), result.space
    held = corner(result.known, asked, space)
    if not held:
        return f"{LIKE_THE_SEEN}."
    named = " with ".join(f"{space.factors[k].name} in {{{_some(space, k, levels)}}}" for k, levels in held)
    them = f"all {len(asked):,} that are forecast are of {named}, of which none was seen"
    return f"{LIKE_THE_SEEN}, but {them}: whether effects add up there no seen row can tell."


def _some(space: FactorSpace, k: int, codes: Ints) -> str:
    named = [quoted((space.factors[k].levels or ())[int(code)]) for code in codes[:MOST_NAMED]]
    return ", ".join(named) + (", …" if len(codes) > MOST_NAMED else "")
