"""Effects that add up, each kind of effect with a variance of its own, and what the fit says of cells left out.

    y = μ + Σ_b X_b β_b + ε,   β_b ~ N(0, θ_b I),   ε_c ~ N(0, σ² u_c)

A block b is one factor (its levels) or one pair of factors (its seen pairs of levels). θ_b and σ² are set by MacKay's
fixed point (the evidence of the data), so a factor that does nothing is shrunk away and a table that adds up exactly is
met exactly. With C = X Θ Xᵀ + σ² U a group H of cells that is left out has the prediction errors (C⁻¹_HH)⁻¹ (C⁻¹ y)_H:
no refit, whatever the group.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.sparse import csr_array, hstack

from recombine.checks.modular import Floats, Ints

ROUNDS = 20
LEAST = 1e-9
"""Smallest variance of a block or of the noise, as a share of the answers' variance."""
DENSE = 2_500
"""Effects up to which the system is solved as a dense matrix."""

Subset = tuple[int, ...]


def subsets_of(factors: int, order: int) -> list[Subset]:
    """Single factors, then pairs."""
    return [s for size in range(1, order + 1) for s in itertools.combinations(range(factors), size)]


@dataclass(frozen=True, eq=False)
class Block:
    """The columns of one factor or pair: one for each combination of levels that was seen."""

    subset: Subset
    keys: Ints
    shape: tuple[int, ...]

    @classmethod
    def of(cls, codes: Ints, shape: tuple[int, ...], subset: Subset) -> Block:
        return cls(subset, np.unique(key_of(codes, shape, subset)), shape)

    def columns(self, codes: Ints) -> tuple[csr_array, np.ndarray]:
        """Indicators (rows × seen combinations), and which rows have a combination that was seen."""
        keys = key_of(codes, self.shape, self.subset)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = self.keys[at] == keys
        rows = np.flatnonzero(known)
        indicators = csr_array((np.ones(len(rows)), (rows, at[rows])), shape=(len(codes), len(self.keys)))
        return indicators, known


def key_of(codes: Ints, shape: tuple[int, ...], subset: Subset) -> Ints:
    """One whole number for the levels that a row has in a subset of factors."""
    key = np.zeros(len(codes), dtype=np.int64)
    for k in subset:
        key = key * shape[k] + codes[:, k]
    return key


class Effects:
    """The fit to training cells. ``noise`` are the relative variances u of their answers."""

    def __init__(
        self, codes: Ints, shape: tuple[int, ...], y: Floats, noise: Floats, order: int, known: Floats | None = None
    ) -> None:
        """``known``: variances of the blocks to start from, where ``noise`` is the noise itself and σ² = 1 is kept."""
        self.codes, self.y = codes, y
        self.blocks = [Block.of(codes, shape, s) for s in subsets_of(len(shape), order)]
        self.blocks = [b for b in self.blocks if len(b.keys) > 1 and (len(b.subset) == 1 or len(b.keys) < len(codes))]
        self.size = np.array([len(b.keys) for b in self.blocks], dtype=np.int64)
        self.spread = float(np.var(y)) or 1.0
        self.noise = noise / noise.mean() if known is None else noise
        self.design = self._rows(codes)[0]
        share = self.spread / (1 + len(self.blocks))
        self.theta = np.full(len(self.blocks), share) if known is None else np.resize(known, len(self.blocks))
        self.sigma2 = share if known is None else 1.0
        self._settle(ROUNDS if known is None else 1, known is not None)

    def _rows(self, codes: Ints) -> tuple[csr_array, Floats]:
        """Constant and indicators, and for each row and block whether it has an effect that was seen."""
        parts, known = [csr_array(np.ones((len(codes), 1)))], np.ones((len(codes), len(self.blocks)))
        for b, block in enumerate(self.blocks):
            indicators, has = block.columns(codes)
            parts.append(indicators)
            known[:, b] = has
        return csr_array(hstack(parts, format="csr")), known

    def _settle(self, rounds: int, known: bool) -> None:
        """MacKay's updates: θ_b = ‖β_b‖² / γ_b with γ_b the number of effects that the data settle."""
        weighted = self.design.multiply(1 / self.noise[:, None]).tocsr()
        gram, right = (weighted.T @ self.design).toarray(), weighted.T @ self.y
        least = LEAST * self.spread
        for _ in range(rounds):
            factor = cho_factor(gram / self.sigma2 + np.diag(self.precision()), lower=True)
            beta = cho_solve(factor, right / self.sigma2)
            inverse = solve_triangular(factor[0], np.eye(len(beta)), lower=True)
            variance = (inverse**2).sum(axis=0)[1:]
            settled = self.size - self._sums(variance) / self.theta
            theta = np.maximum(self._sums(beta[1:] ** 2) / np.maximum(settled, 1e-6), least)
            left = self.y - self.design @ beta
            freedom = max(len(self.y) - 1 - float(settled.sum()), 1.0)
            sigma2 = 1.0 if known else max(float((left**2 / self.noise).sum()) / freedom, least)
            still = np.allclose(np.log([*theta, sigma2]), np.log([*self.theta, self.sigma2]), atol=0.02)
            self.theta, self.sigma2 = theta, sigma2
            if still:
                break
        self.factor = cho_factor(gram / self.sigma2 + np.diag(self.precision()), lower=True)
        self.beta = cho_solve(self.factor, right / self.sigma2)

    def precision(self) -> Floats:
        """Of the constant and every effect, before any answer is seen."""
        return np.concatenate([[1e-10 / self.spread], np.repeat(1 / self.theta, self.size)])

    def _sums(self, values: Floats) -> Floats:
        ends = np.concatenate([[0], np.cumsum(self.size)])
        total = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(total[ends[1:]] - total[ends[:-1]])

    def predict(self, codes: Ints) -> tuple[Floats, Floats]:
        """Answers of cells and their standard deviations, an answer's own noise included."""
        rows, known = self._rows(codes)
        half = solve_triangular(self.factor[0], rows.toarray().T, lower=True)
        unseen = (1 - known) @ self.theta
        return rows @ self.beta, np.sqrt((half**2).sum(axis=0) + unseen + self.sigma2 * np.median(self.noise))

    @cached_property
    def dense(self) -> Floats:
        return np.asarray(self.design.toarray())

    @cached_property
    def _residuals(self) -> Floats:
        return np.asarray(self.y - self.design @ self.beta)

    @cached_property
    def _half(self) -> Floats:
        """L⁻¹ Xᵀ (σ² U)⁻¹, columns are training cells: C⁻¹ = (σ² U)⁻¹ − halfᵀ half."""
        return np.asarray(
            solve_triangular(self.factor[0], (self.dense / (self.sigma2 * self.noise)[:, None]).T, lower=True)
        )

    def left_out(self, group: Ints) -> tuple[float, float]:
        """What the fit without these training cells says of the first of them, with its standard deviation."""
        half, noise = self._half[:, group], self.sigma2 * self.noise[group]
        inverse = np.diag(1 / noise) - half.T @ half
        weights = self._residuals[group] / noise
        solved = np.linalg.solve(inverse, np.stack([weights, np.eye(len(group))[0]], axis=1))
        return float(self.y[group[0]] - solved[0, 0]), float(np.sqrt(max(solved[0, 1], 0.0)))
