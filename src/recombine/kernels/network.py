"""Kernels of infinitely wide random networks: similarity by depth for any number of components.

With rotation-invariant random weights the next layer's kernel is a scalar function of the variance and the
correlation of the layer before (Lippl & Stachenfeld 2025, Prop. 4.1), so a compositionally structured kernel
stays one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from recombine.errors import InputError
from recombine.kernels.moebius import FloatArray, subset_saliences
from recombine.kernels.salience import Kernel


class Activation(Protocol):
    """Second moments of an activation phi under (u, v) Gaussian with equal variance and given correlation."""

    def moment(self, variance: float, correlation: FloatArray) -> FloatArray:
        """E[phi(u) phi(v)]."""


@dataclass(frozen=True)
class LeakyReLU:
    """phi(u) = max(u, 0) + leak * min(u, 0) = (1 - leak) relu(u) + leak u."""

    leak: float = 0.1

    def moment(self, variance: float, correlation: FloatArray) -> FloatArray:
        angle = np.arccos(correlation)
        rectified = (np.sqrt(1 - correlation**2) + (np.pi - angle) * correlation) / (2 * np.pi)
        return variance * ((1 - self.leak) ** 2 * rectified + self.leak * correlation)


@dataclass(frozen=True)
class ReLU(LeakyReLU):
    """phi(u) = max(u, 0); the arc-cosine kernel of order 1."""

    leak: float = field(default=0.0, init=False, repr=False)


@dataclass(frozen=True)
class RectifiedQuadratic:
    """phi(u) = max(u, 0)^2; the arc-cosine kernel of order 2."""

    def moment(self, variance: float, correlation: FloatArray) -> FloatArray:
        angle = np.arccos(correlation)
        sine = np.sqrt(1 - correlation**2)
        return variance**2 * (3 * sine * correlation + (np.pi - angle) * (1 + 2 * correlation**2)) / (2 * np.pi)


@dataclass(frozen=True)
class Gaussian:
    """phi(u) = exp(-sharpness u^2)."""

    sharpness: float = 1.0

    def moment(self, variance: float, correlation: FloatArray) -> FloatArray:
        return self._spread(variance, correlation) ** -0.5

    def _spread(self, variance: float, correlation: FloatArray) -> FloatArray:
        a = 2 * self.sharpness * variance
        return (1 + a) ** 2 - (a * correlation) ** 2


def nngp(
    inputs: Kernel,
    activation: Activation,
    depth: int,
    *,
    weight_variance: float | None = None,
    bias_variance: float = 0.0,
) -> Kernel:
    """Sigma_0 = w kappa + b,  Sigma_{l+1} = w E[phi phi] + b: the readout kernel after 0 … depth hidden layers.

    `inputs` is one kernel with equal norms, such as `Kernel.one_hot(3)`; the result is a batch of depth + 1
    kernels. With `weight_variance=None` each layer gets the w that keeps its variance at 1, which is the
    paper's kappa_k <- g(kappa_k / kappa_C) and, for ReLU without biases, the usual w = 2.
    """
    if inputs.batch_shape:
        raise InputError(f"inputs is a batch of {inputs.batch_shape} kernels; pass one kernel, such as inputs[0].")
    if depth < 0:
        raise InputError(f"depth is {depth}; give the number of hidden layers, 0 or more.")
    if bias_variance < 0 or (weight_variance is None and bias_variance >= 1):
        raise InputError(
            f"bias_variance is {bias_variance}; it must not be negative, and below 1 where the weight variance "
            "is chosen to keep unit variance."
        )
    sigma = inputs.subset_similarities
    if sigma[-1] <= 0:
        raise InputError("identical inputs have no positive similarity; give an input kernel with kappa_C > 0.")
    rows = []
    for layer in range(depth + 1):
        if layer:
            variance = float(sigma[-1])
            sigma = activation.moment(variance, np.clip(sigma / variance, -1.0, 1.0))
        weight = (1 - bias_variance) / sigma[-1] if weight_variance is None else weight_variance
        sigma = weight * sigma + bias_variance
        rows.append(sigma)
    return Kernel(subset_saliences(np.stack(rows)))
