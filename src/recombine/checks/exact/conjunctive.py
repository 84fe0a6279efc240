"""The exact row space of effects of up to m factors at once, and of factors that are numbers.

The columns are the conjunctions of at most m non-reference levels, a basis of the same functions as all conjunctions in
which the whole grid has full column rank; in place of its levels a number has the columns of its curve. Rows are
sparse; elimination is refused, with its size, above 4 096 effects.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from recombine.checks.exact.curves import Curve
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.exact.ranks import grid_rank
from recombine.checks.exact.span import MOST_EFFECTS, Integers, Span, exact_product
from recombine.errors import InputError
from recombine.space import Codes

Mask = NDArray[np.bool_]


class Conjunctive:
    """The columns are the products of those of at most m factors: non-reference levels, or curves."""

    def __init__(
        self, codes: Codes, shape: tuple[int, ...], order: int, curves: Mapping[int, Curve] | None = None
    ) -> None:
        self.shape, self.order, self._curves = shape, order, curves or {}
        self._widths = [self._curves[k].width if k in self._curves else n - 1 for k, n in enumerate(shape)]
        self._largest = math.prod(int(np.abs(c.exact).max()) for c in self._curves.values())
        self.columns = grid_rank(tuple(w + 1 for w in self._widths), order)
        if self.columns > MOST_EFFECTS:
            raise InputError(
                f"order {order} has {self.columns:,} effects here, more than the {MOST_EFFECTS:,} this check "
                "takes on; lower the order, drop factors or merge levels."
            )
        self._subsets = [J for size in range(order + 1) for J in itertools.combinations(range(len(shape)), size)]
        self._starts = list(itertools.accumulate([0] + [math.prod(self._widths[k] for k in J) for J in self._subsets]))
        self.rest = Span(self.columns, self.rows, self._apply, codes)
        self.rank = self.rest.rank

    def _entries(self, codes: Codes, tables: Mapping[int, Integers]) -> tuple[Ints, Ints, Integers]:
        """Rows, columns and values of what is not zero."""
        at, columns, values = [], [], []
        for start, subset in zip(self._starts, self._subsets, strict=False):
            here, value = np.full((len(codes), 1), start), np.ones((len(codes), 1), dtype=np.int64)
            stride = 1
            for k in reversed(subset):
                place, own = codes[:, [k]].astype(np.int64) - 1, codes[:, [k]] > 0
                if k in tables:
                    place, own = np.arange(self._widths[k])[None, :], tables[k][codes[:, k]]
                size = (len(codes), here.shape[1] * own.shape[1])
                here = (here[:, :, None] + (place * stride)[:, None, :]).reshape(size)
                value = (value[:, :, None] * own[:, None, :]).reshape(size)
                stride *= self._widths[k]
            row, column = np.nonzero(value)
            at.append(row)
            columns.append(here[row, column])
            values.append(value[row, column])
        return np.concatenate(at), np.concatenate(columns), np.concatenate(values)

    def sparse(self, codes: Codes) -> csr_array:
        """The rows as a sparse matrix of small whole numbers."""
        rows, columns, values = self._entries(codes, {k: c.exact for k, c in self._curves.items()})
        if values.dtype == object:  # Long decimals may be written as such, however small.
            values = values.astype(np.int64 if self._largest < 2**63 else np.float64)
        return csr_array((values, (rows, columns)), shape=(len(codes), self.columns))

    def rows(self, codes: Codes) -> Integers:
        """The rows written out."""
        return self._written(codes, {k: c.exact for k, c in self._curves.items()})

    def floats(self, codes: Codes) -> Floats:
        """The same functions for fitting."""
        return self._written(codes, {k: np.hstack(c.smooth) for k, c in self._curves.items()}).astype(np.float64)

    def _written(self, codes: Codes, tables: Mapping[int, Integers]) -> Integers:
        rows, columns, values = self._entries(codes, tables)
        written = np.zeros((len(codes), self.columns), dtype=values.dtype)
        written[rows, columns] = values
        return written

    def _apply(self, codes: Codes, vectors: Integers) -> Integers:
        if vectors.dtype == object or self._largest * int(np.abs(vectors).max(initial=0)) * self.columns >= 2**62:
            parts = [exact_product(self.rows(codes[s : s + 2_000]), vectors) for s in range(0, len(codes), 2_000)]
            return np.concatenate(parts) if parts else np.zeros((0, vectors.shape[1]), dtype=object)
        return np.asarray(self.sparse(codes) @ vectors)

    def contains(self, codes: Codes) -> Mask:
        return self.rest.contains(codes)

    @property
    def nullity(self) -> int:
        return int(self.rest.null.shape[1])

    def values(self, codes: Codes) -> Integers:
        return self.rest.values(codes)

    def direction(self, code: Codes) -> dict[tuple[tuple[int, int], ...], int]:
        """By levels, those of a number included: what its curve adds at each of its values."""
        column = int(np.flatnonzero(self.rest.values(code[None, :])[0] != 0)[0])
        effects: dict[tuple[tuple[int, int], ...], int] = {}
        for at in np.flatnonzero(self.rest.null[:, column] != 0):
            block = int(np.searchsorted(self._starts, at, side="right")) - 1
            left, choices = int(at) - self._starts[block], []
            for k in reversed(self._subsets[block]):
                place, left = left % self._widths[k], left // self._widths[k]
                curve = self._curves.get(k)
                values = [(place + 1, 1)] if curve is None else list(enumerate(curve.exact[:, place].tolist()))
                choices.append([((k, level), value) for level, value in values if value])
            for chosen in itertools.product(*reversed(choices)):
                key = tuple(level for level, _ in chosen)
                value = int(self.rest.null[at, column]) * math.prod(value for _, value in chosen)
                effects[key] = effects.get(key, 0) + value
        return {levels: value for levels, value in effects.items() if value}

    @property
    def basis(self) -> Ints:
        return self.rest.basis
