"""Effects that add up, each kind of effect with a variance of its own, and what the fit says of cells left out.

    y = μ + Σ_b X_b β_b + ε,   β_b ~ N(0, θ_b I),   ε_c ~ N(0, σ² u_c)

A block b is one factor (its levels; of a number its line, and apart from it its bends, and a walk that lets it jump) or
one pair of factors (its seen pairs of levels, times the values of curves). θ_b and σ² are set by MacKay's fixed point
(the evidence of the data), so a factor that does nothing is shrunk away and a table that adds up exactly is met
exactly. With C = X Θ Xᵀ + σ² U a group H of cells that is left out has the prediction errors (C⁻¹_HH)⁻¹ (C⁻¹ y)_H: no
refit, whatever the group.

Of very many pairs of levels the largest block is set apart: its columns do not overlap, so it is eliminated from the
system exactly, without a matrix of its own. Other pairs take part as far as the rest stays small. Where cells are far
fewer than effects all of it is solved for the cells instead (`by_cells`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotri, dtrtri
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import lsqr

from recombine.checks.exact.cholesky import factored, solved_by
from recombine.checks.exact.curves import Curve
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.exact.numbered import key_of
from recombine.checks.rules.by_cells import ByCells

ROUNDS, STILL = 20, 0.02
"""Updates of the variances at most, and how far their logarithms may still move after the last."""
LEAST = 1e-9
"""Smallest variance of a block or of the noise, as a share of the answers' variance."""
EXACT = 1e-8
"""The same up to which what a fit leaves is no noise."""
LEAST_FREEDOM = 5
"""Rows beyond the effects from which the noise of one row is estimated."""
FREE = 1e6
"""Variance of effects that are not shrunk, in units of the answers' variance."""
FILLED = 0.02
"""Share of a matrix that is not zero from which products are faster with the zeros written out."""
DENSE = 2_500
"""Effects up to which the system is solved as a dense matrix."""

WIDE = 2
"""Effects for each cell from which the cells are solved for."""
MOST_PAIRS = 2_000
"""Seen pairs of levels up to which all are solved for together."""
MOST_KEPT = 1_000
"""Effects beside the block that is set apart."""
RECUR = 1.25
"""Cells for each of its effects from which a block of so many is worth it."""
CHUNK = 4_000
AT_ONCE = 1_000_000
"""Numbers up to which groups of one size are left out together."""

Subset = tuple[int, ...]


def subsets_of(factors: int, order: int) -> list[Subset]:
    """Single factors, then pairs."""
    return [s for size in range(1, order + 1) for s in itertools.combinations(range(factors), size)]


@dataclass(frozen=True, eq=False)
class Block:
    """The columns of one factor or pair: one for each combination of levels that was seen, and value of a curve."""

    subset: Subset
    keys: Ints
    shape: tuple[int, ...]
    curves: Mapping[int, Floats]
    """For factors that are numbers: the values of their curves (levels × columns)."""

    @classmethod
    def of(
        cls, codes: Ints, shape: tuple[int, ...], subset: Subset, curves: Mapping[int, Floats] | None = None
    ) -> Block:
        curves = curves or {}
        levels = [k for k in subset if k not in curves]
        keys, possible = key_of(codes, shape, levels), math.prod(shape[k] for k in levels)
        if possible > len(keys):
            return cls(subset, np.unique(keys), shape, curves)
        seen = np.zeros(possible, dtype=bool)  # of many rows a look-up is faster than a sort
        seen[keys] = True
        return cls(subset, np.flatnonzero(seen), shape, curves)

    def __len__(self) -> int:
        return len(self.keys) * (math.prod(int(table.shape[1]) for table in self.curves.values()) if self.curves else 1)

    def entries(self, codes: Ints) -> tuple[Floats, Ints, Ints, np.ndarray]:
        """Indicators (rows × seen combinations) times curves as values, rows and columns, and which rows have a
        combination that was seen."""
        keys = key_of(codes, self.shape, [k for k in self.subset if k not in self.curves])
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = self.keys[at] == keys
        rows = np.flatnonzero(known)
        values = np.ones((len(rows), 1))
        for k, table in self.curves.items():
            values = (values[:, :, None] * table[codes[rows, k]][:, None, :]).reshape(
                len(rows), values.shape[1] * table.shape[1]
            )
        width = values.shape[1]
        place = at[rows, None] * width + np.arange(width)
        return values.ravel(), np.repeat(rows, width), place.ravel(), known

    def columns(self, codes: Ints) -> csr_array:
        values, rows, places, _ = self.entries(codes)
        return csr_array((values, (rows, places)), shape=(len(codes), len(self)))


