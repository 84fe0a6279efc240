"""A regular fraction of a factorial, and the part of it that was never run: all that is asked about.

With levels as −1 and 1, the product of a few factors (a word, such as A·B·C·D) is the same for every seen combination.
What these factors do together is then nowhere seen to change, and what some of them do is what the others do: no seen
combination that is left out tells, and where the asked ones have the other sign each of them hangs on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.aliases import MOST_CELLS
from recombine.checks.exact.modular import Ints

LONGEST, MOST_WORDS = 5, 30_000
"""Factors of a word, since effects of many at once are rare, and products that are looked at."""
RUN, OUTSIDE = 2 / 3, 3 / 4
"""Share of the fraction that must have been run, since a few rows agree in some product by chance; and of the asked
combinations that must lie outside."""
MOST_NAMED = 3
FOLD_OVER = "four"
"""Asked combinations to run. With so many of them, of 25 half fractions of 4 factors each all were “determined” where
nothing hid and none where the product of all acted (of 5 factors 25 and 13); with two 11 and none (25 and 4)."""

Word = tuple[int, ...]


@dataclass(frozen=True)
class NeverRun:
    """Words that are the same for all seen combinations, shortest first, and how many asked ones differ in one."""

    words: tuple[Word, ...]
    outside: int
    asked: int

    @property
    def which(self) -> str:
        if self.outside == self.asked:
            return "every asked combination lies"
        return f"{self.outside:,} of {self.asked:,} asked combinations lie"

    def note(self, names: Sequence[str]) -> str:
        """What does not show, and what is then taken for what."""
        named = [_product(names, word) for word in self.words[:MOST_NAMED]]
        more = len(self.words) - len(named)
        named += [f"{more:,} more products"] if more else []
        same = f"{named[0]} is" if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]} are"
        likes = ", ".join(
            f"{_product(names, word[:cut])} from {_product(names, word[cut:])}" for word, cut in _cuts(self.words[0])
        )
        return (
            f"{self.which} in the part of a fraction that was never run: with levels as −1 and 1, {same} the same for "
            "all that were seen. What such factors do together does not show, and what some of them do cannot be told "
            f"from what the others do ({likes}): neither tests nor the forecast can see it. Once {FOLD_OVER} or so of "
            "the asked ones are run and added, it can show."
        )


def never_run(cells: Ints, shape: tuple[int, ...], asked: Ints) -> NeverRun | None:
    """Of the distinct cells that were seen and of asked ones, all of seen levels; None where no fraction was run, or
    hardly anything is asked outside of it."""
    two = [k for k, n in enumerate(shape) if n == 2 and len(cells) and np.ptp(cells[:, k])]
    sizes = range(3, min(LONGEST, len(two)) + 1)
    if not len(asked) or len(cells) > MOST_CELLS or sum(math.comb(len(two), n) for n in sizes) > MOST_WORDS:
        return None
    odd = cells.astype(bool)
    words = [w for n in sizes for w in combinations(two, n) if np.ptp(_parity(odd, w)) == 0]
    if not words or len(cells) * 2 ** _independent(words) < RUN * math.prod(shape):
        return None
    outside = np.zeros(len(asked), dtype=bool)
    for word in words:
        outside |= _parity(asked.astype(bool), word) != _parity(odd[:1], word)
    if outside.mean() < OUTSIDE:
        return None
    return NeverRun(tuple(words), int(outside.sum()), len(asked))


def _parity(odd: NDArray[np.bool_], word: Word) -> Ints:
    return np.asarray(np.logical_xor.reduce(odd[:, list(word)], axis=1), dtype=np.int64)


def _independent(words: Sequence[Word]) -> int:
    """How many of the words are no products of others: each halves the fraction."""
    kept: list[int] = []
    for word in words:
        left = sum(1 << k for k in word)
        for other in kept:
            left = min(left, left ^ other)
        kept += [left] if left else []
    return len(kept)


def _cuts(word: Word) -> Iterator[tuple[Word, int]]:
    """Where a word is cut into two effects that are one."""
    return ((word, cut) for cut in range((len(word) + 1) // 2, len(word)))


def _product(names: Sequence[str], word: Word) -> str:
    return " × ".join(names[k] for k in word)
