"""Activations that are not among ours: whatever has second moments can be asked about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.kernels.moebius import FloatArray


@dataclass(frozen=True)
class Step:
    """phi(u) = 1 if u > 0 else 0; the arc-cosine kernel of order 0."""

    def moment(self, variance: float, correlation: FloatArray) -> FloatArray:
        return (np.pi - np.arccos(correlation)) / (2 * np.pi)


@dataclass(frozen=True)
class Erf:
    """phi(u) = erf(u)."""

    def moment(self, variance: float, correlation: FloatArray) -> FloatArray:
        return 2 / np.pi * np.arcsin(2 * variance * correlation / (1 + 2 * variance))
