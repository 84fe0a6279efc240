"""How much of an additive rule reaches a combination, for any number of components."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.kernels.combinations import as_combinations
from recombine.kernels.moebius import FloatArray, subset_orders
from recombine.kernels.salience import Kernel
from recombine.kernels.solver import fit_least_squares


def expected_shrinkage(
    kernel: Kernel,
    train: ArrayLike,
    queries: ArrayLike,
    *,
    order: int = 1,
    ridge: float = 0.0,
    bias: bool = False,
) -> FloatArray:
    """E[f(q) y(q)] / E[y(q)^2] for y with independent unit-variance effects of every conjunction up to `order`.

    The covariance of y at two combinations is itself a kernel, G = the number of shared conjunctions of 1 to
    `order` components, so the expectation needs one fit per query with targets G(train, q). For two
    components, order 1, kappa_0 = 0 and no bias it is x_q^T H x_q / x_q^T x_q of `GraphFilter.shrinkage`.
    Shapes: train (n, C), queries (m, C), result (..., m) with the kernel's batch first.
    """
    components = kernel.components
    if not 1 <= order <= components:
        raise InputError(f"order is {order}; give 1 to {components}, the largest conjunction the rule may use.")
    seen = as_combinations(train, components, "the training set")
    asked = as_combinations(queries, components, "the set of combinations to predict")
    if seen.ndim != 2 or asked.ndim != 2:
        raise InputError("expected shrinkage takes one training set and one set of queries, without leading axes.")
    orders = subset_orders(components)
    rule = Kernel(((orders >= 1) & (orders <= order)).astype(np.float64))
    covariance = rule.gram(asked, seen)
    # One batch axis for the queries, behind those of the kernel.
    batched = Kernel(kernel.subset_saliences[..., None, :]) if kernel.batch_shape else kernel
    solution = fit_least_squares(batched, seen, covariance, ridge=ridge, bias=bias)
    influence = kernel.gram(asked, seen)
    reached = np.einsum("...mn,...mn->...m", influence, solution.dual) + solution.bias
    return np.asarray(reached / float(rule.subset_similarities[-1]))
