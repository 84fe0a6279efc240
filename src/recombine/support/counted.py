"""Shares of known numbers of cases: share times cases is then a whole number, as far as the share was written down.

Such an answer is k of n, the noise of one case is p (1 − p), and none of n is data as good as any other: on a scale of
logarithms k of n stands where (k + ½) / (n + 1) does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FEWEST = 6
"""Rows from which whole numbers in nearly all are no chance."""
DECIMALS = 8
BY_CHANCE = 0.5
"""Share of rows, at most, whose share gives a whole number with another row's cases too."""
NEARLY = 0.95
"""Share of rows that have to give one."""
TELLS = 0.1
"""How far off a whole number rounding moves what still tells one."""


def written_to(y: Floats) -> Floats:
    """How far each number is off, at most, as far as it was written down: to as many decimals as any of them, or to as
    many digits (0.0123457 beside 0.123457), whichever says less of it."""
    size = 10.0 ** np.floor(np.log10(np.where(y == 0, 1.0, np.abs(y))) + 1e-12)
    places, digits = _decimals(y), _decimals(y / size)
    return np.asarray(0.5 * np.maximum(10.0**-places, size * 10.0**-digits * (y != 0)))


def _decimals(y: Floats) -> int:
    return next((d for d in range(DECIMALS) if np.allclose(y, np.round(y, d), rtol=0, atol=1e-9)), DECIMALS)


def counted(share: Floats, cases: Floats, most: float = NEARLY) -> bool:
    """Whether these shares are of so many cases each, or ``most`` of them."""
    if len(share) < FEWEST or share.min() < 0 or share.max() > 1 or not np.ptp(share):
        return False
    off = written_to(share)
    tells = cases * off <= TELLS
    if tells.sum() < FEWEST or (np.abs(cases - np.round(cases)) > 1e-6 * cases).any():
        return False
    y, n, off = share[tells], cases[tells], off[tells]
    return bool(_whole(y, n, off).mean() >= most and _whole(y, np.roll(n, 1), off).mean() <= BY_CHANCE)


def never_empty(share: Floats, cases: Floats) -> Floats:
    """(k + ½) / (n + 1)."""
    return np.asarray((share * cases + 0.5) / (cases + 1))


def _whole(share: Floats, cases: Floats, off: Floats) -> NDArray[np.bool_]:
    many = share * cases
    return np.asarray(np.abs(many - np.round(many)) <= 1e-6 * np.maximum(many, 1) + 1.001 * off * cases)
