"""Two components and any training set: a kernel sees an additive rule through the graph of its training pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.kernels.closed_forms.leak import check_salience
from recombine.kernels.combinations import as_combinations, check_levels, observed_levels
from recombine.kernels.moebius import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class GraphFilter:
    """w = S Q (S Q + (1-2S) I)^-1 [u; v]: the component values that ridgeless least squares learns from u_i + v_j.

    Q = D + A is the signless Laplacian of the bipartite graph whose edges are the training pairs (kappa_0 =
    0, no bias). A mode of Q with eigenvalue l is shrunk by S l / (S l + 1 - 2S); a set of p anchors has l =
    p, which is the leak of Lippl & Stachenfeld (2025), Prop. 5.1. Nodes are the levels of component 0, then
    those of component 1.
    """

    levels: tuple[int, int]
    laplacian: FloatArray
    eigenvalues: FloatArray
    modes: FloatArray

    @classmethod
    def of(cls, train: ArrayLike, levels: Sequence[int] | None = None) -> GraphFilter:
        """The filter of training pairs (n, 2); every level must occur in at least one pair."""
        pairs = as_combinations(train, 2, "the training set")
        if pairs.ndim != 2 or not len(pairs):
            raise InputError(f"the training set has shape {pairs.shape}; give one set of pairs, at least one pair.")
        if len(np.unique(pairs, axis=0)) != len(pairs):
            raise InputError("the training set repeats a pair; the graph filter holds for distinct pairs.")
        sizes = observed_levels(pairs) if levels is None else tuple(levels)
        check_levels(pairs, sizes)
        incidence = _indicators(pairs, (sizes[0], sizes[1]))
        laplacian = incidence.T @ incidence
        eigenvalues, modes = np.linalg.eigh(laplacian)
        # The zero modes (one per connected piece) must be exactly zero, or at S = 1/2 they would pass unshrunk.
        eigenvalues[eigenvalues < 1e-12 * eigenvalues[-1]] = 0.0
        return cls((sizes[0], sizes[1]), laplacian, eigenvalues, modes)

    def factors(self, salience: ArrayLike) -> FloatArray:
        """S l / (S l + 1 - 2S) for each mode, smallest eigenvalue first; shape (..., nodes)."""
        s = check_salience(salience)[..., None]
        passed = s * self.eigenvalues
        factors: FloatArray = np.divide(passed, passed + 1 - 2 * s, out=np.zeros(passed.shape), where=passed > 0)
        return factors

    def matrix(self, salience: ArrayLike) -> FloatArray:
        """H = S Q (S Q + (1-2S) I)^-1; shape (..., nodes, nodes)."""
        return np.asarray((self.modes * self.factors(salience)[..., None, :]) @ self.modes.T)

    def values(self, salience: ArrayLike, first: ArrayLike, second: ArrayLike) -> FloatArray:
        """The learnt values w of the levels of both components, for true values u and v; shape (..., nodes)."""
        truth = np.concatenate([np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)])
        if len(truth) != sum(self.levels):
            raise InputError(f"{len(truth)} values were given for {self.levels} levels; give one per level.")
        return np.asarray((self.modes.T @ truth * self.factors(salience)) @ self.modes.T)

    def predict(self, salience: ArrayLike, first: ArrayLike, second: ArrayLike, queries: ArrayLike) -> FloatArray:
        """f = w_i + w_j on pairs (m, 2) that were not trained; shape (..., m)."""
        return np.asarray(self.values(salience, first, second) @ self._rows(queries).T)

    def shrinkage(self, salience: ArrayLike, queries: ArrayLike) -> FloatArray:
        """x_q^T H x_q / x_q^T x_q: the share of a rule with independent unit-variance values that reaches pair q."""
        rows = self._rows(queries)
        return np.asarray(self.factors(salience) @ ((rows @ self.modes) ** 2).T / 2.0)

    def _rows(self, queries: ArrayLike) -> FloatArray:
        pairs: IntArray = as_combinations(queries, 2, "the set of pairs to predict")
        beyond = pairs >= np.array(self.levels)
        if beyond.any():
            row, component = np.argwhere(beyond)[0]
            raise InputError(
                f"a query shows level {pairs[row, component]} of component {component}, which no training pair shows; "
                "train on it first."
            )
        return _indicators(pairs, self.levels)


def _indicators(pairs: IntArray, levels: tuple[int, int]) -> FloatArray:
    rows = np.zeros((len(pairs), sum(levels)))
    index = np.arange(len(pairs))
    rows[index, pairs[:, 0]] = 1.0
    rows[index, levels[0] + pairs[:, 1]] = 1.0
    return rows