def blocks_of(codes: Ints, shape: tuple[int, ...], order: int, curves: Mapping[int, Curve]) -> list[Block]:
    """All blocks that are worth a variance of their own."""
    found = []
    for subset in subsets_of(len(shape), order):
        squares = [k for k in subset if k in curves and curves[k].shape == "square"]
        if len(subset) > 1 and squares:  # of a surface: products of lines
            found += [Block.of(codes, shape, subset, {k: curves[k].smooth[0] for k in subset})]
            continue
        whole = {k: np.hstack(curves[k].smooth) for k in subset if k in curves}
        parts = [{k: part} for k in whole for part in curves[k].smooth] if len(subset) == 1 and whole else [whole]
        found += [Block.of(codes, shape, subset, part) for part in parts]
    return [b for b in found if (b.curves or len(b) > 1) and (len(b.subset) == 1 or len(b) < len(codes))]


def affordable(blocks: list[Block], cells: int) -> tuple[list[Block], Block | None]:
    """The blocks that are fitted, in order, and which of them is set apart."""
    pairs = sorted((b for b in blocks if len(b.subset) > 1), key=len)
    if sum(map(len, pairs)) <= MOST_PAIRS:
        return blocks, None
    kept = [b for b in blocks if len(b.subset) == 1]
    room = MOST_KEPT - sum(map(len, kept))
    apart = next((b for b in reversed(pairs) if not b.curves and cells >= RECUR * len(b)), None) if room > 0 else None
    for block in pairs:
        if block is not apart and len(block) < room:
            kept.append(block)
            room -= len(block)
    chosen = {id(b) for b in (*kept, apart)}
    return [b for b in blocks if id(b) in chosen], apart


