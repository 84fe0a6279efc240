"""Factors of which one lies within another: each city in one country; or that always go together.

The grid of their levels then asks about cities in other countries, which may not exist. Where levels of shares p are
drawn without regard to it, the n combinations of one level all have the same with probability Σ pⁿ: the product over
the levels must be small, all pairs of factors counted.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection

import numpy as np

from recombine.checks.exact.modular import Ints
from recombine.checks.headed import Headed
from recombine.space import Codes, FactorSpace, quoted

BY_CHANCE = 0.01
FEWEST_INNER, FEWEST_COMBINATIONS, FIRST = 3, 2, 100
"""Levels that lie within others; combinations of each; combinations that drop most pairs of factors at once."""
MOST_NAMED = 8
"""Factors up to which those that remain are written out."""


def nested(seen: Codes, asked: Codes, space: FactorSpace, numbers: Collection[int]) -> list[str]:
    """A note for each factor that lies within others, if it is asked about elsewhere; ``numbers`` are left aside."""
    codes, among = seen.astype(np.int64), [k for k in range(len(space)) if k not in numbers]
    pairs = len(among) * (len(among) - 1)
    within = {k: [o for o in among if o != k and _lies(codes[:, k], codes[:, o], pairs)] for k in among}
    around = {o for outer in within.values() for o in outer}
    return [
        _words(space, inner, outer, around)
        for inner, outer in within.items()
        if inner not in around and any(_elsewhere(codes, asked.astype(np.int64), inner, o) for o in outer)
    ]


def together(seen: Codes, asked: Codes, space: FactorSpace, numbers: Collection[int]) -> list[str]:
    """A note for factors of which each level was seen with one of the others' alone, if other pairs are asked about."""
    codes, wanted = seen.astype(np.int64), asked.astype(np.int64)
    among = [k for k in range(len(space)) if k not in numbers and np.ptp(codes[:, k])]
    sets = [alike for some in _alike(codes[:FIRST], among) for alike in _alike(codes, some)]
    return [
        _together([quoted(space.names[k]) for k in alike])
        for alike in sets
        if any(_elsewhere(codes, wanted, alike[0], other) for other in alike[1:])
    ]


def _alike(codes: Ints, among: list[int]) -> list[list[int]]:
    """Sets of factors whose levels change together: numbered as they first occur, they are the same."""
    sets: dict[bytes, list[int]] = {}
    for k in among:
        _, first, level = np.unique(codes[:, k], return_index=True, return_inverse=True)
        sets.setdefault(np.argsort(np.argsort(first))[level.ravel()].tobytes(), []).append(k)
    return [alike for alike in sets.values() if len(alike) > 1]


def _together(names: list[str]) -> str:
    one, two, all_ = names[0], names[1], f"{', '.join(names[:-1])} and {names[-1]}"
    return (
        f"{all_} always go together in what was seen: each {one} with one {two} alone, and each {two} with one {one}. "
        f"So what they do cannot be told apart; rows of one {one} with the {two} of another would tell. If these are "
        "names for the same, leave all but one out."
    )


def _lies(inner: Ints, outer: Ints, pairs: int) -> bool:
    """Whether each level of one factor occurs with one of the other, several of them with the same, by no chance."""
    if any((_home(i, o)[i] != o).any() for i, o in ((inner[:FIRST], outer[:FIRST]), (inner, outer))):
        return False
    many, shares = np.bincount(inner), np.bincount(outer) / len(outer)
    many, shares = many[many > 0], shares[shares > 0]
    if len(many) < FEWEST_INNER or many.min() < FEWEST_COMBINATIONS or not 2 <= len(shares) < len(many):
        return False
    return bool(np.log((shares[:, None] ** many).sum(axis=0)).sum() < np.log(BY_CHANCE / pairs))


def _home(inner: Ints, outer: Ints) -> Ints:
    """The level of the one factor that each level of the other was seen with, last."""
    home = np.full(int(inner.max(initial=0)) + 1, -1)
    home[inner] = outer
    return home


def _elsewhere(seen: Ints, asked: Ints, inner: int, outer: int) -> bool:
    home = _home(seen[:, inner], seen[:, outer])
    known = asked[asked[:, inner] < len(home)]
    return bool((home[known[:, inner]] != known[:, outer]).any())


def _words(space: FactorSpace, inner: int, outer: list[int], around: Collection[int]) -> Headed:
    name, others = quoted(space.names[inner]), " and ".join(f"one {quoted(space.names[o])}" for o in outer)
    left = " and ".join(quoted(space.names[o]) for o in outer)
    rest = [n for k, n in enumerate(space.names) if k not in around]
    factors = f": --factors {shlex.quote(','.join(rest))}" if 1 < len(rest) <= MOST_NAMED else ""
    first = f"each {name} lies in {others}"
    note = (
        f"{first}: if it can lie in no other, leave {left} out ({name} tells it{factors}), or exclude such "
        f"combinations (--exclude); what is asked about, and to be collected, of a {name} elsewhere may not exist."
    )
    return Headed(
        note, f"{first[0].upper()}{first[1:]}: what is asked of it elsewhere may not exist, a note says more."
    )
