"""Two-way tables of row counts: the blocks of XᵀX, and what confounding is read from. Counted once, used by both."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np

from recombine.checks.exact.modular import Floats, Ints
from recombine.space import Codes

Pairs = Mapping[tuple[int, int], Floats]

MOST_CELLS = 4_000_000
CHUNK = 1_000_000
SHOWING = 20
"""Rows for each pair of levels among which every pair may be expected."""
MANY = 200
"""Pairs from which one product of matrices is faster than counting each pair by itself."""
MOST_LEVELS = 2_048


def two_way(codes: Codes, counts: Ints | None, j: int, k: int, shape: tuple[int, ...]) -> Floats:
    """Rows by level of factor j and level of factor k; ``counts`` None: each combination once."""
    table = np.zeros(shape[j] * shape[k])
    for start in range(0, len(codes), CHUNK):
        part = slice(start, start + CHUNK)
        keys = codes[part, j].astype(np.int64)
        keys *= shape[k]
        keys += codes[part, k]
        table += tally(keys, None if counts is None else counts[part], len(table))
    return table.reshape(shape[j], shape[k])


def tally(keys: Ints, counts: Ints | None, size: int) -> Floats:
    """How many rows have each of so many keys, where each stands for ``counts`` rows (None: one)."""
    found = np.bincount(keys, minlength=size).astype(np.float64)
    if counts is not None and len(several := np.flatnonzero(counts != 1)):  # of many rows, few
        found += np.bincount(keys[several], counts[several] - 1, size)
    return found


def showing_pairs(codes: Codes, shape: tuple[int, ...]) -> Codes:
    """Some of the rows, evenly spread, that show every pair of levels, where so few do; else all of them."""
    step = len(codes) // (SHOWING * math.prod(sorted(shape)[-2:]))
    some = codes[:: max(step, 1)]
    full = step > 1 and all(
        two_way(some, None, *pair, shape).all() for pair in itertools.combinations(range(len(shape)), 2)
    )
    return some if full else codes


def pair_tables(codes: Codes, counts: Ints, shape: tuple[int, ...]) -> Pairs:
    """The two-way table of every pair of factors with at most four million cells."""
    weights = None if (counts == 1).all() else counts
    pairs = list(itertools.combinations(range(len(shape)), 2))
    if len(pairs) > MANY and sum(shape) <= MOST_LEVELS:
        starts = [0, *itertools.accumulate(shape)]
        gram = _gram(codes, counts, starts)
        return {(j, k): gram[starts[j] : starts[j + 1], starts[k] : starts[k + 1]] for j, k in pairs}
    return {(j, k): two_way(codes, weights, j, k, shape) for j, k in pairs if shape[j] * shape[k] <= MOST_CELLS}


def _gram(codes: Codes, counts: Ints, starts: list[int]) -> Floats:
    """All tables at once: XᵀX of the indicators of levels."""
    gram = np.zeros((starts[-1], starts[-1]))
    step = max(1, CHUNK * 4 // starts[-1])
    for start in range(0, len(codes), step):
        part = codes[start : start + step].astype(np.int64) + np.array(starts[:-1])
        x = np.zeros((len(part), starts[-1]))
        x[np.arange(len(part))[:, None], part] = 1.0
        gram += (x * counts[start : start + step, None]).T @ x
    return gram
