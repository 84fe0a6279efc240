"""An error in the answer's units, brought to the scale on which effects add up.

With m(z) the mean of very many rows at z on the scale, an error E allows the standard error s there for which

    |m(z ± s) − m(z)| ≤ E    for every z from z₀ − t s₀ to z₀ + t s₀

where z₀ is by least squares on the seen rows, s₀ its standard error and t the quantile that 95 % stay below. On a log
scale that is s = log(1 + E / m), m at z₀ + t s₀: the larger an answer may be, the better its logarithm has to be known.
On log-odds the middle asks for most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.rules.scales import Scale
from recombine.space import Codes
from recombine.support.table import Target

FURTHEST = 50.0
"""On a scale: further out nothing is told apart, and larger standard errors are as good as none asked for."""
HALVINGS = 40
SURE = 0.95
CHUNK = 20_000


@dataclass(frozen=True, eq=False)
class Translated:
    """What a step on a scale is in the answer's units, where an error in these is to be reached."""

    known: Identifiability
    target: Target
    """The seen answers on the scale."""
    scale: Scale
    noise: float
    """Of one row, on the scale."""
    freedom: float | None
    """Degrees of freedom that it was estimated with; None where it was given."""
    error: float

    def sizes(self, codes: Codes) -> Floats:
        """The error over the standard error that it allows at each combination; infinite where it allows none."""
        steepest = self.scale.steepest
        if steepest is None:
            return np.full(len(codes), np.inf)
        low, high = self._between(codes)
        none = (high == np.inf) & (steepest == np.inf)
        low, high = np.clip(low, -FURTHEST, FURTHEST), np.clip(high, -FURTHEST, FURTHEST)
        least, most = np.zeros(len(codes)), np.full(len(codes), FURTHEST)
        for _ in range(HALVINGS):
            s = (least + most) / 2
            up, down = np.clip(steepest - s / 2, low, high), np.clip(steepest + s / 2, low, high)
            moved = np.maximum(self._mean(up + s) - self._mean(up), self._mean(down) - self._mean(down - s))
            least, most = np.where(moved <= self.error, s, least), np.where(moved <= self.error, most, s)
        return np.where(none | (least == 0), np.inf, self.error / np.maximum(least, 1e-300))

    def _mean(self, place: Floats) -> Floats:
        return self.scale.mean(place, self.noise)

    def _between(self, codes: Codes) -> tuple[Floats, Floats]:
        """Between which places on the scale each combination lies; without end where the seen rows do not tell."""
        inverse, beta = self._fit()
        told = self.known.rows.contains(codes)
        x = self.known.rows.floats(codes[told])
        t = float(ndtri(SURE) if self.freedom is None else stdtrit(self.freedom, SURE))
        place, about = x @ beta, t * self.noise * np.sqrt(np.maximum(((x @ inverse) * x).sum(axis=1), 0.0))
        low, high = np.full(len(codes), -np.inf), np.full(len(codes), np.inf)
        low[told], high[told] = place - about, place + about
        return low, high

    def _fit(self) -> tuple[Floats, Floats]:
        """Least squares on the seen rows: the variances of effects in units of the noise's, and the effects."""
        use = np.flatnonzero(self.target.count > 0)
        size = self.known.rows.floats(self.known.codes[:1]).shape[1]
        information, sums = np.zeros((size, size)), np.zeros(size)
        for start in range(0, len(use), CHUNK):
            some = use[start : start + CHUNK]
            x, count = self.known.rows.floats(self.known.codes[some]), self.target.count[some]
            information += (x.T * count) @ x
            sums += x.T @ (count * self.target.mean[some])
        inverse = np.asarray(np.linalg.pinv(information, rcond=1e-9, hermitian=True), dtype=np.float64)
        return inverse, inverse @ sums
