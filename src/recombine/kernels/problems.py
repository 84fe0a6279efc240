"""The task sets of Lippl & Stachenfeld (2025) as integer combinations, exactly as their configurations state them,
and random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.kernels.combinations import full_grid
from recombine.kernels.moebius import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Problem:
    """What is seen and what is asked: combinations (n, C) with a target each, and `levels` per component."""

    levels: tuple[int, ...]
    train: IntArray
    targets: FloatArray
    test: IntArray
    test_targets: FloatArray


def addition(anchors: Sequence[int], values: ArrayLike = tuple(range(-4, 5))) -> Problem:
    """y = v_i + v_j; a pair trains if either item (an index into `values`) is an anchor."""
    v = np.asarray(values, dtype=np.float64)
    pairs = full_grid((len(v), len(v)))
    check_anchors(anchors, len(v))
    return _split(pairs, v[pairs].sum(axis=1), np.isin(pairs, list(anchors)).any(axis=1))


def dispersed_addition(seed: int, values: ArrayLike = tuple(range(-4, 5))) -> Problem:
    """y = v_i + v_j; each item trains with two partners: a circulant of ones whose rows are shuffled by `seed`.

    The training graph is one cycle through all items of both components (the authors use seeds 1 … 50).
    """
    v = np.asarray(values, dtype=np.float64)
    ones = np.eye(len(v), dtype=bool)
    partners = (ones | np.roll(ones, 1, axis=1))[np.random.default_rng(seed).permutation(len(v))]
    pairs = full_grid((len(v), len(v)))
    return _split(pairs, v[pairs].sum(axis=1), partners.ravel())


def context_dependence(left_out: int = 3, features: int = 3) -> Problem:
    """Context 0 asks for the sign of feature 1, context 1 for that of feature 2; `features` per sign.

    CD-n: the block of n negative values of feature 1 and n positive values of feature 2 is left out in both
    contexts.
    """
    if not 1 <= left_out <= features:
        raise InputError(f"left_out is {left_out}; give 1 to {features}, the number of features per sign.")
    grid = full_grid((2, 2 * features, 2 * features))
    asked = np.where(grid[:, 0] == 0, grid[:, 1], grid[:, 2])
    second = grid[:, 2] - features
    test = (grid[:, 1] < left_out) & (second >= 0) & (second < left_out)
    return _split(grid, np.where(asked < features, -1.0, 1.0), ~test)


def transitive_equivalence(classes: Sequence[int] = (2, 2), anchors: Sequence[int] = (1, 1)) -> Problem:
    """y = +1 for two items of one class, else -1; a pair trains if either item is among its class's first anchors."""
    if len(classes) != 2 or len(anchors) != 2 or any(not 0 <= a <= c for a, c in zip(anchors, classes, strict=True)):
        raise InputError(f"classes {tuple(classes)} and anchors {tuple(anchors)} must be two sizes, anchors within.")
    side = np.repeat([1.0, -1.0], classes)
    is_anchor = np.concatenate([np.arange(c) < a for a, c in zip(anchors, classes, strict=True)])
    pairs = full_grid((len(side), len(side)))
    return _split(pairs, side[pairs].prod(axis=1), is_anchor[pairs].any(axis=1))


def transitive_ordering(items: int = 7) -> Problem:
    """y = +1 if the second item ranks higher, else -1; adjacent items train, all others are asked."""
    pairs = full_grid((items, items))
    distance = pairs[:, 1] - pairs[:, 0]
    different = distance != 0
    return _split(pairs[different], np.sign(distance[different]).astype(np.float64), np.abs(distance[different]) == 1)


def ordering_with_exceptions(items: int = 7, exceptions: tuple[tuple[int, int], ...] = ((0, 6),)) -> Problem:
    """Adjacent pairs train, and so do ``exceptions`` in both orders, with the answer against the order of ranks."""
    plain = transitive_ordering(items)
    turned = {pair for i, j in exceptions for pair in ((i, j), (j, i))}
    moved = np.array([tuple(row) in turned for row in plain.test.tolist()])
    train = np.concatenate([plain.train, plain.test[moved]])
    targets = np.concatenate([plain.targets, -plain.test_targets[moved]])
    return Problem(plain.levels, train, targets, plain.test[~moved], plain.test_targets[~moved])


def invariance() -> Problem:
    """Binary items: (-,-) is -1 and (+,-) is +1; the second item never varies, then takes its other value."""
    pairs = full_grid((2, 2))
    return _split(pairs, np.array([-1.0, -1.0, 1.0, 1.0]), pairs[:, 1] == 0)


def partial_exposure() -> Problem:
    """As `invariance`, with (-,+) = -1 trained too; only (+,+) is asked."""
    pairs = full_grid((2, 2))
    return _split(pairs, np.array([-1.0, -1.0, 1.0, 1.0]), ~pairs.all(axis=1))


def random_problem(components: int, seed: int) -> Problem:
    """A random answer to half of all combinations, each level among them; the other half is asked."""
    rng = np.random.default_rng([components, seed])
    levels = tuple(int(n) for n in rng.integers(2, 5, size=components))
    grid = full_grid(levels)
    while True:
        trained = rng.random(len(grid)) < 0.5
        if all(len(np.unique(grid[trained, c])) == n for c, n in enumerate(levels)) and not trained.all():
            break
    answers = rng.normal(size=len(grid))
    return Problem(levels, grid[trained], answers[trained], grid[~trained], answers[~trained])


def check_anchors(anchors: Sequence[int], items: int) -> None:
    """Anchors are distinct item indices, at least one, and leave something to ask."""
    if not anchors or len(set(anchors)) != len(anchors) or not all(0 <= a < items for a in anchors):
        raise InputError(f"anchors is {list(anchors)}; give distinct item indices from 0 to {items - 1}.")
    if len(anchors) == items:
        raise InputError("every item is an anchor, so every pair is trained; leave at least one item out.")


def _split(grid: IntArray, targets: FloatArray, trained: ArrayLike) -> Problem:
    train = np.asarray(trained, dtype=np.bool_)
    levels = tuple(int(n) for n in grid.max(axis=0) + 1)
    return Problem(levels, grid[train], targets[train], grid[~train], targets[~train])
