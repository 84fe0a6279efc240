"""Elimination modulo a prime, in blocks that a BLAS multiplies exactly.

Entries are whole numbers below p < 2**20 held as float64, so a product of up to 8 192 terms stays below 2**53 and every
multiplication is exact. Rows independent modulo p are independent over the rationals; the converse is proved afterwards
in integers (see `span`), so the choice of prime can cost time but never an answer.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TERMS = 8_192
BATCH = 32
LARGEST_PRIME = 2**20


@lru_cache(maxsize=1)
def primes() -> tuple[int, ...]:
    """The primes below 2**20, largest first."""
    sieve = np.ones(LARGEST_PRIME, dtype=bool)
    sieve[:2] = False
    for n in range(2, int(LARGEST_PRIME**0.5) + 1):
        if sieve[n]:
            sieve[n * n :: n] = False
    return tuple(int(p) for p in np.flatnonzero(sieve)[::-1])


FIRST_PRIME = 1_048_573


def remainder(values: Floats, prime: int) -> Floats:
    """Whole numbers below 2**53 modulo the prime, in place; several times faster than numpy's mod of floats.

    The rounded quotient is off by at most one, so one correction either way makes the remainder exact.
    """
    values -= np.floor(values / prime) * prime
    np.add(values, prime, out=values, where=values < 0)
    np.subtract(values, prime, out=values, where=values >= prime)
    return values


def multiply(left: Floats, right: Floats, prime: int) -> Floats:
    """left · right modulo the prime, exactly."""
    if left.shape[1] <= TERMS:
        return remainder(left @ right, prime)
    total = np.zeros((left.shape[0], right.shape[1]))
    for start in range(0, left.shape[1], TERMS):
        total += remainder(left[:, start : start + TERMS] @ right[start : start + TERMS], prime)
    return remainder(total, prime)


class Echelon:
    """The reduced row echelon form modulo a prime of all rows added so far; rows are accepted in the order they
    come.
    """

    def __init__(self, columns: int, prime: int = FIRST_PRIME) -> None:
        self.prime = prime
        self.columns = columns
        self._rows: Floats = np.zeros((0, columns))
        self._pivots: list[int] = []

    @property
    def rank(self) -> int:
        return len(self._pivots)

    @property
    def pivots(self) -> Ints:
        return np.array(self._pivots, dtype=np.int64)

    @property
    def rows(self) -> Floats:
        return self._rows

    def add(self, rows: NDArray[Any]) -> Ints:
        """Add rows one after another; the positions of those independent of everything before them."""
        accepted: list[int] = []
        for start in range(0, len(rows), BATCH):
            accepted += [
                start + i for i in self._add_batch(np.mod(rows[start : start + BATCH], self.prime).astype(np.float64))
            ]
            if self.rank == self.columns:
                break
        return np.array(accepted, dtype=np.int64)

    def _add_batch(self, batch: Floats) -> list[int]:
        p = self.prime
        if self.rank:
            batch = remainder(batch - multiply(batch[:, self._pivots], self._rows, p), p)
        kept: list[int] = []
        pivots: list[int] = []
        for i in range(len(batch)):
            nonzero = np.flatnonzero(batch[i])
            if not len(nonzero):
                continue
            column = int(nonzero[0])
            batch[i] = remainder(batch[i] * pow(int(batch[i, column]), -1, p), p)
            others = np.flatnonzero(batch[:, column])
            others = others[others != i]
            if len(others):
                batch[others] = remainder(batch[others] - batch[others, column, None] * batch[i], p)
            kept.append(i)
            pivots.append(column)
        if kept:
            fresh = batch[kept]
            if self.rank:
                self._rows = remainder(self._rows - multiply(self._rows[:, pivots], fresh, p), p)
            self._rows = np.vstack([self._rows, fresh])
            self._pivots += pivots
        return kept

    def random_null_vectors(self, count: int, seed: int) -> Ints:
        """Random vectors (columns × count) that vanish modulo p on every row: a row where one does not is new."""
        rng = np.random.default_rng(seed)
        null = rng.integers(1, self.prime, size=(self.columns, count)).astype(np.float64)
        if self.rank:
            free = np.ones(self.columns, dtype=bool)
            free[self._pivots] = False
            null[self._pivots] = np.mod(-multiply(self._rows[:, free], null[free], self.prime), self.prime)
        return null.astype(np.int64)


def inverse(matrix: NDArray[Any], prime: int) -> Floats | None:
    """The inverse of a square matrix modulo the prime, or None where it has none."""
    size = len(matrix)
    echelon = Echelon(2 * size, prime)
    echelon.add(np.hstack([np.mod(matrix, prime).astype(np.int64), np.eye(size, dtype=np.int64)]))
    pivots = echelon.pivots
    if size and (len(pivots) < size or pivots.max() >= size):
        return None
    return echelon.rows[np.argsort(pivots), size:]


SMALL_DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 12, 24, 60)


def small_fractions(residues: Floats, prime: int) -> tuple[Ints, Ints]:
    """Per row of residues a denominator L and numerators with numerator / L ≡ residue and everything small.

    A guess: rows without one get L = 0. Whoever asks must check the answer in integers.
    """
    bound = prime // 512
    denominators = np.zeros(len(residues), dtype=np.int64)
    numerators = np.zeros(residues.shape, dtype=np.int64)
    for scale in SMALL_DENOMINATORS:
        open_rows = np.flatnonzero(denominators == 0)
        if not len(open_rows):
            break
        scaled = remainder(residues[open_rows] * scale, prime)
        scaled = np.where(scaled > prime // 2, scaled - prime, scaled)
        fits = np.abs(scaled).max(axis=1, initial=0) <= bound
        numerators[open_rows[fits]] = scaled[fits].astype(np.int64)
        denominators[open_rows[fits]] = scale
    return denominators, numerators


def rational(residue: int, modulus: int) -> Fraction | None:
    """The fraction with numerator and denominator below √(modulus / 2) that has this residue, if there is one."""
    bound = math.isqrt(modulus // 2)
    r0, r1, t0, t1 = modulus, residue % modulus, 0, 1
    while r1 > bound:
        quotient = r0 // r1
        r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1
    if t1 == 0 or abs(t1) > bound:
        return None
    return Fraction(r1, t1)
