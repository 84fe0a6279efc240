"""Exact kernel machines on combinations: least squares and hard margin.

Leading axes of the kernel, the training sets (..., n, C) and the targets (..., n) broadcast against each
other as in numpy, so fifty training sets of shape (50, 1, n, C) and a batch of 51 kernels make 2 550 fits in
one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.kernels.combinations import (
    as_combinations,
    check_levels,
    is_distinct,
    observed_levels,
    shared_components,
)
from recombine.kernels.least_squares import solve_least_squares
from recombine.kernels.margin import solve_margin
from recombine.kernels.moebius import FloatArray, IntArray
from recombine.kernels.salience import Kernel
from recombine.kernels.solution import Solution
from recombine.kernels.structured import solve_many
from recombine.kernels.symmetry import LARGEST_FOLD, Fold, fold_training_set

LARGEST_DENSE = 600
LARGEST_SINGULAR = 5_000


def fit_least_squares(
    kernel: Kernel,
    train: ArrayLike,
    targets: ArrayLike,
    *,
    ridge: ArrayLike = 0.0,
    bias: bool = False,
    levels: Sequence[int] | None = None,
) -> Solution:
    """min sum_i (y_i - f(z^i))^2 + ridge |f|^2; at ridge 0 the least-squares fit of smallest norm.

    `bias` adds an unpenalised constant. `levels` states how many levels each component has; training must
    show them all. One kernel on more than 600 combinations is solved without a Gram matrix.
    """
    strength = np.asarray(ridge, dtype=np.float64)
    if not (np.isfinite(strength) & (strength >= 0)).all():
        raise InputError("ridge must be 0 or a positive finite number.")
    problem = _Problem.check(kernel, train, targets, levels)
    if strength.ndim == 0 and problem.is_large(float(strength)):
        dual, b = solve_many(kernel, problem.train, problem.flat_targets, float(strength), bias=bias)
        batch = problem.targets.shape[:-1]
        return Solution(kernel, problem.train, dual.reshape(problem.targets.shape), b.reshape(batch))
    system = problem.system()
    dual, b = solve_least_squares(system.gram, system.targets, system.ones, strength, bias=bias)
    return Solution(kernel, problem.train, system.unfold(dual), b)


def fit_hard_margin(
    kernel: Kernel,
    train: ArrayLike,
    labels: ArrayLike,
    *,
    bias: bool = False,
    levels: Sequence[int] | None = None,
) -> Solution:
    """min |f|^2 subject to y_i (f(z^i) + b) >= 1, for labels +1 and -1; b = 0 unless `bias`."""
    problem = _Problem.check(kernel, train, labels, levels)
    wrong = np.abs(problem.targets) != 1.0
    if wrong.any():
        raise InputError(f"labels holds {problem.targets[wrong][0]:g}; a margin needs labels +1 and -1 only.")
    system = problem.system()
    size = len(system.ones)
    batch = np.broadcast_shapes(system.gram.shape[:-2], system.targets.shape[:-1])
    signs = np.sign(system.targets)
    hessian = np.broadcast_to(signs[..., :, None] * system.gram * signs[..., None, :], (*batch, size, size))
    equality = np.broadcast_to(system.targets, (*batch, size)).reshape(-1, size) if bias else None
    ones = np.broadcast_to(system.ones, (int(np.prod(batch)), size))
    dual = solve_margin(hessian.reshape(-1, size, size), ones, np.full(ones.shape, np.inf), equality)
    solved = dual.solved.reshape(batch)
    if not solved.all():
        index = tuple(int(i) for i in np.argwhere(~solved)[0])
        where = f"kernel {index} of the batch" if index else "the kernel"
        raise InputError(
            f"{where} cannot separate the training labels, so there is no hard margin; "
            "use a kernel with salience on the full conjunction."
        )
    alpha = signs * dual.alpha.reshape(*batch, size)
    return Solution(kernel, problem.train, system.unfold(alpha), dual.bias.reshape(batch))


@dataclass(frozen=True, eq=False)
class _System:
    """A problem in the basis it is solved in: one coordinate per training point, or per cell of a symmetric set."""

    gram: FloatArray
    targets: FloatArray
    ones: FloatArray
    fold: Fold | None

    def unfold(self, dual: FloatArray) -> FloatArray:
        return dual if self.fold is None else self.fold.expand(dual)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Checked input: batches that broadcast, finite targets, a kernel that is positive semi-definite."""

    kernel: Kernel
    train: IntArray
    targets: FloatArray

    @classmethod
    def check(cls, kernel: Kernel, train: ArrayLike, targets: ArrayLike, levels: Sequence[int] | None) -> _Problem:
        points = as_combinations(train, kernel.components, "the training set")
        y = np.asarray(targets, dtype=np.float64)
        if points.shape[-2] == 0:
            raise InputError("the training set is empty; give at least one combination.")
        if y.ndim == 0 or y.shape[-1] != points.shape[-2]:
            raise InputError(
                f"targets has shape {y.shape} for {points.shape[-2]} training combinations; give one per combination."
            )
        if not np.isfinite(y).all():
            raise InputError("targets holds a value that is not finite; drop or fill that combination.")
        try:
            np.broadcast_shapes(kernel.batch_shape, points.shape[:-2], y.shape[:-1])
        except ValueError as error:
            raise InputError(
                f"the batches of kernels {kernel.batch_shape}, training sets {points.shape[:-2]} and targets "
                f"{y.shape[:-1]} do not broadcast; make their leading axes equal or 1."
            ) from error
        if levels is not None:
            check_levels(points, levels)
        kernel.require_psd(observed_levels(points) if levels is None else levels)
        return cls(kernel, points, y)

    def is_large(self, ridge: float) -> bool:
        """Whether to avoid the Gram matrix; a singular one of moderate size still has a pseudo-inverse."""
        if self.train.ndim != 2 or self.kernel.batch_shape or len(self.train) <= LARGEST_DENSE:
            return False
        regular = ridge > 0 or (self.kernel.subset_saliences[-1] > 0 and is_distinct(self.train))
        return bool(regular) or len(self.train) > LARGEST_SINGULAR

    @property
    def flat_targets(self) -> FloatArray:
        return self.targets.reshape(-1, self.targets.shape[-1])

    def system(self) -> _System:
        shared = shared_components(self.train, self.train)
        points = self.train.shape[-2]
        if self.train.ndim == 2 and self.targets.ndim == 1 and points <= LARGEST_FOLD:
            fold = fold_training_set(shared, self.targets)
            if fold is not None:
                return _System(fold.gram(self.kernel, shared), fold.shrink(self.targets), fold.roots, fold)
        return _System(self.kernel.look_up(shared), self.targets, np.ones(points), None)
