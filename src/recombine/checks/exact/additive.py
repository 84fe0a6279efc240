"""Order 1: the exact row space of additive effects, the two largest factors through the forest of their graph.

    f(q) = f(a) + g(b) + h · ρ      ρ: non-reference indicators of all other factors

Walking the spanning forest of (a, b) expresses every f(a) and g(b) by h and one free number a piece; what each row then
says about h alone goes to linear algebra. With two factors nothing is left and pieces decide everything.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.graph import Forest, span_forest
from recombine.checks.exact.modular import Ints
from recombine.checks.exact.span import MOST_EFFECTS, Integers, Span, exact_product
from recombine.errors import InputError
from recombine.space import Codes

Mask = NDArray[np.bool_]


class Additive:
    """Order 1: f(a) + g(b) + h · ρ, with ρ the non-reference indicators of all factors but the two largest."""

    def __init__(self, codes: Codes, shape: tuple[int, ...]) -> None:
        self.shape = shape if len(shape) > 1 else (*shape, 1)
        ranked = sorted(range(len(self.shape)), key=lambda k: -self.shape[k])
        self._a, self._b = sorted(ranked[:2])
        self._others = [k for k in range(len(self.shape)) if k not in (self._a, self._b)]
        self._offsets = dict(
            zip(self._others, itertools.accumulate([0] + [self.shape[k] - 1 for k in self._others]), strict=False)
        )
        self.columns = sum(self.shape[k] - 1 for k in self._others)
        if self.columns > MOST_EFFECTS:
            raise InputError(
                f"the factors beside the two largest have {self.columns:,} levels, more than the "
                f"{MOST_EFFECTS:,} this check takes on."
            )
        codes = self._pad(codes)
        self.forest: Forest = span_forest(
            codes[:, self._a], codes[:, self._b], self.shape[self._a], self.shape[self._b]
        )
        self._potential = self._potentials(codes)
        self.rest = Span(self.columns, self._rows, self._apply, codes)
        self.rank = len(self.forest.edges) + self.rest.rank

    def _pad(self, codes: Codes) -> Codes:
        return codes if codes.shape[1] > 1 else np.hstack([codes, np.zeros_like(codes)])

    def _wide(self, codes: Codes) -> Codes:
        return codes.astype(np.int64, copy=False)

    def _rho(self, codes: Codes) -> Ints:
        codes = self._wide(codes)
        rows = np.zeros((len(codes), self.columns), dtype=np.int64)
        for k in self._others:
            seen = np.flatnonzero(codes[:, k] > 0)
            rows[seen, self._offsets[k] + codes[seen, k] - 1] = 1
        return rows

    def _potentials(self, codes: Codes) -> Ints:
        """P with f(a) = t + h · P_a and g(b) = −t + h · P_b along the forest (t: one free number a piece)."""
        potential = np.zeros((self.forest.left + self.forest.right, self.columns), dtype=np.int64)
        if not self.columns:
            return potential
        rho = self._rho(codes[np.maximum(self.forest.row, 0)]) if len(codes) else potential
        for node in self.forest.order:
            if self.forest.parent[node] >= 0:
                potential[node] = -potential[self.forest.parent[node]] - rho[node]
        return potential

    def _rows(self, codes: Codes) -> Ints:
        """What a row says about h alone once the forest is taken out: ρ + P_a + P_b."""
        codes = self._wide(codes)
        return (
            self._rho(codes)
            + self._potential[codes[:, self._a]]
            + self._potential[self.forest.left + codes[:, self._b]]
        )

    def _apply(self, codes: Codes, vectors: Integers) -> Integers:
        codes = self._wide(codes)
        on_nodes = exact_product(self._potential, vectors)
        total = on_nodes[codes[:, self._a]] + on_nodes[self.forest.left + codes[:, self._b]]
        for k in self._others:
            first = self._offsets[k]
            table = np.vstack(
                [np.zeros((1, vectors.shape[1]), dtype=vectors.dtype), vectors[first : first + self.shape[k] - 1]]
            )
            total = total + table[codes[:, k]]
        return np.asarray(total)

    def _pieces(self, codes: Codes) -> tuple[Ints, Ints]:
        codes = self._wide(codes)
        return self.forest.piece[codes[:, self._a]], self.forest.piece[self.forest.left + codes[:, self._b]]

    def contains(self, codes: Codes) -> Mask:
        codes = self._pad(codes)
        left, right = self._pieces(codes)
        inside: Mask = np.asarray(left == right)
        if self.columns and not self.rest.full:
            inside[inside] = self.rest.contains(codes[inside])
        return inside

    @property
    def nullity(self) -> int:
        return self.forest.pieces + int(self.rest.null.shape[1])

    def values(self, codes: Codes) -> Integers:
        codes = self._pad(codes)
        on_pieces = np.zeros((len(codes), self.forest.pieces), dtype=np.int64)
        left, right = self._pieces(codes)
        every = np.arange(len(codes))
        on_pieces[every, left] += 1
        on_pieces[every, right] -= 1
        return np.hstack([on_pieces, self.rest.values(codes)]) if self.rest.null.shape[1] else on_pieces

    def direction(self, code: Codes) -> dict[tuple[tuple[int, int], ...], int]:
        code = self._pad(code[None, :])
        left, right = (int(p[0]) for p in self._pieces(code))
        effects: dict[tuple[tuple[int, int], ...], int] = {}
        if left != right:
            for node in np.flatnonzero(self.forest.piece == left):
                effects[(self._level(int(node)),)] = 1 if node < self.forest.left else -1
            return effects
        column = int(np.flatnonzero(self.rest.values(code)[0] != 0)[0])
        vector = self.rest.null[:, [column]]
        for place, value in enumerate(exact_product(self._potential, vector)[:, 0]):
            if value:
                effects[(self._level(place),)] = int(value)
        for k in self._others:
            for level in range(1, self.shape[k]):
                if value := vector[self._offsets[k] + level - 1, 0]:
                    effects[((k, level),)] = int(value)
        return effects

    def _level(self, node: int) -> tuple[int, int]:
        return (self._a, node) if node < self.forest.left else (self._b, node - self.forest.left)

    def rows(self, codes: Codes) -> Ints:
        """Indicator rows written out: the constant, then the non-reference levels of each factor."""
        codes = self._wide(self._pad(codes))
        rows = np.zeros((len(codes), 1 + sum(n - 1 for n in self.shape)), dtype=np.int64)
        rows[:, 0] = 1
        start = 1
        for k, levels in enumerate(self.shape):
            seen = np.flatnonzero(codes[:, k] > 0)
            rows[seen, start + codes[seen, k] - 1] = 1
            start += levels - 1
        return rows

    def floats(self, codes: Codes) -> NDArray[np.float64]:
        """The same for fitting."""
        return self.rows(codes).astype(np.float64)

    def groups(self) -> list[list[list[int]]]:
        """For each factor its levels in groups within which every difference is determined (equal on all null
        vectors).
        """
        null = self.rest.null
        on_nodes = np.hstack([self.forest.piece[:, None], exact_product(self._potential, null)])
        found = []
        for k in range(len(self.shape)):
            if k in (self._a, self._b):
                start = 0 if k == self._a else self.forest.left
                keys = on_nodes[start : start + self.shape[k]]
            else:
                keys = np.vstack(
                    [
                        np.zeros((1, null.shape[1]), dtype=null.dtype),
                        null[self._offsets[k] : self._offsets[k] + self.shape[k] - 1],
                    ]
                )
            together: dict[tuple[int, ...], list[int]] = {}
            for level, key in enumerate(keys.tolist()):
                together.setdefault(tuple(key), []).append(level)
            found.append(list(together.values()))
        return found

    def estimable(self) -> Ints:
        """Columns (of all levels, factor after factor) that are independent and span the column space."""
        starts = list(itertools.accumulate([0, *self.shape]))
        kept = []
        for node in np.flatnonzero(self.forest.row >= 0):
            k, level = self._level(int(node))
            kept.append(starts[k] + level)
        pivots = set(self.rest.pivots.tolist())
        for k in self._others:
            kept += [starts[k] + 1 + i for i in range(self.shape[k] - 1) if self._offsets[k] + i in pivots]
        return np.sort(np.array(kept, dtype=np.int64))

    @property
    def basis(self) -> Ints:
        return np.concatenate([self.forest.edges, self.rest.basis])
