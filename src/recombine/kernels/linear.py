"""The one product numpy has no operator for."""

from __future__ import annotations

import numpy as np

from recombine.kernels.moebius import FloatArray


def matvec(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    """y_b = A_b x_b for batches that broadcast; (..., m, n) and (..., n) give (..., m)."""
    return np.asarray((matrices @ vectors[..., None])[..., 0])
