"""In which order to visit cells where changing a factor costs something: a short path, and what none can beat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from recombine.checks.exact.modular import Floats, Ints
from recombine.space import Codes

MOST = 1_000
"""Cells up to which the order is improved by turning parts of it round."""


def visiting_order(cells: Codes, prices: Sequence[float]) -> tuple[Ints, float, float]:
    """An order, the price of its changes, and a lower bound: a path is a spanning tree, so none is cheaper than the
    cheapest tree. Nearest neighbour first, then parts are turned round while that helps (2-opt)."""
    if len(cells) < 2:
        return np.arange(len(cells)), 0.0, 0.0
    apart = np.zeros((len(cells), len(cells)))
    for k, price in enumerate(prices):
        apart += price * (cells[:, k][:, None] != cells[:, k][None, :])
    order = _nearest(apart)
    if len(cells) <= MOST:
        order = _turned(order, apart)
    path = float(apart[order[:-1], order[1:]].sum())
    tree = minimum_spanning_tree(csr_array(apart + 1.0)).sum() - (len(cells) - 1)  # + 1: a zero would be no edge.
    return order, path, max(0.0, float(tree))


def _nearest(apart: Floats) -> Ints:
    left = np.ones(len(apart), dtype=bool)
    order = [0]
    left[0] = False
    while left.any():
        order.append(int(np.argmin(np.where(left, apart[order[-1]], np.inf))))
        left[order[-1]] = False
    return np.array(order, dtype=np.int64)


def _turned(order: Ints, apart: Floats) -> Ints:
    for _ in range(20):
        better = False
        for i in range(len(order) - 1):
            # Turn order[i + 1 … j] round: the edges at its two ends change (after the last cell there is none).
            ends = order[i + 1 :]
            after = np.append(order[i + 2 :], -1)
            now = apart[order[i], order[i + 1]] + np.where(after >= 0, apart[ends, after], 0.0)
            then = apart[order[i], ends] + np.where(after >= 0, apart[order[i + 1], after], 0.0)
            j = int(np.argmax(now - then))
            if now[j] - then[j] > 1e-12:
                order[i + 1 : i + 2 + j] = order[i + 1 : i + 2 + j][::-1].copy()
                better = True
        if not better:
            break
    return order
