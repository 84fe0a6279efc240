"""Ranks known without any elimination."""

from __future__ import annotations


def grid_rank(shape: tuple[int, ...], order: int) -> int:
    """rank of the whole grid = Σ over subsets J of at most m factors of Π_{c∈J} (n_c − 1)."""
    polynomial = [1] + [0] * order
    for levels in shape:
        for degree in range(order, 0, -1):
            polynomial[degree] += polynomial[degree - 1] * (levels - 1)
    return sum(polynomial)
