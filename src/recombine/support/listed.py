"""A list of combinations: sorted, each once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from recombine.errors import InputError
from recombine.space import Codes, FactorSpace, Points

Mask = NDArray[np.bool_]


def listed(space: FactorSpace, codes: Points | Iterable[Iterable[int]]) -> Codes:
    """The combinations of a list, sorted and each once, after making sure that they lie in the space."""
    if not space.finite:
        raise InputError("only a space of categorical factors has combinations to list.")
    rows = space.check(codes if isinstance(codes, np.ndarray) else [list(row) for row in codes])
    return np.unique(rows, axis=0) if len(rows) else rows.reshape(0, len(space))


def listed_in(space: FactorSpace, codes: Codes, points: Points) -> Mask:
    """For each point, whether it is on the list."""
    if space.size <= 2**62:
        return np.isin(space.index(points), space.index(codes))
    mine = {row.tobytes() for row in np.ascontiguousarray(codes)}
    return np.array([row.tobytes() in mine for row in np.ascontiguousarray(points)], dtype=bool)
