"""Levels of two factors that never met, A′ × B′, among other holes: is their block larger than chance would leave?

With h of n pairs of levels unseen, placed at random, the expected number of blocks of r × c levels with no seen pair is

    C(rows, r) · C(columns, c) · C(n − rc, h − rc) / C(n, h),

and the chance that any block is as unlikely is at most their sum over the shapes that are. Levels that were seen with
few others leave blocks too, so those of a block must not be emptier than others elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from recombine.checks.exact.modular import Ints

MOST_WORK = 300_000_000
"""Starts × rows² × columns up to which blocks are looked for, half a second: every pair of rows starts one and takes in
others one by one, or every row where pairs are too many."""

FIRST = 0.1
"""How unlikely a block is, at most, beside which a second one is looked for."""
THIN = 0.1
"""How unlikely it is, at most, that levels no emptier than the others are so empty outside of the block."""


@dataclass(frozen=True, eq=False)
class Block:
    """Levels of two factors, by code, no two of which were seen together."""

    rows: Ints
    columns: Ints


def log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def never_met(seen: NDArray[np.bool_], chance: float) -> Block | None:
    """The least likely block of two or more levels of both factors without a seen pair, if so unlikely a one is left by
    holes at random with at most this chance, in a table that was mostly seen. The search is greedy: a larger one may be
    missed, none is made up."""
    turned, holes = _lying(seen)
    found = _least_likely(holes, holes.size) if _worth_it(holes) else None
    if found is None or found[1] > chance or _thin(holes, *found[0]):
        return None
    return _as_block(found[0], turned)


def two_that_never_met(seen: NDArray[np.bool_], chance: float) -> tuple[Block, Block] | None:
    """The same of two blocks, the second among the holes that the first leaves: their chances as one (Fisher 1932)."""
    turned, holes = _lying(seen)
    first = _least_likely(holes, holes.size) if _worth_it(holes) else None
    if first is None or first[1] > FIRST:
        return None
    rest = _without(holes, first[0])
    second = _least_likely(rest, holes.size - len(first[0][0]) * len(first[0][1]))
    if second is None:
        return None
    both, bare = first[1] * second[1], _without(rest, second[0])
    if both * (1 - math.log(both)) > chance or _thin(bare, *first[0]) or _thin(bare, *second[0]):
        return None
    return _as_block(first[0], turned), _as_block(second[0], turned)


def _lying(seen: NDArray[np.bool_]) -> tuple[bool, NDArray[np.bool_]]:
    """Whether rows and columns were exchanged so that rows are fewer, and the holes."""
    turned = seen.shape[0] > seen.shape[1]
    return turned, ~(seen.T if turned else seen)


def _worth_it(holes: NDArray[np.bool_]) -> bool:
    return 4 <= holes.sum() <= holes.size / 2 and _work(len(holes), *holes.shape) <= MOST_WORK


def _as_block(found: tuple[Ints, Ints], turned: bool) -> Block:
    return Block(*(found[::-1] if turned else found))


def _without(holes: NDArray[np.bool_], block: tuple[Ints, Ints]) -> NDArray[np.bool_]:
    left = holes.copy()
    left[np.ix_(*block)] = False
    return left


def _least_likely(holes: NDArray[np.bool_], cells: int) -> tuple[tuple[Ints, Ints], float] | None:
    """The least likely block among these holes of so many cells, and at most how often one is as unlikely."""
    expected = _expected(holes.shape, int(holes.sum()), cells)
    best, least = None, math.inf
    for rows, columns in _blocks(holes):
        value = expected[len(rows), int(columns.sum())]
        if value < least:
            best, least = (np.sort(rows), np.flatnonzero(columns)), float(value)
    return None if best is None else (best, min(float(np.exp(expected[expected <= least]).sum()), 1.0))


def _work(starts: int, rows: int, columns: int) -> int:
    return starts * rows**2 * columns


def _expected(shape: tuple[int, ...], holes: int, cells: int) -> NDArray[np.float64]:
    """The log of the expected number of blocks of each shape; ∞ for one row or column, which is no block."""
    most = [np.arange(size + 1) for size in shape]
    taken = np.outer(*most)
    left = np.maximum(holes - taken, 0)
    one = log_choose(np.maximum(cells - taken, left), left) - log_choose(cells, holes)
    found = log_choose(shape[0], most[0])[:, None] + log_choose(shape[1], most[1]) + one
    return np.where((taken <= holes) & (np.minimum.outer(*most) > 1), found, np.inf)


def _thin(holes: NDArray[np.bool_], rows: Ints, columns: Ints) -> bool:
    """Whether outside of the block its levels are empty more often than the others are (Fisher's test, one-sided)."""
    inside = np.isin(np.arange(holes.shape[0]), rows)[:, None], np.isin(np.arange(holes.shape[1]), columns)
    arms, rest = inside[0] ^ inside[1], ~(inside[0] | inside[1])
    some, all_, cells = int(holes[arms].sum()), int(holes[arms | rest].sum()), int(arms.sum() + rest.sum())
    wide = int(arms.sum())
    k = np.arange(max(some, all_ + wide - cells), min(all_, wide) + 1)
    chances = log_choose(all_, k) + log_choose(cells - all_, wide - k) - log_choose(cells, wide)
    return bool(np.exp(chances).sum() < THIN)


def _blocks(holes: NDArray[np.bool_]) -> Iterator[tuple[list[int], NDArray[np.bool_]]]:
    """Rows and the columns that are empty in all of them; a row, or pair, is joined by those that keep most columns."""
    n, table = len(holes), holes.astype(np.int32)
    starts = [[i] for i in range(n)]
    if _work(n * (n - 1) // 2, *holes.shape) <= MOST_WORK:
        starts = [[i, j] for i in range(n) for j in range(i)]
    for start in starts:
        rows, columns = list(start), np.logical_and.reduce(holes[start], axis=0)
        while columns.sum() > 1:
            if len(rows) > 1:
                yield rows, columns
            kept = table @ columns
            kept[rows] = -1
            if (row := int(kept.argmax())) in rows:
                break
            rows, columns = [*rows, row], columns & holes[row]
