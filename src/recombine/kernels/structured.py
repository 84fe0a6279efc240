"""Least squares on many training combinations without a Gram matrix.

K = sum_J s_J E_J E_J^T with E_J the indicator matrix of the sub-combinations on J, so one product with K
costs 2**C passes over the training set. Conjugate gradients use that product; the low orders, which carry the
large eigenvalues, are inverted exactly (by the Woodbury identity where they have fewer groups than there are
combinations) and serve as the preconditioner.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse

from recombine.errors import InputError
from recombine.kernels.combinations import is_distinct, sub_combination_ids
from recombine.kernels.moebius import FloatArray, IntArray, subset_orders, subsets
from recombine.kernels.salience import Kernel

MOST_INVERTED = 4_000
ACCURACY = 1e-13
ROUNDS = 2_000
AT_ONCE = 256
"""Right-hand sides that are solved together: a handful of arrays of combinations by this many are held."""


def solve_many(
    kernel: Kernel, train: IntArray, targets: FloatArray, ridge: float, *, bias: bool
) -> tuple[FloatArray, FloatArray]:
    """(K + ridge I) a = y to a relative residual of 1e-13, for one kernel; returns (a, b).

    Shapes: train (n, C), targets (k, n), result (k, n) and (k,). With an unpenalised bias, b = 1^T K^-1 y /
    1^T K^-1 1.
    """
    system = _System.build(kernel, train, ridge)
    ones = np.ones(len(train))
    columns = np.vstack([targets, ones]).T if bias else targets.T
    pieces = [_conjugate_gradients(system, columns[:, i : i + AT_ONCE]) for i in range(0, columns.shape[1], AT_ONCE)]
    solution = np.hstack(pieces)
    if not bias:
        return solution.T, np.zeros(len(targets))
    plain, constant = solution[:, :-1], solution[:, -1]
    b = plain.sum(axis=0) / constant.sum()
    return (plain - constant[:, None] * b).T, b


@dataclass(frozen=True, eq=False)
class _System:
    """diagonal I + E D E^T, with the part E_low D_low E_low^T + shift I inverted through a Cholesky factor: its own, or
    that of Woodbury's matrix of groups."""

    diagonal: float
    features: scipy.sparse.csr_array
    weights: FloatArray
    shift: float
    low: scipy.sparse.csr_array
    factor: FloatArray
    whole: bool
    """Whether the factor is the part's own."""

    @classmethod
    def build(cls, kernel: Kernel, train: IntArray, ridge: float) -> _System:
        saliences = kernel.subset_saliences
        # The full conjunction of distinct combinations is the identity; a repeated one is a feature like any other.
        distinct = is_distinct(train)
        diagonal = (float(saliences[-1]) if distinct else 0.0) + ridge
        if diagonal <= 0:
            raise InputError(
                f"{len(train)} combinations make a singular problem, because some repeat or the kernel has no salience "
                "for the full conjunction; pass a ridge above 0."
            )
        count = len(train)
        blocks: list[scipy.sparse.csr_array] = []
        weights: list[FloatArray] = []
        low_blocks: list[scipy.sparse.csr_array] = []
        low_weights: list[FloatArray] = []
        shift, inverted = diagonal, 0
        # Lowest orders first: they have the fewest and largest groups, hence the largest eigenvalues.
        masks = np.argsort(subset_orders(kernel.components), kind="stable")
        for mask in masks[:-1] if distinct else masks:
            salience = float(saliences[mask])
            if salience == 0.0:
                continue
            ids = sub_combination_ids(train, subsets(kernel.components)[mask])
            groups = int(ids.max()) + 1
            block = scipy.sparse.csr_array((np.ones(count), ids, np.arange(count + 1)), shape=(count, groups))
            blocks.append(block)
            weights.append(np.full(groups, salience))
            if salience > 0 and inverted + groups <= MOST_INVERTED:
                inverted += groups
                low_blocks.append(block)
                low_weights.append(weights[-1])
            else:
                shift += abs(salience) * float(np.mean(np.bincount(ids)[ids]))
        features, low = _stack(blocks, count), _stack(low_blocks, count)
        whole = inverted > count
        if whole:
            inner = ((low * np.concatenate(low_weights)) @ low.T).toarray()
            inner[np.diag_indices_from(inner)] += shift
        else:
            inner = (low.T @ low).toarray()
            inner[np.diag_indices_from(inner)] += shift / np.concatenate(low_weights) if low_weights else 1.0
        # LAPACK's column order: any other layout would be copied again for every round.
        factor = np.asfortranarray(np.linalg.cholesky(inner))
        every = np.concatenate([*weights, np.zeros(0 if weights else 1)])
        return cls(diagonal, features, every, shift, low, factor, whole)

    def apply(self, x: FloatArray) -> FloatArray:
        product: FloatArray = self.diagonal * x + self.features @ (self.weights[:, None] * (self.features.T @ x))
        return product

    def precondition(self, x: FloatArray) -> FloatArray:
        if self.whole:
            return np.asarray(scipy.linalg.cho_solve((self.factor, True), x, check_finite=False))
        inner = scipy.linalg.cho_solve((self.factor, True), self.low.T @ x, check_finite=False)
        corrected: FloatArray = (x - self.low @ inner) / self.shift
        return corrected


def _stack(blocks: list[scipy.sparse.csr_array], count: int) -> scipy.sparse.csr_array:
    """Side by side; with no block, one empty feature, so that the algebra needs no special case."""
    return scipy.sparse.hstack(blocks, format="csr") if blocks else scipy.sparse.csr_array((count, 1))


def _conjugate_gradients(system: _System, targets: FloatArray) -> FloatArray:
    """Every column of targets (n, k) at once; columns that have converged stand still."""
    x = np.zeros_like(targets)
    residual = targets.copy()
    goal = ACCURACY * np.linalg.norm(targets, axis=0)
    direction, energy = np.zeros_like(targets), np.ones(targets.shape[1])
    for _ in range(ROUNDS):
        active = np.linalg.norm(residual, axis=0) > goal
        if not active.any():
            # The recursion drifts from the true residual; only the true one may end the search.
            residual = targets - system.apply(x)
            if (np.linalg.norm(residual, axis=0) <= 10 * goal).all():
                return x
            direction = np.zeros_like(targets)
            continue
        fresh = system.precondition(residual)
        new_energy = np.einsum("ik,ik->k", residual, fresh)
        direction = fresh + direction * np.where(active, new_energy / energy, 0.0)
        image = system.apply(direction)
        curvature = np.einsum("ik,ik->k", direction, image)
        length = np.where(active, new_energy / np.where(curvature > 0, curvature, np.inf), 0.0)
        x += length * direction
        residual -= length * image
        energy = np.where(new_energy > 0, new_energy, 1.0)
    raise InputError(
        f"{len(targets)} combinations make a nearly singular problem that did not settle in {ROUNDS} rounds; "
        "pass a larger ridge."
    )
