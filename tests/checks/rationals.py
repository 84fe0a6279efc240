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


def left_over(basis: list[tuple[int, Row]], row: Row) -> Row:
    """What of a row is not spanned by a `basis_of` others."""
    for pivot, other in basis:
        if row[pivot]:
            factor = row[pivot] / other[pivot]
            row = [a - factor * b for a, b in zip(row, other, strict=True)]
    return row


def basis_of(rows: list[Row]) -> list[tuple[int, Row]]:
    """As many rows as the rank, each with its first column that is not 0, in which all later ones are 0."""
    basis: list[tuple[int, Row]] = []
    for row in rows:
        rest = left_over(basis, row)
        if any(rest):
            basis.append((next(i for i, value in enumerate(rest) if value), rest))
    return basis


def rank(rows: list[Row]) -> int:
    return len(basis_of(rows))


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
