"""Order m ≥ 2: the exact row space of effects of up to m factors at once.

The columns are the conjunctions of at most m non-reference levels, a basis of the same functions as all conjunctions in
which the whole grid has full column rank. Rows are sparse; elimination is refused, with its size, above 4 096 effects.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from recombine.checks.modular import Ints
from recombine.checks.ranks import grid_rank
from recombine.checks.span import MOST_EFFECTS, Integers, Span, exact_product
from recombine.errors import InputError
from recombine.space import Codes

Mask = NDArray[np.bool_]


class Conjunctive:
    """Order m ≥ 2: the columns are the conjunctions of at most m non-reference levels; rows are sparse."""

    def __init__(self, codes: Codes, shape: tuple[int, ...], order: int) -> None:
        self.shape, self.order = shape, order
        self.columns = grid_rank(shape, order)
        if self.columns > MOST_EFFECTS:
            raise InputError(
                f"order {order} has {self.columns:,} effects here, more than the {MOST_EFFECTS:,} this check "
                "takes on; lower the order, drop factors or merge levels."
            )
        self._subsets = [J for size in range(order + 1) for J in itertools.combinations(range(len(shape)), size)]
        self._starts = list(itertools.accumulate([0] + [math.prod(shape[k] - 1 for k in J) for J in self._subsets]))
        self.rest = Span(self.columns, self.rows, self._apply, codes)
        self.rank = self.rest.rank

    def sparse(self, codes: Codes) -> csr_array:
        """The rows as a sparse 0/1 matrix: at most Σ_{j≤m} C(K, j) ones each."""
        at, columns = [], []
        for start, subset in zip(self._starts, self._subsets, strict=False):
            here = np.full(len(codes), start, dtype=np.int64)
            present = np.ones(len(codes), dtype=bool)
            stride = 1
            for k in reversed(subset):
                present &= codes[:, k] > 0
                here += (codes[:, k].astype(np.int64) - 1) * stride
                stride *= self.shape[k] - 1
            at.append(np.flatnonzero(present))
            columns.append(here[present])
        rows, cols = np.concatenate(at), np.concatenate(columns)
        return csr_array((np.ones(len(rows), dtype=np.int64), (rows, cols)), shape=(len(codes), self.columns))

    def rows(self, codes: Codes) -> Ints:
        """The rows written out."""
        return np.asarray(self.sparse(codes).toarray(), dtype=np.int64)

    def _apply(self, codes: Codes, vectors: Integers) -> Integers:
        if vectors.dtype == object:
            return exact_product(self.rows(codes), vectors)
        return np.asarray(self.sparse(codes) @ vectors)

    def contains(self, codes: Codes) -> Mask:
        return self.rest.contains(codes)

    @property
    def nullity(self) -> int:
        return int(self.rest.null.shape[1])

    def values(self, codes: Codes) -> Integers:
        return self.rest.values(codes)

    def direction(self, code: Codes) -> dict[tuple[tuple[int, int], ...], int]:
        column = int(np.flatnonzero(self.rest.values(code[None, :])[0] != 0)[0])
        effects = {}
        for at in np.flatnonzero(self.rest.null[:, column] != 0):
            block = int(np.searchsorted(self._starts, at, side="right")) - 1
            left, levels = int(at) - self._starts[block], []
            for k in reversed(self._subsets[block]):
                levels.append((k, left % (self.shape[k] - 1) + 1))
                left //= self.shape[k] - 1
            effects[tuple(reversed(levels))] = int(self.rest.null[at, column])
        return effects

    @property
    def basis(self) -> Ints:
        return self.rest.basis
