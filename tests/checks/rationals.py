"""The slow truth: indicator rows written out and ranks by elimination in fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

Row = list[Fraction]


def grid(shape: tuple[int, ...]) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, shape))), dtype=np.int64).reshape(-1, len(shape))


def indicator(code: np.ndarray, shape: tuple[int, ...], order: int) -> Row:
    """One-hot over all conjunctions of at most ``order`` factors' levels, the constant included."""
    return [
        Fraction(int(all(code[k] == level for k, level in zip(chosen, levels, strict=True))))
        for size in range(order + 1)
        for chosen in itertools.combinations(range(len(shape)), size)
        for levels in itertools.product(*(range(shape[k]) for k in chosen))
    ]


def rank(rows: list[Row]) -> int:
    rows = [row[:] for row in rows]
    found = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(found + 1, len(rows)):
            if rows[i][column]:
                factor = rows[i][column] / rows[found][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


@st.composite
def supports(
    draw: st.DrawFn, most_factors: int = 4, most_levels: int = 5, most_cells: int = 60, orders: tuple[int, ...] = (1, 2)
):
    """A space of 2 … 4 factors with 2 … 5 levels, a random support in it, and an order."""
    factors = draw(st.integers(2, most_factors))
    shape: tuple[int, ...] = ()
    for left in range(factors, 0, -1):
        room = most_cells // int(np.prod(shape, dtype=int)) // 2 ** (left - 1)
        shape += (draw(st.integers(2, max(2, min(most_levels, room)))),)
    cells = grid(shape)
    size = draw(st.integers(1, len(cells)))
    chosen = draw(st.permutations(range(len(cells))))[:size]
    order = draw(st.sampled_from([m for m in orders if m <= factors]))
    return shape, cells[sorted(chosen)], order
