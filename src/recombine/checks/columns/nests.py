"""Blocks that each lie in one level of a factor, as those of a field trial in a site: there their shifts add to zero.

What the blocks of a level have in common is not told from it: with n blocks of shifts of variance σ² a level is off by
a variance of σ²/n from all that there could be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.modular import Floats, Ints

Estimated = NDArray[np.floating[Any]]


def nests_of(codes: Ints, held: int) -> list[tuple[int, ...]]:
    """Of each column of blocks, the factors in one level of which every block lies, several blocks in some."""
    found = []
    for block in codes[:, held:].T:
        value = np.unique(block, return_inverse=True)[1].ravel()
        first = np.unique(value, return_index=True)[1]
        nest = [k for k in range(held) if np.ptp(codes[:, k]) and (codes[first, k][value] == codes[:, k]).all()]
        several = len(np.unique(codes[first][:, nest], axis=0)) < len(first)
        found.append(tuple(nest) if several else ())
    return found


def indicators(asked: Ints, blocks: Ints, codes: Ints, nests: Sequence[tuple[int, ...]]) -> Floats:
    """Columns of blocks; of those in one level of a factor less the average of that level."""
    columns = []
    for k, nest in enumerate(nests):
        values, first = np.unique(blocks[:, k], return_index=True)
        own = np.eye(len(values))
        if nest:
            own -= means_of_parts(own, np.unique(codes[first][:, nest], axis=0, return_inverse=True)[1].ravel())
        columns.append(own[np.searchsorted(values, asked[:, k])])
    return np.hstack(columns)


def of_levels(
    blocks: Ints, codes: Ints, nests: Sequence[tuple[int, ...]], shifts: Estimated, known_from: Estimated, noise: float
) -> float:
    """Variance that blocks in levels of factors leave to the mean of a level, added up over their columns.
    ``known_from``: the rows that each shift is estimated from; ``noise``: the variance of these."""
    total, at = 0.0, 0
    for k, nest in enumerate(nests):
        first = np.unique(blocks[:, k], return_index=True)[1]
        many, own = len(first), slice(at, at + len(first))
        at += many
        if nest:
            inside = np.bincount(np.unique(codes[first][:, nest], axis=0, return_inverse=True)[1].ravel())
            off = indicators(blocks[first][:, [k]], blocks[:, [k]], codes, [nest])
            square = float(((off @ shifts[own]) ** 2).sum() - noise * ((off @ known_from[own]) ** 2).sum())
            total += max(0.0, square) / (many - len(inside)) * float((1 / inside).mean())
    return total


def means_of_parts(rows: Floats, part: Ints) -> Floats:
    """Of each row, the mean of its part."""
    member = np.eye(int(part.max()) + 1)[part]
    return np.asarray(member @ (member.T @ rows / member.sum(axis=0)[:, None]))
