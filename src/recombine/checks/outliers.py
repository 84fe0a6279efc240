"""Answers so far from all others that somebody should look: one slip of the decimal point ruins everything.

The farthest answer is taken out, again and again (Rosner's generalised test, which sees two slips that hide each
other), and its distance from the mean of the rest compared with Student's t, times the number of answers. It must also
lie many median distances off. Both must hold for logarithms too (where some answers are not above zero: for their
arcsinh, in units of the median size), so that a skewed or multiplicative table has none.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr

from recombine.checks.modular import Floats
from recombine.support.table import Target

LEVEL = 0.01
FAR = 6.0
"""Standard deviations, by the median distance from the median, that an outlier is off."""
FEWEST, MOST = 8, 5
"""Answers below which none stands apart; answers that are taken out, at most a tenth of all."""


def outliers(target: Target | None) -> list[int]:
    """Training combinations whose answer stands apart from all others, the farthest first."""
    if target is None or target.classes is not None:
        return []
    use = np.flatnonzero(target.count > 0)
    y = target.mean[use]
    if len(y) < FEWEST:
        return []
    also = _apart(np.log(y) if y.min() > 0 else np.arcsinh(y / (float(np.median(np.abs(y))) or 1.0)))
    return [int(use[i]) for i in _apart(y) if i in also]


def _apart(y: Floats) -> list[int]:
    left, taken, last = np.arange(len(y)), list[int](), 0
    off = np.abs(y - np.median(y))
    far = off > FAR * 1.4826 * max(float(np.median(off)), 1e-9 * float(np.abs(y).max()))
    for step in range(1, min(MOST, max(1, len(y) // 10)) + 1):
        freedom, distance = len(left) - 2, y[left] - y[left].mean()
        worst = int(np.abs(distance).argmax())
        own = distance[worst] ** 2 * len(left) / (len(left) - 1)
        t = np.sqrt(own * freedom / max(float(distance @ distance) - own, 1e-300))
        taken.append(int(left[worst]))
        last = step if 2 * stdtr(freedom, -t) * len(left) < LEVEL else last
        left = np.delete(left, worst)
    return [i for i in taken[:last] if far[i]]
