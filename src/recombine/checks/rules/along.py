"""Noise that grows or falls with the answer.

    sd of a row = σ (1 + (r − 1) t),   t from 0 at the lowest fitted answer to 1 at the highest

r, how many times as far rows scatter at the highest answers as at the lowest, is hardly told by few rows. So what hangs
on it is asked of every r, each as likely as sums of squares at fitted answers make it (restricted likelihood; r even on
a log scale beforehand, but for one noise for all, which is one in four).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.checks.exact.modular import Floats
from recombine.checks.rules.effects import EXACT

RATIOS = np.exp(np.linspace(-np.log(16), np.log(16), 17))
"""Values of r that are tried."""
EVEN = np.where(np.median(RATIOS) == RATIOS, 6.0, 1.0)
"""How likely each is beforehand, up to a factor."""


@dataclass(frozen=True, eq=False)
class Along:
    """How likely each r is, and what variances are with it."""

    low: float
    high: float
    """The lowest and highest fitted answer."""
    likely: Floats
    """Of each r."""
    sizes: Floats
    """Its σ² over the variance of all rows."""

    @classmethod
    def of(cls, fit: Floats, squares: Floats, freedom: Floats) -> Along | None:
        """By sums of squares at fitted answers, and their degrees of freedom; None where answers are alike, or nothing
        scatters."""
        low, high, total = float(fit.min()), float(fit.max()), float(squares.sum())
        if high - low <= EXACT * max(abs(low), abs(high)) or total <= 0:
            return None
        place, told, sizes = (fit - low) / (high - low), np.zeros(len(RATIOS)), np.zeros(len(RATIOS))
        for i, ratio in enumerate(RATIOS):
            v = _grown(ratio, place)
            sizes[i] = (squares / v).sum() / total
            told[i] = -(float(freedom.sum()) * np.log(sizes[i]) + np.log(v) @ freedom) / 2
        share = EVEN * np.exp(told - told.max())
        return cls(low, high, share / share.sum(), sizes)

    def place(self, fit: Floats) -> Floats:
        """Where answers lie between the lowest, 0, and the highest, 1."""
        return np.asarray((fit - self.low) / (self.high - self.low))

    def variance(self, i: int, place: Floats) -> Floats:
        """Of a row with the i-th r, over that of all rows."""
        return np.asarray(self.sizes[i] * _grown(RATIOS[i], place))


def _grown(ratio: float, place: Floats) -> Floats:
    """The variance at each place, up to σ²; no smaller than within the seen answers."""
    return np.asarray(np.maximum(1 + (ratio - 1) * np.maximum(place, 0.0), min(ratio, 1.0)) ** 2)
