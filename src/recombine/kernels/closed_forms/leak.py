"""The memorization leak: how much of an additive rule a kernel loses to memorizing its training pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.kernels.moebius import FloatArray
from recombine.kernels.problems import check_anchors


@dataclass(frozen=True, eq=False)
class Leak:
    """f(i, j) = slope * (v_i + v_j) + intercept on every unseen pair; shapes follow the saliences."""

    slope: FloatArray
    intercept: FloatArray


def memorization_leak(
    salience: ArrayLike,
    values: ArrayLike,
    anchors: Sequence[int],
    *,
    constant: ArrayLike = 0.0,
    bias: bool = False,
) -> Leak:
    """slope = p S / (1 + (p-2) S) for p anchors and S = S(1;2) (Lippl & Stachenfeld 2025, Prop. 5.1, Eq. 3).

    Ridgeless least squares on all pairs of items with at least one anchor, targets v_i + v_j. The slope holds
    for any values; a mean that is not zero only adds the intercept. Beyond the paper, the intercept: with n
    items, q = n - p, a = S, c = 1 - 2S, k0 = `constant` = kappa_0 / (kappa_2 - kappa_0), A_i the sum of the
    dual over pairs with item i, the totals N (all pairs) and A_W (anchors) solve

        (n p k0 + a p) N + (a n + c) A_W         = n sum_W v + p sum v
        (q p k0 + a p + c) N + (a (q-p) - c) A_W = p (sum v - sum_W v) + q sum_W v

    and intercept = k0 N + 2 a (sum_W v - p k0 N - a A_W) / (a p + c). An unpenalised bias b takes the place
    of k0 N, and N is then 0.
    """
    v = np.asarray(values, dtype=np.float64)
    check_anchors(anchors, len(v))
    a, k0 = np.broadcast_arrays(check_salience(salience), np.asarray(constant, dtype=np.float64))
    if (k0 < 0).any():
        raise InputError("constant is negative; it is kappa_0 / (kappa_2 - kappa_0) of a positive kernel.")
    c = 1 - 2 * a
    n, p = len(v), len(anchors)
    q = n - p
    chosen, total = float(v[list(anchors)].sum()), float(v.sum())
    ones = np.ones_like(a)
    if bias:
        first, second = n * p * ones, q * p * ones
    else:
        first, second = n * p * k0 + a * p, q * p * k0 + a * p + c
    system = np.stack([np.stack([first, a * n + c], -1), np.stack([second, a * (q - p) - c], -1)], -2)
    goal = np.stack([ones * (n * chosen + p * total), ones * (p * (total - chosen) + q * chosen)], -1)
    unknown = np.linalg.solve(system, goal[..., None])[..., 0]
    flat = unknown[..., 0] if bias else k0 * unknown[..., 0]
    intercept = flat + 2 * a * (chosen - p * flat - a * unknown[..., 1]) / (a * p + c)
    return Leak(p * a / (1 + (p - 2) * a), intercept)


def check_salience(salience: ArrayLike) -> FloatArray:
    """S(1;2) lies between 0 (a lookup table) and 1/2 (additive)."""
    s = np.asarray(salience, dtype=np.float64)
    if not ((s >= 0) & (s <= 0.5)).all():
        raise InputError("the salience S(1;2) of two components must lie between 0 and 0.5.")
    return s
