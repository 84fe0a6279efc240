"""Invariance and partial exposure: two binary items, one of which decides the label.

kappa_0 = 0, kappa_2 = 1, kappa_1 = k = S(1;2), no bias. Every training point is a support vector for k <=
1/2, so least squares and the hard margin agree (Lippl & Stachenfeld 2025, partial-exposure figure).
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from recombine.kernels.closed_forms.leak import check_salience
from recombine.kernels.moebius import FloatArray


def invariance_margin(salience: ArrayLike) -> FloatArray:
    """k / (1 - k) on (., +) after training (-,-) = -1 and (+,-) = +1."""
    k = check_salience(salience)
    return k / (1 - k)


def partial_exposure_margin(salience: ArrayLike) -> FloatArray:
    """2k^2 / (1 - 2k^2) on (+,+) after training (-,+) = -1 as well."""
    k = check_salience(salience)
    return 2 * k**2 / (1 - 2 * k**2)
