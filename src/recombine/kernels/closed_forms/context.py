"""Context dependence with the whole block left out (CD-3): when a kernel takes the shortcut through context.

Context 0 asks for the sign of feature 1, context 1 for that of feature 2, m values per sign; negative feature
1 with positive feature 2 is never trained. By symmetry every test output has the same margin, so accuracy is
0 or 1. The paper has no closed form; here s1 = S(1;3), s2 = S(2;3), s3 = 1 - 3 s1 - 3 s2, and kappa_0 plays
no part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.kernels.moebius import FloatArray


def context_margin_least_squares(s1: ArrayLike, s2: ArrayLike, features: int = 3) -> FloatArray:
    """m^2 [2 s2 (m s1 + s2) - s1 s3] / [2m^3 s1 s2 + 2m^2 s2^2 + 3m^2 s1 s3 + 4m s2 s3 + s3^2].

    Ridgeless fit of +-1 targets. The denominator is positive, so it generalises exactly where 2 s2 (m s1 +
    s2) > s1 s3.
    """
    a, b, c, m = _saliences(s1, s2, features)
    above = m**2 * (2 * b * (m * a + b) - a * c)
    below = 2 * m**3 * a * b + 2 * m**2 * b**2 + 3 * m**2 * a * c + 4 * m * b * c + c**2
    # Both vanish for the additive kernel s2 = s3 = 0 alone, which cannot fit the targets: its best fit gives -1/3.
    margin: FloatArray = np.divide(above, below, out=np.full(above.shape, -1 / 3), where=below > 1e-15)
    return margin


def context_margin_hard(s1: ArrayLike, s2: ArrayLike, features: int = 3) -> FloatArray:
    """The least-squares margin while all points are support vectors; else the margin without the easy points.

    All are support vectors while -4m^3 s1^2 - 6m^2 s1 s2 - 2m s2^2 + 2m^2 s1 s3 + 3m s2 s3 + s3^2 > 0.
    Otherwise (context 0; +, +) and (context 1; -, -), which context already favours, drop out, and the margin
    is

        m [2m^2 s1 s2 - 2m^2 s1^2 - m s1 s2 + 3m s2^2 + s2 s3] / [2m^3 s1 (s1+s2) + 5m^2 s1 s2 + 2m^2 s1 s3 +
        3m^2 s2^2 + 2m s1 s3 + 2m s2^2 + 4m s2 s3 + s2 s3 + s3^2].
    """
    a, b, c, m = _saliences(s1, s2, features)
    everyone = -4 * m**3 * a**2 - 6 * m**2 * a * b - 2 * m * b**2 + 2 * m**2 * a * c + 3 * m * b * c + c**2 > 0
    above = m * (2 * m**2 * a * b - 2 * m**2 * a**2 - m * a * b + 3 * m * b**2 + b * c)
    below = (
        2 * m**3 * a * (a + b)
        + 5 * m**2 * a * b
        + 2 * m**2 * a * c
        + 3 * m**2 * b**2
        + 2 * m * a * c
        + 2 * m * b**2
        + 4 * m * b * c
        + b * c
        + c**2
    )
    return np.where(everyone, context_margin_least_squares(a, b, features), above / below)


def _saliences(s1: ArrayLike, s2: ArrayLike, features: int) -> tuple[FloatArray, FloatArray, FloatArray, int]:
    if features < 1:
        raise InputError(f"features is {features}; give the number of values per sign, 1 or more.")
    a, b = np.broadcast_arrays(np.asarray(s1, dtype=np.float64), np.asarray(s2, dtype=np.float64))
    c = 1 - 3 * a - 3 * b
    if (np.minimum(np.minimum(a, b), c) < -1e-12).any():
        raise InputError("S(1;3) and S(2;3) must not be negative, nor S(3;3) = 1 - 3 S(1;3) - 3 S(2;3).")
    return a, b, c, features