class Effects:
    """The fit to training cells. ``noise`` are the relative variances u of their answers. Where cells have several
    answers each (cells × answers), such as shares of classes, these have their variances in common."""

    def __init__(
        self,
        codes: Ints,
        shape: tuple[int, ...],
        y: Floats,
        noise: Floats,
        order: int,
        known: Floats | None = None,
        curves: Mapping[int, Curve] | None = None,
        free: bool = False,
        fixed: bool = False,
        walks: bool = False,
    ) -> None:
        """``known``: variances of the blocks to start from, where ``noise`` is the noise itself and σ² = 1 is kept.
        ``fixed``: these are kept too. ``free``: effects are not shrunk, as by least squares. ``walks``: curves may jump
        between values."""
        self.codes = codes
        self.blocks, apart = affordable(blocks_of(codes, shape, order, curves or {}), len(codes))
        found = {k: curve.walk for k, curve in (curves or {}).items() if walks}
        self._walks = {len(self.blocks) + i: (k, w) for i, (k, w) in enumerate((k, w) for k, w in found.items() if w)}
        self.blocks += [Block((k,), np.zeros(1, np.int64), shape, {k: w.columns}) for k, w in self._walks.values()]
        self.size = np.array([len(b) for b in self.blocks], dtype=np.int64)
        self._ends = np.concatenate([[0], np.cumsum(self.size)])
        wide = not free and len(self.blocks) > 0 and int(self.size.sum()) > WIDE * len(codes)
        set_apart = np.repeat([False, *(b is apart and not wide for b in self.blocks)], [1, *self.size])
        self._apart, self._kept = np.flatnonzero(set_apart), np.flatnonzero(~set_apart)
        self.free, self.fixed, self.design = free, fixed, self._rows(codes)[0]
        self._learn(y, noise, known, wide)

    def anew(self, y: Floats, noise: Floats, known: Floats) -> Effects:
        """The same effects fitted to other answers of the same cells."""
        found = copy(self)
        found._learn(y, noise, known, self._by_cells is not None)
        return found

    def _learn(self, y: Floats, noise: Floats, known: Floats | None, wide: bool) -> None:
        for name in ("_residuals", "_half"):  # of answers that it was a copy of
            self.__dict__.pop(name, None)
        spread, size = float(np.var(y, axis=0).mean()), float(np.square(y).mean())
        self.spread = spread if spread > 1e-24 * size else size or 1.0  # all alike, but for rounding
        self.y, self.noise = y, noise / noise.mean() if known is None else noise
        self._by_cells = ByCells(self.design, self.noise, self.size) if wide else None
        share = self.spread / (1 + len(self.blocks))
        self.theta = np.full(len(self.blocks), share) if known is None else np.resize(known, len(self.blocks))
        self.sigma2 = share if known is None else 1.0
        self.theta = np.full(len(self.blocks), FREE * self.spread) if self.free else self.theta
        self._settle(ROUNDS if known is None else 1, known is not None)

    def _rows(self, codes: Ints) -> tuple[csr_array, Floats]:
        """Constant and indicators, and for each row and block whether it has an effect that was seen."""
        known = np.ones((len(codes), len(self.blocks)))
        parts, start = [(np.ones(len(codes)), np.arange(len(codes)), np.zeros(len(codes), dtype=np.int64))], 1
        for b, block in enumerate(self.blocks):
            values, rows, places, known[:, b] = block.entries(codes)
            parts.append((values, rows, places + start))
            start += len(block)
        values, rows, places = (np.concatenate(part) for part in zip(*parts, strict=True))
        return csr_array((values, (rows, places)), shape=(len(codes), start)), known

    def _normal(self) -> tuple[Floats, csr_array, Floats, Floats]:
        """Xᵀ U⁻¹ X of the effects that are kept, of these with those set apart (of few cells each, so nearly all of it
        is zero), of the latter (its diagonal), and Xᵀ U⁻¹ y."""
        if self.design.nnz > FILLED * self.design.shape[0] * self.design.shape[1] and not len(self._apart):
            weighted = self.dense / self.noise[:, None]
            return weighted.T @ self.dense, csr_array((len(self._kept), 0)), np.zeros(0), weighted.T @ self.y
        weighted = self.design.multiply(1 / self.noise[:, None]).tocsr()
        kept, apart = weighted[:, self._kept], self.design[:, self._apart]
        diagonal = np.asarray(weighted[:, self._apart].sum(axis=0)).ravel()
        within = (kept.T @ self.design[:, self._kept]).toarray()
        return within, csr_array(kept.T @ apart), diagonal, weighted.T @ self.y

    def _solved(self, normal: tuple[Floats, csr_array, Floats, Floats] | None) -> Floats:
        """The effects; and the factor of their precision, those set apart eliminated."""
        if self._by_cells is not None:
            return self._by_cells.fit(self.y, self.theta, self.sigma2)
        assert normal is not None
        within, across, diagonal, right = normal
        precision, right, system = self.precision(), right / self.sigma2, within / self.sigma2
        system.flat[:: len(system) + 1] += precision[self._kept]
        if not len(self._apart):
            self.factor = factored(system)
            return solved_by(self.factor, right)
        self._across, self._alone = across / self.sigma2, diagonal / self.sigma2 + precision[self._apart]
        share = self._shared()
        self.factor = factored(system - (share @ self._across.T).toarray())
        beta = np.empty_like(right)
        beta[self._kept] = solved_by(self.factor, right[self._kept] - share @ right[self._apart])
        rest = right[self._apart] - self._across.T @ beta[self._kept]
        beta[self._apart] = (rest.T / self._alone).T
        return beta

    def _shared(self) -> csr_array:
        """What the effects that are kept have in common with each of those set apart, over its precision."""
        return csr_array(self._across.multiply(1 / self._alone[None, :]))

    def _variances(self) -> Floats:
        """Of each effect, as the last fit has it: the diagonal of the inverse."""
        if not len(self._apart):
            return np.asarray(np.diagonal(dpotri(self.factor, lower=1)[0]))
        inverse, found = np.tril(dtrtri(self.factor, lower=1)[0]), np.empty(len(self._kept) + len(self._apart))
        found[self._kept] = (inverse**2).sum(axis=0)
        found[self._apart] = 1 / self._alone + ((self._shared().T @ inverse.T) ** 2).sum(axis=1)
        return found

    def _settle(self, rounds: int, known: bool) -> None:
        """MacKay's updates: θ_b = ‖β_b‖² / γ_b with γ_b the number of effects that the data settle."""
        normal = self._normal() if self._by_cells is None else None
        least = LEAST * self.spread
        for _ in range(rounds):
            beta = self._solved(normal)
            settled = self._settled()
            theta = np.maximum(self._sums(_squares(beta[1:])) / np.maximum(settled, 1e-6), least)
            theta = self.theta if self.free or self.fixed else theta
            left = _squares(self.y - self.design @ beta)
            freedom = max(len(self.y) - 1 - float(settled.sum()), 1.0)
            sigma2 = 1.0 if known else max(float((left / self.noise).sum()) / freedom, least)
            moved = max(np.abs(np.log(theta / self.theta)).max(initial=0.0), abs(math.log(sigma2 / self.sigma2)))
            self.theta, self.sigma2, self.settled = theta, sigma2, settled
            if moved <= STILL:
                break
        self.freedom = freedom
        """Cells beyond the effects that the data settle."""
        self.beta: NDArray[np.floating[Any]] = self._solved(normal) if moved else beta

    def _settled(self) -> Floats:
        """Of each block, how many of its effects the data settle."""
        if self._by_cells is not None:
            return self._by_cells.settled()
        return np.asarray(self.size - self._sums(self._variances()[1:]) / self.theta)

    def _halves(self, rows: csr_array) -> tuple[Floats, csc_array]:
        """L⁻¹ of rows: the part of the effects that are kept, and of those set apart."""
        if not len(self._apart):
            half = solve_triangular(self.factor, rows.toarray().T, lower=True)
            return half, csc_array((0, rows.shape[0]))
        alone, kept = rows[:, self._apart], rows[:, self._kept].toarray().T
        kept = kept - (alone.multiply(1 / self._alone).tocsr() @ self._across.T).toarray().T
        half = solve_triangular(self.factor, kept, lower=True)
        return half, csc_array(alone.multiply(1 / np.sqrt(self._alone)).T)

    def precision(self) -> Floats:
        """Of the constant and every effect, before any answer is seen."""
        return np.concatenate([[1e-10 / self.spread], np.repeat(1 / self.theta, self.size)])

    def _sums(self, values: Floats) -> Floats:
        total = np.zeros(len(values) + 1)
        np.cumsum(values, out=total[1:])
        ends = total[self._ends]
        return np.asarray(ends[1:] - ends[:-1])

    def predict(self, codes: Ints, noise: float | Floats = 1.0) -> tuple[Floats, Floats]:
        """Answers of cells and their standard deviations, an answer's own noise included: so many times the mean of the
        training cells'."""
        rows, known = self._rows(codes)
        parts = [rows[at : at + CHUNK] for at in range(0, len(codes), CHUNK)]
        own = np.concatenate([np.zeros(0), *(self._varies(part) for part in parts)])
        unseen = (1 - known) @ self.theta + self.between(codes)
        return rows @ self.beta, np.sqrt(own + unseen + self.sigma2 * noise)

    def _varies(self, rows: csr_array) -> Floats:
        """Variance of the answers of rows, without their own noise."""
        return self._by_cells.varies(rows) if self._by_cells is not None else _lengths(*self._halves(rows))

    def between(self, codes: Ints, weigh: Callable[[int], float] = lambda freedom: 1.0) -> Floats:
        """The variance of answers between seen values of a number that none of these takes away; each walk's may be
        weighed by how few values it was learnt from."""
        found = np.zeros(len(codes))
        for b, (k, walk) in self._walks.items():
            found += self.theta[b] * walk.lacks[codes[:, k]] * weigh(walk.freedom)
        return found

    def answers(self, codes: Ints) -> Floats:
        return np.asarray(self._rows(codes)[0] @ self.beta)

    def unshrunk(self, codes: Ints) -> Floats:
        """Answers by plain least squares, the shortest solution around the mean where several fit as well."""
        mean, weight = np.average(self.y, axis=0, weights=1 / self.noise), 1 / np.sqrt(self.noise)[:, None]
        right = weight * (self.y - mean).reshape(len(self.y), -1)
        if len(self._kept) > MOST_KEPT:
            tall = self.design[:, 1:].multiply(weight).tocsr()
            beta = np.stack([lsqr(tall, one, atol=1e-10, btol=1e-10)[0] for one in right.T], axis=1)
        else:
            beta = np.linalg.lstsq(weight * self.dense[:, 1:], right, rcond=1e-6)[0]
        return np.asarray(mean + (self._rows(codes)[0][:, 1:] @ beta).reshape(len(codes), *self.y.shape[1:]))

    @cached_property
    def dense(self) -> Floats:
        return np.asarray(self.design.toarray())

    @cached_property
    def _residuals(self) -> Floats:
        return np.asarray(self.y - self.design @ self.beta)

    @cached_property
    def _half(self) -> tuple[Floats, csc_array]:
        """L⁻¹ Xᵀ (σ² U)⁻¹, columns are training cells: C⁻¹ = (σ² U)⁻¹ − halfᵀ half."""
        return self._halves(self.design.multiply(1 / (self.sigma2 * self.noise)[:, None]).tocsr())

    def left_out(self, groups: Sequence[Ints]) -> tuple[Floats, Floats]:
        """What the fit without each group of training cells says of the first of them, with its standard deviation."""
        found, sizes = np.empty((len(groups), 2)), np.array([len(group) for group in groups])
        for size in np.unique(sizes):
            of_size = np.flatnonzero(sizes == size)
            step = max(1, AT_ONCE // (size * max(size, len(self._kept))))
            for at in (of_size[i : i + step] for i in range(0, len(of_size), step)):
                together = np.array([groups[i] for i in at])
                right = np.zeros((*together.shape, 2))
                right[:, :, 0] = self._residuals[together] / (self.sigma2 * self.noise[together])
                right[:, 0, 1] = 1
                found[at] = np.linalg.solve(self._inverse(together), right)[:, 0]
        first = np.array([group[0] for group in groups], dtype=np.int64)
        return self.y[first] - found[:, 0], np.sqrt(np.maximum(found[:, 1], 0.0))

    def learnt_without(self, group: Ints) -> tuple[Floats, Floats]:
        """What the fit without these cells says of them, with standard deviations, the variances learnt without them
        as well."""
        kept, found = np.delete(np.arange(len(self.y)), group), copy(self)
        found.design = self.design[kept]
        found.__dict__.pop("dense", None)
        found._learn(self.y[kept], self.noise[kept], None, self._by_cells is not None)
        rows, own = self.design[group], found.sigma2 * self.noise[group] / float(self.noise[kept].mean())
        return rows @ found.beta, np.sqrt(found._varies(rows) + own)

    def _inverse(self, groups: Ints) -> Floats:
        """C⁻¹ of some training cells, for each row of cells."""
        if self._by_cells is not None:
            return np.asarray(self._by_cells.inverse[groups[:, :, None], groups[:, None, :]])
        half = self._half[0].T[groups]
        inverse = -half @ half.transpose(0, 2, 1)
        diagonal = np.arange(groups.shape[1])
        inverse[:, diagonal, diagonal] += 1 / (self.sigma2 * self.noise[groups])
        if len(self._apart):
            for at, group in enumerate(groups):
                alone = self._half[1][:, group]
                inverse[at] -= (alone.T @ alone).toarray()
        return np.asarray(inverse)

    def evenly_left_out(self) -> tuple[Floats, Floats]:
        """What the fit without it would say of every training cell, with its standard deviation, if all had the mean
        leverage (generalised cross-validation)."""
        left = max(float(self.unheld.mean()), 1e-9)
        return self.y - self._residuals / left, np.sqrt(self.sigma2 * self.noise / left)

    @property
    def unheld(self) -> Floats:
        """Of each training cell 1 − its leverage, which rounding may take below zero."""
        noise = self.sigma2 * self.noise
        if self._by_cells is not None:
            return np.asarray(noise * np.diagonal(self._by_cells.inverse))
        return np.asarray(1 - noise * _lengths(*self._half))

    def each_left_out(self, cells: Ints | None = None) -> Floats:
        """What the fit without it says of every training cell, or of each of some."""
        at = np.arange(len(self.y)) if cells is None else cells
        y, noise = self.y[at], self.sigma2 * self.noise[at]
        if self._by_cells is not None:
            left = noise * np.diagonal(self._by_cells.inverse)[at]
        else:
            left = 1 - noise * _lengths(*self._halves(self.design[at].multiply(1 / noise[:, None]).tocsr()))
        off = (y - self.design[at] @ self.beta).reshape(len(y), -1) / left.clip(1e-9)[:, None]
        return np.asarray(y - off.reshape(y.shape))


def _lengths(half: Floats, alone: csc_array) -> Floats:
    """Of each column, the squared length."""
    if not alone.shape[0]:
        return np.asarray((half**2).sum(axis=0))
    return np.asarray((half**2).sum(axis=0) + np.asarray(alone.multiply(alone).sum(axis=0)).ravel())


def _squares(values: Floats) -> Floats:
    """Of each row, the mean square."""
    return np.square(values) if values.ndim == 1 else np.square(values).mean(axis=1)
