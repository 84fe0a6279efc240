"""Combinations are rows of integers, one level per component; these helpers compare them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.kernels.moebius import IntArray

LARGEST_ID = 2**62


def as_combinations(values: ArrayLike, components: int, what: str) -> IntArray:
    """Integer array of shape (..., n, components); `what` names the argument in an error."""
    array = np.asarray(values)
    if array.ndim < 2 or array.shape[-1] != components:
        raise InputError(
            f"{what} has shape {array.shape}; give one row per combination with {components} columns, "
            "one per component of the kernel."
        )
    if array.dtype.kind not in "iu":
        raise InputError(f"{what} holds {array.dtype} values; code each level as an integer from 0.")
    if array.size and array.min() < 0:
        raise InputError(f"{what} holds the negative level {array.min()}; code each level as an integer from 0.")
    return array.astype(np.intp)


def full_grid(levels: Sequence[int]) -> IntArray:
    """Every combination of the given numbers of levels, last component fastest; shape (prod(levels), C)."""
    return np.stack(np.unravel_index(np.arange(int(np.prod(levels))), tuple(levels)), axis=-1).astype(np.intp)


def shared_components(a: IntArray, b: IntArray) -> IntArray:
    """Bit mask of the components on which two combinations agree; (..., n, C) and (..., m, C) give (..., n, m)."""
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    codes = np.zeros((*shape, a.shape[-2], b.shape[-2]), dtype=np.intp)
    for component in range(a.shape[-1]):
        codes += (a[..., :, None, component] == b[..., None, :, component]) * (1 << component)
    return codes


def sub_combination_ids(combinations: IntArray, components: Sequence[int]) -> IntArray:
    """Number the distinct sub-combinations on the given components; (n, C) gives (n,), equal rows equal numbers."""
    ids, size = np.zeros(len(combinations), dtype=np.intp), 1
    for component in components:
        column = combinations[:, component]
        levels = int(column.max(initial=0)) + 1
        if size * levels > LARGEST_ID:  # Renumbered, the mixed-radix code stays far from overflow.
            ids = np.unique(ids, return_inverse=True)[1].reshape(-1)
            size = len(ids)
        ids, size = ids * levels + column, size * levels
    return np.unique(ids, return_inverse=True)[1].reshape(-1)


def is_distinct(combinations: IntArray) -> bool:
    """Whether no row of (n, C) repeats."""
    return int(sub_combination_ids(combinations, range(combinations.shape[1])).max(initial=-1)) + 1 == len(combinations)


def observed_levels(combinations: IntArray) -> tuple[int, ...]:
    """How many different levels each component shows, over all rows and all sets of a batch."""
    return tuple(len(np.unique(combinations[..., c])) for c in range(combinations.shape[-1]))


def check_levels(train: IntArray, levels: Sequence[int]) -> None:
    """Each component c must show exactly the levels 0 … levels[c]-1, in every training set of a batch."""
    if len(levels) != train.shape[-1]:
        raise InputError(
            f"levels has {len(levels)} entries for {train.shape[-1]} components; give one number per component."
        )
    for component, count in enumerate(levels):
        column = train[..., component].reshape(-1, train.shape[-2])
        if column.max() >= count:
            raise InputError(
                f"component {component} of the training set shows level {column.max()} but has {count} "
                f"level{'s' * (count != 1)}; raise levels or recode it from 0."
            )
        unseen = np.argwhere(~_presence(column, count))
        if len(unseen):
            raise InputError(
                f"level {unseen[0, 1]} of component {component} occurs in no training combination; "
                "add one that shows it or leave the level out."
            )


def check_seen(train: IntArray, queries: IntArray) -> None:
    """Every level a query shows must occur in training; train (..., n, C), queries (..., m, C)."""
    for component in range(train.shape[-1]):
        seen, asked = train[..., component], queries[..., component]
        count = 1 + int(max(seen.max(initial=0), asked.max(initial=0)))
        have = _presence(seen.reshape(-1, seen.shape[-1]), count).reshape(*seen.shape[:-1], count)
        want = _presence(asked.reshape(-1, asked.shape[-1]), count).reshape(*asked.shape[:-1], count)
        missing = np.argwhere(want & ~have)
        if len(missing):
            raise InputError(
                f"a query shows level {missing[0, -1]} of component {component}, which no training combination "
                "shows; train on it, or pass allow_unseen=True to count its own effects as 0."
            )


def _presence(columns: IntArray, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    present = np.zeros((len(columns), count), dtype=np.bool_)
    present[np.arange(len(columns))[:, None], columns] = True
    return present
