"""The row space of integer rows over the rationals, decided exactly.

    row ∈ span(X)  ⇔  row · n = 0 for every n of a basis N of the null space of X

Elimination modulo a prime proposes; integers prove. Rows B picked as independent modulo p are independent over ℚ, so
rank X ≥ |B|. The integer basis N is read off the elimination, has rank columns − |B| by its identity block, and is
checked in integers to annihilate every row of X, so rank X ≤ |B|. A row that N does not annihilate joins B and the
check starts again. No tolerance is involved anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.checks.modular import Echelon, Ints, inverse, multiply, primes, rational, small_fractions

Integers = NDArray[Any]
"""int64 where everything is small, Python integers (dtype object) where it is not."""

Apply = Callable[[Any, Integers], Integers]
"""(points, V) → rows(points) · V, exact."""
Rows = Callable[[Any], Ints]

CHUNK = 65_536
MOST_EFFECTS = 4_096
"""Effects that elimination takes on; above, the request is refused with its size."""
SAFE = 2**40
"""Entries below this keep products with short small rows inside 63 bits."""


class Span:
    """The span of the rows of some points: rank, an independent subset of the points, and an integer null basis."""

    def __init__(self, columns: int, rows: Rows, apply: Apply, points: Integers) -> None:
        self.columns = columns
        self._rows, self._apply = rows, apply
        echelon = Echelon(columns)
        chosen: list[int] = []
        if columns:
            self._propose(echelon, points, chosen)
        while True:
            self.basis = np.array(chosen, dtype=np.int64)
            self.basis_rows: Ints = rows(points[self.basis]) if chosen else np.zeros((0, columns), dtype=np.int64)
            self.pivots, self.null = null_basis(self.basis_rows, echelon)
            strays = self._first_stray(points)
            if strays is None:
                break
            chosen.append(strays)
            echelon = _independent(self.basis_rows, rows(points[[strays]]))

    @property
    def rank(self) -> int:
        return len(self.basis)

    @property
    def full(self) -> bool:
        return self.rank == self.columns

    def values(self, points: Any) -> Integers:
        """rows(points) · N: all zero exactly where the row lies in the span."""
        return self._apply(points, self.null)

    def contains(self, points: Any) -> NDArray[np.bool_]:
        if self.full:
            return np.ones(len(points), dtype=bool)
        width = max(1, min(CHUNK, 8_000_000 // max(1, self.null.shape[1])))
        parts = [~(self.values(points[s : s + width]) != 0).any(axis=1) for s in range(0, len(points), width)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)

    def _propose(self, echelon: Echelon, points: Integers, chosen: list[int]) -> None:
        for start in range(0, len(points), CHUNK):
            chunk = points[start : start + CHUNK]
            at = 0
            while at < len(chunk) and echelon.rank < echelon.columns:
                probe = echelon.random_null_vectors(2, seed=start + echelon.rank)
                new = np.flatnonzero((np.mod(self._apply(chunk[at:], probe), echelon.prime) != 0).any(axis=1))
                if not len(new):
                    break
                batch = at + new[: max(256, echelon.columns // 4)]
                chosen += [start + int(batch[i]) for i in echelon.add(self._rows(chunk[batch]))]
                at = int(batch[-1]) + 1 if len(batch) < len(new) else len(chunk)
            if echelon.rank == echelon.columns:
                return

    def _first_stray(self, points: Integers) -> int | None:
        if not self.null.shape[1]:
            return None
        width = max(1, min(CHUNK, 16_000_000 // self.null.shape[1]))
        for start in range(0, len(points), width):
            wrong = np.flatnonzero((self.values(points[start : start + width]) != 0).any(axis=1))
            if len(wrong):
                return start + int(wrong[0])
        return None


def _independent(rows: Ints, extra: Ints) -> Echelon:
    """An echelon form of both, modulo a prime that sees all of them as independent (they are, over ℚ)."""
    both = np.vstack([rows, extra])
    for prime in primes():
        echelon = Echelon(rows.shape[1], prime)
        echelon.add(both)
        if echelon.rank == len(both):
            return echelon
    raise ArithmeticError("no prime below 2**20 keeps these rows independent")


def null_basis(basis: Ints, echelon: Echelon) -> tuple[Ints, Integers]:
    """Pivot columns and an integer basis (columns × nullity) of the null space of independent rows, proved in integers."""
    order = np.argsort(echelon.pivots)
    pivots = echelon.pivots[order]
    free = np.setdiff1d(np.arange(basis.shape[1]), pivots)
    null = np.zeros((basis.shape[1], len(free)), dtype=np.int64)
    residues = np.mod(-echelon.rows[order][:, free].T, echelon.prime)
    scale, numerators = small_fractions(residues, echelon.prime)
    null[free, np.arange(len(free))] = scale
    null[pivots] = numerators.T
    wrong = np.flatnonzero((exact_product(basis, null) != 0).any(axis=0) | (scale == 0))
    if not len(wrong):
        return pivots, null
    wide: Integers = null.astype(object)
    solution = exact_solve(basis[:, pivots].T, -basis[:, free[wrong]].T)
    for column, values in zip(wrong, solution, strict=True):
        common = math.lcm(*(v.denominator for v in values))
        wide[:, column] = 0
        wide[free[column], column] = common
        wide[pivots, column] = [int(v * common) for v in values]
    if np.abs(wide).max(initial=0) < SAFE:
        return pivots, wide.astype(np.int64)
    return pivots, wide


def exact_product(left: Integers, right: Integers) -> Integers:
    """left · right in integers: by BLAS where every partial sum is below 2**53, else in 64 bits, else in Python integers."""
    if left.dtype != object and right.dtype != object:
        size = float(np.abs(left).max(initial=0)) * float(np.abs(right).max(initial=0)) * max(1, left.shape[-1])
        if size < 2**53:
            return np.rint(left.astype(np.float64) @ right.astype(np.float64)).astype(np.int64)
        if size < 2**62:
            return np.asarray(left @ right)
    return np.asarray(left.astype(object) @ right.astype(object))


def exact_solve(matrix: Ints, targets: Ints) -> list[list[Fraction]]:
    """For each row t of ``targets`` the rational x with matrix · x = t; the matrix is square and regular.

    Residues modulo more and more primes (Chinese remainders), rational reconstruction, and a check in integers.
    """
    open_rows = list(range(len(targets)))
    found: dict[int, list[Fraction]] = {}
    modulus = 1
    residues = np.zeros(targets.shape, dtype=object)
    for prime in primes():
        inverted = inverse(matrix, prime)
        if inverted is None:
            continue
        step = (
            multiply(np.mod(targets[open_rows], prime).astype(np.float64), inverted.T, prime)
            .astype(np.int64)
            .astype(object)
        )
        lift = pow(modulus, -1, prime)
        residues[open_rows] = residues[open_rows] + modulus * (((step - residues[open_rows]) * lift) % prime)
        modulus *= prime
        for row in list(open_rows):
            guess = [rational(int(r), modulus) for r in residues[row]]
            values = [g for g in guess if g is not None]
            if len(values) == len(guess) and _solves(matrix, values, targets[row]):
                found[row] = values
                open_rows.remove(row)
        if not open_rows:
            return [found[i] for i in range(len(targets))]
    raise ArithmeticError("the system has no rational solution below 2**20 primes")


def _solves(matrix: Ints, values: list[Fraction], target: Ints) -> bool:
    common = math.lcm(*(v.denominator for v in values)) if values else 1
    scaled = np.array([int(v * common) for v in values], dtype=object)
    return bool((exact_product(matrix.astype(object), scaled[:, None])[:, 0] == target.astype(object) * common).all())


class Coordinates:
    """Unique coordinates of rows in independent rows: C · basis = L · row in integers, checked.

    The non-zero entries of a row of C name an inclusion-minimal set: in independent rows no proper part of it would do.
    """

    def __init__(self, basis: Ints) -> None:
        self.basis = basis
        echelon = Echelon(basis.shape[1])
        if len(echelon.add(basis)) < len(basis):
            echelon = _independent(basis[:-1], basis[-1:])
        self._prime = echelon.prime
        self._pivots = np.sort(echelon.pivots)
        self._square: Ints = basis[:, self._pivots].T
        inverted = inverse(self._square, self._prime)
        if inverted is None:
            raise ArithmeticError("pivot columns are not independent")
        self._inverse = inverted

    def guess(self, rows: Ints) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """(L, C, right): coordinates with small denominators, and for which rows they are proved right."""
        residues = multiply(np.mod(rows[:, self._pivots], self._prime).astype(np.float64), self._inverse.T, self._prime)
        scale, numbers = small_fractions(residues, self._prime)
        right = (scale > 0) & (exact_product(numbers, self.basis) == scale[:, None] * rows).all(axis=1)
        return scale, numbers, right

    def solve(self, rows: Ints) -> list[list[Fraction]]:
        """Coordinates of rows in the span whatever their denominators; slow."""
        return exact_solve(self._square, rows[:, self._pivots])


def coordinates(basis: Ints, rows: Ints) -> tuple[Integers, Integers]:
    """Denominators L and integers C with C · basis = L · rows, for rows in the span of independent rows."""
    if not len(rows) or not len(basis):
        return np.ones(len(rows), dtype=np.int64), np.zeros((len(rows), len(basis)), dtype=np.int64)
    system = Coordinates(basis)
    scale, numbers, right = system.guess(rows)
    if right.all():
        return scale, numbers
    wide: Integers = numbers.astype(object)
    wide_scale: Integers = scale.astype(object)
    for row, values in zip(np.flatnonzero(~right), system.solve(rows[~right]), strict=True):
        common = math.lcm(*(v.denominator for v in values))
        wide_scale[row] = common
        wide[row] = [int(v * common) for v in values]
    return wide_scale, wide


__all__ = ["Coordinates", "Span", "coordinates", "exact_product", "exact_solve", "null_basis"]
