"""Combinations as whole numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recombine.checks.exact.modular import Ints


def key_of(codes: Ints, shape: tuple[int, ...], subset: Sequence[int]) -> Ints:
    """One whole number for the levels that a row has in a subset of factors."""
    key = np.zeros(len(codes), dtype=np.int64)
    for k in subset:
        key *= shape[k]
        key += codes[:, k]
    return key
