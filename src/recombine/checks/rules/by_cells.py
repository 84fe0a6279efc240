"""The fit of `effects` where cells are far fewer than effects: solved for the cells, n × n, and not for the effects.

    C = X Θ Xᵀ + σ² U,   P = C⁻¹ − C⁻¹ 1 (1ᵀ C⁻¹ 1)⁻¹ 1ᵀ C⁻¹,   β_b = θ_b X_bᵀ P y,   γ_b = θ_b tr(X_bᵀ P X_b)

with X without the constant, which is not shrunk. P is what `effects` calls C⁻¹, the constant's variance without end.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotri
from scipy.sparse import csr_array

from recombine.checks.exact.cholesky import factored
from recombine.checks.exact.modular import Floats, Ints


class ByCells:
    """``design``: the constant and all effects of the training cells; ``noise``: relative variances of their answers;
    ``size``: how many effects each block has."""

    def __init__(self, design: csr_array, noise: Floats, size: Ints) -> None:
        self._x, self._noise, self._size = np.asarray(design[:, 1:].toarray()), noise, size
        self._starts = np.concatenate([[0], np.cumsum(size)])[:-1]

    def fit(self, y: Floats, theta: Floats, sigma2: float) -> Floats:
        """The constant and the effects."""
        self._theta = theta
        self._each = np.repeat(theta, self._size)
        spread = (self._x * self._each) @ self._x.T
        spread.flat[:: len(spread) + 1] += sigma2 * self._noise
        lower = np.tril(dpotri(factored(spread), lower=1)[0])
        self._plain = lower + np.tril(lower, -1).T
        self._ones = self._plain.sum(axis=1)
        self._total = float(self._ones.sum())
        self.inverse = self._plain - np.outer(self._ones, self._ones) / self._total
        """P."""
        left = self.inverse @ y
        effects = ((self._x.T @ left).T * self._each).T
        return np.concatenate([np.asarray(self._ones @ y / self._total)[None], effects])

    def settled(self) -> Floats:
        """Of each block, how many of its effects the data settle: γ."""
        traces = np.add.reduceat((self._x * (self.inverse @ self._x)).sum(axis=0), self._starts)
        return np.asarray(self._theta * traces)

    def varies(self, rows: csr_array) -> Floats:
        """Variance of the answers of rows (constant and effects), without their own noise."""
        x = np.asarray(rows[:, 1:].toarray())
        shared = (x * self._each) @ self._x.T
        own = (x**2) @ self._each - ((shared @ self._plain) * shared).sum(axis=1)
        return np.asarray(own.clip(0) + (1 - shared @ self._ones) ** 2 / self._total)
