"""Which t-way interactions training shows, t = 1 … 3, and which are asked for without having been shown.

An interaction is a choice of t factors and a level for each. Training covers it if some training row has those levels.
Level coverage (t = 1) is compositional support (First Principles, Def. 2).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.exact.tables import Pairs
from recombine.space import Codes

CHUNK = 500_000
LARGEST_TABLE = 50_000_000
"""Interactions up to which presence is one byte each; above, sorted keys."""
MOST_WORK = 4_000_000_000
"""Rows × factor subsets up to which an interaction strength is counted."""
MOST_SUBSETS = 25_000
"""Choices of factors that are counted one by one: all pairs of 200 factors, all triples of 50."""
EXAMPLES = 20


@dataclass(frozen=True)
class Interactions:
    """One choice of factors: how many of its level combinations exist, were seen, are missing, and are never asked
    for.
    """

    factors: tuple[int, ...]
    possible: int
    seen: int
    missing: int
    """Asked for, never seen in training."""
    unused: int | None
    """Seen in training, never asked for; None where the whole grid is asked for."""
    examples: tuple[tuple[int, ...], ...]
    """Some of the missing ones, as codes."""


@dataclass(frozen=True)
class Coverage:
    """All interactions of one to three factors."""

    interactions: tuple[Interactions, ...]
    skipped: tuple[int, ...] = ()
    """Strengths that were too large to count."""

    def strength(self, t: int) -> tuple[Interactions, ...]:
        return tuple(i for i in self.interactions if len(i.factors) == t)

    def total(self, t: int) -> tuple[int, int, int]:
        """(possible, seen, missing) over all choices of t factors."""
        chosen = self.strength(t)
        return sum(i.possible for i in chosen), sum(i.seen for i in chosen), sum(i.missing for i in chosen)


def coverage(
    train: Codes,
    shape: tuple[int, ...],
    asked: Codes | None = None,
    strengths: tuple[int, ...] = (1, 2, 3),
    numbers: Collection[int] = (),
    pairs: Pairs | None = None,
) -> Coverage:
    """Compare what training shows with what the asked rows (None: the whole grid) use; ``numbers`` are factors without
    levels to speak of, which are left out. ``pairs`` are the two-way tables of training, where they are known."""
    factors = [k for k in range(len(shape)) if k not in numbers]
    train, asked = _mixed(train), None if asked is None else _mixed(asked)
    found, skipped = [], []
    for t in strengths:
        if t > len(factors):
            continue
        subsets = math.comb(len(factors), t)
        if subsets > MOST_SUBSETS or subsets * (len(train) + (0 if asked is None else len(asked))) > MOST_WORK:
            skipped.append(t)
            continue
        tables = pairs or {} if t == 2 else {}
        found += [_one(train, shape, asked, c, tables.get((c[0], c[-1]))) for c in itertools.combinations(factors, t)]
    return Coverage(tuple(found), tuple(skipped))


def _one(
    train: Codes, shape: tuple[int, ...], asked: Codes | None, chosen: tuple[int, ...], table: Floats | None
) -> Interactions:
    sizes = [shape[k] for k in chosen]
    possible = math.prod(sizes)
    if asked is None and table is not None and table.all():
        return Interactions(chosen, possible, possible, 0, None, ())
    seen = _present(train, shape, chosen) if table is None else np.flatnonzero(table)
    if asked is None:
        missing = possible - len(seen)
        first = _first_absent(seen, min(missing, EXAMPLES))
        return Interactions(chosen, possible, len(seen), missing, None, _levels(first, sizes))
    wanted = _present(asked, shape, chosen)
    lacking = np.setdiff1d(wanted, seen, assume_unique=True)
    unused = len(seen) - (len(wanted) - len(lacking))
    return Interactions(chosen, possible, len(seen), len(lacking), unused, _levels(lacking[:EXAMPLES], sizes))


def _mixed(codes: Codes) -> Codes:
    """The same rows, neighbours far apart: of sorted ones the first chunk shows few levels of the first factor."""
    step = len(codes) // CHUNK
    return np.concatenate([codes[start::step] for start in range(step)]) if step > 1 else codes


def _present(codes: Codes, shape: tuple[int, ...], chosen: tuple[int, ...]) -> Ints:
    """Keys of the interactions that occur, sorted."""
    possible = math.prod(shape[k] for k in chosen)
    kind = np.int32 if possible < 2**31 else np.int64
    if possible <= LARGEST_TABLE:
        table = np.zeros(possible, dtype=bool)
        for start in range(0, len(codes), CHUNK):
            table[_keys(codes[start : start + CHUNK], shape, chosen, kind)] = True
            if table.all():  # further rows show nothing new
                break
        return np.flatnonzero(table)
    return np.unique(_keys(codes, shape, chosen, np.int64)).astype(np.int64)


def _keys(codes: Codes, shape: tuple[int, ...], chosen: tuple[int, ...], kind: type) -> Ints:
    keys: Ints = codes[:, chosen[0]].astype(kind)
    for k in chosen[1:]:
        keys *= shape[k]
        keys += codes[:, k]
    return keys


def _first_absent(seen: Ints, count: int) -> Ints:
    """The smallest ``count`` keys that do not occur in sorted ``seen``."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    upto = int(np.searchsorted(seen - np.arange(len(seen)), count, side="left"))
    window = np.arange(upto + count, dtype=np.int64)
    return np.setdiff1d(window, seen[: upto + count], assume_unique=True)[:count]


def _levels(keys: Ints, sizes: list[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(c) for c in np.unravel_index(int(key), sizes)) for key in keys)
