"""Ridge and ridgeless least squares for batches of small Gram matrices."""

from __future__ import annotations

import numpy as np

from recombine.kernels.linear import matvec
from recombine.kernels.moebius import FloatArray

SMALLEST_MODE = 1e-12


def solve_least_squares(
    gram: FloatArray, targets: FloatArray, ones: FloatArray, ridge: FloatArray, *, bias: bool
) -> tuple[FloatArray, FloatArray]:
    """a = (K + ridge I)^-1 y, with the pseudo-inverse at ridge 0; returns (a, b).

    With an unpenalised bias the dual is orthogonal to the ones vector: a = (HKH + ridge I)^+ H y, H = I -
    11^T/n, and b is the mean of y - K a. `ones` is that vector in the basis of the Gram matrix. Shapes: gram
    (..., n, n), targets (..., n), ones (n,), ridge (...). A mode below 1e-12 of the largest counts as
    rounding: it is not fitted.
    """
    length = float(np.linalg.norm(ones))
    unit = ones / length
    centred, y = gram, targets
    if bias:
        centring = np.eye(len(ones)) - np.outer(unit, unit)
        centred, y = centring @ gram @ centring, targets @ centring
    values, modes = np.linalg.eigh(centred)
    floor = SMALLEST_MODE * np.maximum(np.abs(values).max(axis=-1, keepdims=True), np.finfo(np.float64).tiny)
    kept = (values > floor) | (ridge[..., None] > 0)
    inverse = np.where(kept, 1.0 / np.where(kept, np.maximum(values, 0.0) + ridge[..., None], 1.0), 0.0)
    coordinates = inverse * matvec(modes.swapaxes(-1, -2), y)
    dual = matvec(modes, coordinates)
    if not bias:
        return dual, np.zeros(dual.shape[:-1])
    dual = dual - (dual @ unit)[..., None] * unit
    return dual, (targets - matvec(gram, dual)) @ unit / length
