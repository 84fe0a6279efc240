"""A fitted kernel machine, and its exact split into conjunctions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.kernels.combinations import as_combinations, check_seen, shared_components, sub_combination_ids
from recombine.kernels.linear import matvec
from recombine.kernels.moebius import FloatArray, IntArray, subset_orders, subsets
from recombine.kernels.salience import Kernel


@dataclass(frozen=True, eq=False)
class Solution:
    """f(z) = sum_i a_i K(z, z^i) + b = sum_J f_J(z_J),  f_J(z_J) = s_J * sum of a_i over i with z^i_J = z_J.

    Conjunction-wise additivity (Lippl & Stachenfeld 2025, Thm 4.2, Eq. 2). Shapes: train (..., n, C), dual
    (..., n), bias (...); leading axes broadcast with the kernel's batch. f of the empty set is the constant
    and includes the bias.
    """

    kernel: Kernel
    train: IntArray
    dual: FloatArray
    bias: FloatArray

    def predict(self, combinations: ArrayLike, *, allow_unseen: bool = False) -> FloatArray:
        """f on combinations (..., m, C); shape (..., m). A level never seen in training is an error unless allowed."""
        queries = self._queries(combinations)
        if not allow_unseen:
            check_seen(self.train, queries)
        if self._plain(queries):
            return np.asarray(sum(self._part(mask, queries) for mask in range(2**self.kernel.components)))
        gram = self.kernel.look_up(shared_components(queries, self.train))
        return matvec(gram, self.dual) + self.bias[..., None]

    def part(self, components: tuple[int, ...], combinations: ArrayLike) -> FloatArray:
        """f_J for one conjunction, a sorted tuple of components; exactly 0 where z_J was never seen; (..., m)."""
        known = subsets(self.kernel.components)
        if components not in known:
            raise InputError(
                f"{components} names no conjunction; give a sorted tuple of components below {self.kernel.components}."
            )
        return self._part(known.index(components), self._queries(combinations))

    def parts(self, combinations: ArrayLike) -> FloatArray:
        """f_J for every conjunction in bit-mask order (`subsets` names them); shape (..., 2**C, m)."""
        queries = self._queries(combinations)
        return np.stack([self._part(mask, queries) for mask in range(2**self.kernel.components)], axis=-2)

    def orders(self, combinations: ArrayLike) -> FloatArray:
        """The sum of f_J over |J| = k for k = 0 … C; shape (..., C+1, m)."""
        parts = self.parts(combinations)
        order = subset_orders(self.kernel.components)
        return np.stack([parts[..., order == k, :].sum(axis=-2) for k in range(self.kernel.components + 1)], axis=-2)

    def _queries(self, combinations: ArrayLike) -> IntArray:
        return as_combinations(combinations, self.kernel.components, "the set of combinations to predict")

    def _plain(self, queries: IntArray) -> bool:
        return self.train.ndim == 2 and queries.ndim == 2

    def _part(self, mask: int, queries: IntArray) -> FloatArray:
        salience = self.kernel.subset_saliences[..., mask, None]
        if self._plain(queries):
            sums = self._grouped_sums(subsets(self.kernel.components)[mask], queries)
        else:
            same = (shared_components(queries, self.train) & mask) == mask
            sums = matvec(same.astype(np.float64), self.dual)
        part = salience * sums
        return part + self.bias[..., None] if mask == 0 else part

    def _grouped_sums(self, components: tuple[int, ...], queries: IntArray) -> FloatArray:
        """Sum of the dual over training points that agree with each query, one pass over both sets; (..., m)."""
        seen = len(self.train)
        ids = sub_combination_ids(np.concatenate([self.train, queries]), components)
        flat, count = self.dual.reshape(-1, seen), int(ids.max()) + 1
        sums = np.array([np.bincount(ids[:seen], dual, count) for dual in flat]).reshape(-1, count)
        return sums[:, ids[seen:]].reshape(*self.dual.shape[:-1], len(queries))
