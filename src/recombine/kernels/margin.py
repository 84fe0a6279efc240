"""Hard and soft margins for batches of small Gram matrices, exactly.

The dual is a convex quadratic programme in a box, with one equality when there is an unpenalised bias. The
proximal method of multipliers (Rockafellar 1976) turns it into a short sequence of strictly convex box
programmes and converges for any positive semi-definite Gram matrix. All problems of a batch move together;
finished ones drop out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recombine.kernels.boxes import FREE, solve_boxes
from recombine.kernels.linear import matvec
from recombine.kernels.moebius import FloatArray

PROXIMITY = 1e-8
MULTIPLIER = 1e2
ACCURACY = 1e-11
ROUNDS = 60


@dataclass(frozen=True, eq=False)
class MarginDual:
    """alpha (B, n), bias (B,), and which problems met their optimality conditions (B,)."""

    alpha: FloatArray
    bias: FloatArray
    solved: NDArray[np.bool_]


def solve_margin(hessian: FloatArray, linear: FloatArray, upper: FloatArray, equality: FloatArray | None) -> MarginDual:
    """min ½ x^T Q x - p^T x over 0 <= x <= u [and e^T x = 0]; the bias is the multiplier of the equality.

    Shapes: hessian (B, n, n), linear, upper and equality (B, n); `upper` may be infinite. Round k minimises
    the same objective plus ½ d |x - x_k|^2 + ½ t (e^T x)^2 + b_k e^T x and then sets b_{k+1} = b_k + t e^T x.
    """
    size = hessian.shape[-1]
    scale = np.einsum("bii->bi", hessian).max(axis=-1)
    scale = np.where(scale > 0, scale, 1.0)[:, None]
    stiff = hessian / scale[..., None]
    norm = np.abs(stiff).sum(axis=-1).max(axis=-1)
    e = np.zeros_like(linear) if equality is None else equality / np.linalg.norm(equality, axis=-1, keepdims=True)
    penalty = MULTIPLIER * norm
    stiff = stiff + PROXIMITY * np.eye(size) + penalty[:, None, None] * e[:, :, None] * e[:, None, :]
    x, bias = np.zeros_like(linear), np.zeros(len(linear))
    state = np.full(linear.shape, FREE, dtype=np.int8)
    solved = np.zeros(len(linear), dtype=np.bool_)
    for _ in range(ROUNDS):
        todo = np.flatnonzero(~solved)
        if not len(todo):
            break
        goal = linear[todo] + PROXIMITY * x[todo] - bias[todo, None] * e[todo]
        moved, state[todo] = solve_boxes(stiff[todo], goal, (upper * scale)[todo], state[todo])
        step = penalty[todo] * np.einsum("bi,bi->b", e[todo], moved)
        slack = PROXIMITY * np.abs(moved - x[todo]).max(axis=-1)
        x[todo], bias[todo] = moved, bias[todo] + step
        # The slack is the exact violation of the margin conditions; a step of the bias cannot fall below rounding.
        unit = ACCURACY * np.abs(linear[todo]).max(axis=-1)
        rounding = 16 * np.finfo(np.float64).eps * penalty[todo] * np.abs(moved).max(axis=-1)
        solved[todo] = (slack <= unit) & (np.abs(step) <= unit + rounding)
    alpha = np.clip(x / scale, 0.0, upper)
    if equality is not None:
        bias = _centre(bias / np.linalg.norm(equality, axis=-1), hessian, linear, upper, equality, alpha)
    return MarginDual(alpha, bias, solved & _is_optimal(alpha, bias, hessian, linear, upper, equality))


def _is_optimal(
    alpha: FloatArray,
    bias: FloatArray,
    hessian: FloatArray,
    linear: FloatArray,
    upper: FloatArray,
    equality: FloatArray | None,
) -> NDArray[np.bool_]:
    """The Karush-Kuhn-Tucker conditions of the problem as it was given, to 1e-9: the certificate of every answer."""
    gradient = matvec(hessian, alpha) - linear
    if equality is not None:
        gradient = gradient + bias[:, None] * equality
    largest = alpha.max(axis=-1, keepdims=True)
    above = np.where(alpha > 1e-10 * largest, gradient, 0.0)
    below = np.where(alpha < upper - 1e-10 * largest, -gradient, 0.0)
    rounding = 64 * np.finfo(np.float64).eps * np.abs(hessian).max(axis=(-1, -2)) * alpha.sum(axis=-1)
    violation = np.maximum(above, below).max(axis=-1)
    return np.asarray(violation <= 1e-9 * np.abs(linear).max(axis=-1) + rounding)


def _centre(
    bias: FloatArray,
    hessian: FloatArray,
    linear: FloatArray,
    upper: FloatArray,
    equality: FloatArray,
    alpha: FloatArray,
) -> FloatArray:
    """Without a free variable the conditions leave an interval for the bias; take its middle, as libsvm does."""
    rounding = 1e-10 * alpha.max(axis=-1, keepdims=True)
    low, high = alpha <= rounding, alpha >= upper - rounding
    wanted = (linear - matvec(hessian, alpha)) / equality
    at_least = (low & (equality > 0)) | (high & (equality < 0))
    at_most = (low & (equality < 0)) | (high & (equality > 0))
    below = np.where(at_least, wanted, -np.inf).max(axis=-1)
    above = np.where(at_most, wanted, np.inf).min(axis=-1)
    loose = (low | high).all(axis=-1) & np.isfinite(below) & np.isfinite(above)
    return np.where(loose, 0.5 * (np.where(loose, below, 0.0) + np.where(loose, above, 0.0)), bias)
