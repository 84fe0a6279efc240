"""Which cells of a table are held out: at random, whole pairs of levels, as many at random, or all but a few."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.modular import Floats
from recombine.checks.rules.seen_cells import Cells

Holes = Literal["random", "structured", "sparse", "as many at random"]
HOLES: tuple[Holes, ...] = ("random", "structured", "sparse", "as many at random")
SHARE = 0.3
"""Of the cells, or of the pairs of levels, that are held out."""
BEYOND = 1.3
"""Sparse: so many cells are seen for each number that adding up has to learn."""
TRIES, FEWEST_SEEN = 40, 8
Mask = NDArray[np.bool_]


def indicators(cells: Cells) -> Floats:
    """One column per level."""
    return np.concatenate([np.eye(n)[cells.codes[:, k]] for k, n in enumerate(cells.shape)], axis=1)


def hold_out(cells: Cells, holes: Holes, rng: np.random.Generator, hidden: int = 0) -> tuple[Mask, Mask] | None:
    """Which cells are held out (as many at random: ``hidden``), and which of all cells the others determine; None where
    no draw leaves enough. Unless they are sparse, the others determine all wherever one of some draws does."""
    x = indicators(cells)
    rank, found = int(np.linalg.matrix_rank(x)), None
    for _ in range(TRIES):
        out = _drawn(cells, holes, rank, rng, hidden)
        if out.sum() < 2 or (~out).sum() < FEWEST_SEEN:
            continue
        row_space = np.linalg.svd(x[~out], full_matrices=False)
        kept = row_space[2][row_space[1] > 1e-9 * row_space[1][0]]
        found = out, np.asarray(np.abs(x - x @ kept.T @ kept).max(axis=1) < 1e-6)
        if holes == "sparse" or len(kept) == rank:
            break
    return found


def _drawn(cells: Cells, holes: Holes, rank: int, rng: np.random.Generator, hidden: int) -> Mask:
    count = len(cells.codes)
    if holes in ("sparse", "as many at random"):
        out = np.ones(count, dtype=bool)
        seen = round(BEYOND * rank) if holes == "sparse" else count - hidden
        out[rng.choice(count, min(seen, count), replace=False)] = False
        return out
    if holes == "random":
        return np.asarray(rng.random(count) < SHARE)
    if len(cells.shape) == 2:  # a block: new places in the last years
        chosen = [rng.choice(n, max(2, n // 3) if n > 2 else 1, replace=False) for n in cells.shape]
        return np.asarray(np.isin(cells.codes[:, 0], chosen[0]) & np.isin(cells.codes[:, 1], chosen[1]))
    j, k = rng.choice(len(cells.shape), 2, replace=False)
    pair = cells.codes[:, j] * cells.shape[k] + cells.codes[:, k]
    every = np.unique(pair)
    return np.asarray(np.isin(pair, rng.choice(every, max(1, round(SHARE * len(every))), replace=False)))
