"""Pairs of levels that are missing in a pattern: levels of one factor lack the same ones of the other, as if both were
of kinds, and those of some kinds were never tried together.

Two levels of each factor make a checkerboard where one was seen with the first alone and the other with the second
alone. Their number (Stone and Roberts 1990) is compared with that in tables where every level lacks as many as it does
here, drawn by trades between rows (Strona et al. 2014): that some levels are emptier than others is no pattern.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.modular import Ints

MOST_CELLS = 20_000
"""Pairs of levels up to which a pattern is looked for."""
CHAINS = 20
"""Tables that are changed side by side."""
MIXED, APART = 12, 3
"""Times that all rows trade before the first table is looked at, and before each later one."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Pairs of levels that are missing in a pattern."""

    missing: NDArray[np.bool_]
    rows: Ints
    """Levels that lack the same, for an example."""
    columns: Ints


def in_a_pattern(seen: NDArray[np.bool_], asked: NDArray[np.bool_], chance: float) -> Pattern | None:
    """The asked pairs of levels that lie in a pattern, if no table of 1 / ``chance`` random ones has as many
    checkerboards. Pairs that are neither seen nor asked stay as they are: they may not exist."""
    if seen.size > MOST_CELLS:
        return None
    turned = seen.shape[0] > seen.shape[1]
    holes, there = (m.T if turned else m for m in (asked & ~seen, asked | seen))
    alike = _alike(holes)
    if alike.max(initial=0) < 2 or not _outstanding(holes, there, math.ceil(1 / chance) - 1):
        return None
    missing = holes & ((alike > 1) @ holes)
    a, b = np.unravel_index(alike.argmax(), alike.shape)
    columns = np.flatnonzero(holes[a] & holes[b])
    rows = np.flatnonzero(holes[:, columns].all(axis=1))
    return Pattern(missing.T, columns, rows) if turned else Pattern(missing, rows, columns)


def _alike(holes: NDArray[np.bool_]) -> Ints:
    """How many columns each two rows both lack; none of a row with itself."""
    both = holes.astype(np.int64) @ holes.T
    np.fill_diagonal(both, 0)
    return both


def _checkerboards(tables: NDArray[np.bool_]) -> NDArray[np.float64]:
    lacking = tables.astype(np.float64)
    both, each = lacking @ np.swapaxes(lacking, -1, -2), lacking.sum(axis=-1)
    found: NDArray[np.float64] = ((each[..., :, None] - both) * (each[..., None, :] - both)).sum(axis=(-1, -2))
    return found


def _outstanding(holes: NDArray[np.bool_], there: NDArray[np.bool_], draws: int) -> bool:
    """Whether none of so many random tables has as many checkerboards."""
    rng, most = np.random.default_rng(0), _checkerboards(holes)
    tables = np.repeat(holes[None], CHAINS, axis=0)
    for drawn in range(-(-draws // CHAINS)):
        for _ in range(APART if drawn else MIXED):
            _trade(tables, there, rng)
        if (_checkerboards(tables) >= most).any():
            return False
    return True


def _trade(tables: NDArray[np.bool_], there: NDArray[np.bool_], rng: np.random.Generator) -> None:
    """Every two rows, matched at random, share out anew what only one of them lacks; each keeps as many."""
    order = rng.permutation(tables.shape[1])
    one, two = order[: len(order) // 2], order[len(order) // 2 : len(order) // 2 * 2]
    first, second = tables[:, one], tables[:, two]
    free = (first ^ second) & there[one] & there[two]
    keys = np.where(free, rng.random(free.shape), 2)
    many = (first & free).sum(axis=-1, keepdims=True)
    last = np.take_along_axis(np.sort(keys, axis=-1), np.maximum(many - 1, 0), axis=-1)
    drawn = (keys <= last) & (many > 0)
    tables[:, one] = np.where(free, drawn, first)
    tables[:, two] = np.where(free, ~drawn, second)
