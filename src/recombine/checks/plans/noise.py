"""How far the noise of one row may be from its estimate, and with it every standard error that a plan tells.

    σ / s between √(ν / χ²(95 %)) and √(ν / χ²(5 %)),   χ² with the ν degrees of freedom that the estimate s rests on

in nine of ten tables of normal noise. A plan that stops as soon as errors look small enough stops where s is too small.
"""

from __future__ import annotations

import math

from scipy.special import gammaincinv

TAILS = (0.95, 0.05)


def times_off(freedom: float | None) -> tuple[float, float]:
    """The noise over its estimate, at least and at most; once where it is known (None)."""
    if freedom is None:
        return 1.0, 1.0
    low, high = (math.sqrt(freedom / (2 * float(gammaincinv(freedom / 2, tail)))) for tail in TAILS)
    return low, high
