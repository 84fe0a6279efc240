"""Factors of which one lies within another: each city in one country; or that always go together.

The grid of their levels then asks about cities in other countries, which may not exist. Where levels of shares p are
drawn without regard to it, the n combinations of one level all have the same with probability Σ pⁿ: the product over
the levels must be small, all pairs of factors counted. A level that was seen in a single combination (n = 1) counts as
one that tells nothing: a rare city must not silence all others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.checks.exact.design import Mask
from recombine.checks.exact.modular import Ints
from recombine.checks.headed import Headed
from recombine.space import Codes, FactorSpace, quoted
from recombine.support.pasted import hint

BY_CHANCE = 0.01
FEWEST_INNER, FEWEST_COMBINATIONS, FIRST = 3, 2, 100
"""Levels that lie within others; combinations of each; combinations that drop most pairs of factors at once."""
MOST_NAMED = 8
"""Factors up to which those that remain are written out."""


@dataclass(frozen=True, eq=False)
class Within:
    """A factor each of whose levels lies in one level of others, by place."""

    inner: int
    outer: tuple[int, ...]
    home: Ints
    """By level of the inner factor: the levels of the others in which it lies, −1 where it was not seen."""
    lone: int
    """Levels that were seen in a single combination, which tells nothing of them."""

    def elsewhere(self, cells: Codes) -> Mask:
        """Which combinations have a level of the inner factor outside its own of another."""
        home = self.home[cells[:, self.inner].astype(np.int64)]
        away: Mask = ((home >= 0) & (home != cells[:, list(self.outer)])).any(axis=1)
        return away


def nested(seen: Codes, asked: Codes, space: FactorSpace, numbers: Collection[int]) -> list[Within]:
    """The factors that lie within others, if they are asked about elsewhere; ``numbers`` are left aside."""
    codes, among = seen.astype(np.int64), [k for k in range(len(space)) if k not in numbers]
    pairs = len(among) * (len(among) - 1)
    within = {k: [o for o in among if o != k and _lies(codes[:, k], codes[:, o], pairs)] for k in among}
    around = {o for outer in within.values() for o in outer}
    found = [_within(codes, space, k, outer) for k, outer in within.items() if outer and k not in around]
    return [w for w in found if w.elsewhere(asked).any()]


def _within(codes: Ints, space: FactorSpace, inner: int, outer: list[int]) -> Within:
    home = np.full((len(space.factors[inner]), len(outer)), -1)
    home[codes[:, inner]] = codes[:, outer]
    return Within(inner, tuple(outer), home, int((np.bincount(codes[:, inner]) == 1).sum()))


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
    levels, many, shares = int((many > 0).sum()), many[many >= FEWEST_COMBINATIONS], shares[shares > 0]
    if len(many) < FEWEST_INNER or not 2 <= len(shares) < levels:
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


def in_words(found: Sequence[Within], space: FactorSpace) -> list[Headed]:
    """A note for each."""
    around = {o for within in found for o in within.outer}
    rest = [n for k, n in enumerate(space.names) if k not in around]
    return [_words(within, space, rest) for within in found]


def _words(within: Within, space: FactorSpace, rest: list[str]) -> Headed:
    name, outer = quoted(space.names[within.inner]), [quoted(space.names[o]) for o in within.outer]
    left = " and ".join(outer)
    factors = f": {hint('factors', *rest)}" if 1 < len(rest) <= MOST_NAMED else ""
    first = f"each {name} lies in {' and '.join(f'one {o}' for o in outer)}"
    lone = f" ({within.lone:,} seen in a single combination tell{'s' * (within.lone == 1)} nothing)" * bool(within.lone)
    note = (
        f"{first}{lone}: if it can lie in no other, leave {left} out ({name} tells it{factors}), or exclude such "
        f"combinations (--exclude, exclude); what is asked about, and to be collected, of a {name} elsewhere may not "
        "exist."
    )
    return Headed(
        note, f"{first[0].upper()}{first[1:]}: what is asked of it elsewhere may not exist, a note says more."
    )


def may_not_exist(found: Sequence[Within], space: FactorSpace, cells: Codes) -> str:
    """What is said beside combinations to collect of which some have a level outside the one in which it lies."""
    said = []
    for within in found:
        if away := int(within.elsewhere(cells).sum()):
            which = f"{'All' if away == len(cells) else f'{away:,}'} of these {len(cells):,}"
            which = "This one has" if len(cells) == 1 else f"{which} have"
            name, outer = (quoted(space.names[k]) for k in (within.inner, within.outer[0]))
            said.append(f"{which} a {name} outside its {outer} and may not exist: a note says what to do.")
    return " ".join(said)
