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

from recombine.checks.exact.modular import Echelon, Floats, Ints, inverse, multiply, primes, rational, small_fractions

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
    """Pivot columns and an integer basis (columns × nullity) of the null space of independent rows, proved in
    integers.
    """
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
    solution = exact_solve(basis[:, pivots], -basis[:, free[wrong]].T)
    for column, values in zip(wrong, solution, strict=True):
        common = math.lcm(*(v.denominator for v in values))
        wide[:, column] = 0
        wide[free[column], column] = common
        wide[pivots, column] = [int(v * common) for v in values]
    if np.abs(wide).max(initial=0) < SAFE:
        return pivots, wide.astype(np.int64)
    return pivots, wide


def exact_product(left: Integers, right: Integers) -> Integers:
    """left · right in integers: by BLAS where every partial sum is below 2**53, else in 64 bits, else in Python
    integers.
    """
    if left.dtype != object and right.dtype != object:
        size = float(np.abs(left).max(initial=0)) * float(np.abs(right).max(initial=0)) * max(1, left.shape[-1])
        if size < 2**53:
            return np.rint(left.astype(np.float64) @ right.astype(np.float64)).astype(np.int64)
        if size < 2**62:
            return np.asarray(left @ right)
    return np.asarray(left.astype(object) @ right.astype(object))


def exact_solve(matrix: Ints, targets: Ints, start: tuple[int, Floats] | None = None) -> list[list[Fraction]]:
    """For each row t of ``targets`` the rational x with matrix · x = t; the matrix is square and regular.

    Dixon's lifting (1982): with one inverse modulo p, digit after digit of x in base p; then rational reconstruction,
    and a check in integers. ``start`` is (p, inverse) where it is known already.
    """
    prime, inverted = start or _regular_prime(matrix)
    found: dict[int, list[Fraction]] = {}
    left: Integers = targets.T
    residues = np.zeros(targets.shape, dtype=object)
    modulus, attempt = 1, 2
    open_rows = np.arange(len(targets))
    while len(open_rows):
        digit = multiply(inverted, np.mod(left, prime).astype(np.float64), prime).astype(np.int64)
        residues[open_rows] += digit.T.astype(object) * modulus
        modulus *= prime
        left = (left - exact_product(matrix, digit)) // prime
        if modulus < prime**attempt:
            continue
        attempt *= 2
        for row in open_rows:
            values = _reconstruct(residues[row], modulus)
            if values is not None and _solves(matrix, values, targets[row]):
                found[int(row)] = values
        still = np.array([int(row) not in found for row in open_rows])
        open_rows, left = open_rows[still], left[:, still]
    return [found[i] for i in range(len(targets))]


def _regular_prime(matrix: Ints) -> tuple[int, Floats]:
    for prime in primes():
        inverted = inverse(matrix, prime)
        if inverted is not None:
            return prime, inverted
    raise ArithmeticError("the matrix has no inverse")


def _reconstruct(residues: Integers, modulus: int) -> list[Fraction] | None:
    """Fractions with one common denominator, each below √(modulus / 2), or None where there are none."""
    bound = math.isqrt(modulus // 2)
    common = 1
    numerators: list[tuple[int, int]] = []
    for residue in residues.tolist():
        scaled = residue * common % modulus
        scaled = scaled - modulus if scaled > modulus // 2 else scaled
        if abs(scaled) > bound:
            value = rational(scaled, modulus)
            if value is None or common * value.denominator > bound:
                return None
            common *= value.denominator
            scaled = value.numerator
        numerators.append((scaled, common))
    return [Fraction(n, d) for n, d in numerators]


def _solves(matrix: Ints, values: list[Fraction], target: Ints) -> bool:
    common = math.lcm(*(v.denominator for v in values)) if values else 1
    scaled = np.array([v.numerator * (common // v.denominator) for v in values], dtype=object)
    for row, wanted in zip(matrix, target.tolist(), strict=True):
        some = np.flatnonzero(row)
        if (row[some].astype(object) * scaled[some]).sum() != wanted * common:
            return False
    return True


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
        return exact_solve(self._square, rows[:, self._pivots], (self._prime, self._inverse))


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
