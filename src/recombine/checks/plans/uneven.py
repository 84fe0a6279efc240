"""Noise that grows or falls with the answer, and what it makes of the errors of a plan.

    sd of a row = σ (1 + (r − 1) t),   t from 0 at the lowest fitted answer that was seen to 1 at the highest

r, how many times as far rows scatter at the highest answers as at the lowest, is hardly told by few rows. So a variance
is its mean over how likely each r is by what least squares leave and by repeated rows (restricted likelihood; r even on
a log scale beforehand). In units of the one noise σ² of all rows, which the plan is told by, these are v; then

    var of an answer = xᵀ M⁻¹ (Σ v x xᵀ) M⁻¹ x,   M = Σ x xᵀ over rows

where least squares take all rows for alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.plans.optimal import Choice
from recombine.checks.rules.effects import EXACT
from recombine.space import Codes
from recombine.support.table import Target

RATIOS = np.exp(np.linspace(-np.log(16), np.log(16), 17))
"""Values of r that are tried."""
EVEN = np.where(np.median(RATIOS) == RATIOS, 6.0, 1.0)
"""How likely each is beforehand, up to a factor: r = 1 is one in four."""
SURE = 0.8
"""How likely a variance is no larger."""


@dataclass(frozen=True, eq=False)
class Uneven:
    """The variance of a row along the answer."""

    known: Identifiability
    beta: Floats
    """Effects by least squares on the seen rows."""
    low: float
    high: float
    """The lowest and highest fitted answer."""
    likely: Floats
    """How likely each r is."""
    sizes: Floats
    """Its σ² over that of all rows."""

    @classmethod
    def of(cls, known: Identifiability, target: Target) -> Uneven | None:
        """None where nothing is left to tell it by, or all answers are alike."""
        use = target.count > 0
        x, count = known.rows.floats(known.codes[use]), target.count[use].astype(np.float64)
        mean, spread = target.mean[use], target.spread[use]
        inverse = np.linalg.pinv((x.T * count) @ x, rcond=1e-9, hermitian=True)
        beta = np.asarray(inverse @ (x.T @ (count * mean)))
        fit, free = x @ beta, count - count * ((x @ inverse) * x).sum(axis=1)
        squares, low, high = count * (mean - fit) ** 2 + spread, float(fit.min()), float(fit.max())
        if high - low <= EXACT * max(abs(low), abs(high)) or squares.sum() <= EXACT * float((count * mean**2).sum()):
            return None
        v = _variances((fit - low) / (high - low))
        sums, freedom = (squares / v).sum(axis=1), float(free.sum())
        told = -(freedom * np.log(sums) + np.log(v) @ free) / 2
        share = EVEN * np.exp(told - told.max())
        return cls(known, beta, low, high, share / share.sum(), sums / float(squares.sum()))

    def of_rows(self, codes: Codes) -> Floats:
        """v of a row of each combination; where its answer is not known the larger of those at both ends."""
        fit = self.known.rows.floats(codes) @ self.beta
        place = np.where(self.known.rows.contains(codes), (fit - self.low) / (self.high - self.low), self._worse)
        return self._at_most(place)

    def _at_most(self, place: Floats) -> Floats:
        """The variance that is not exceeded in `SURE` of all that is likely, at each place."""
        v = self.sizes[:, None] * _variances(place)
        order = np.argsort(v, axis=0)
        below = np.cumsum(self.likely[order], axis=0) >= SURE
        return np.asarray(np.take_along_axis(v, order, axis=0)[below.argmax(axis=0), np.arange(len(place))])

    def ends(self, noise: float = 1.0) -> tuple[float, float]:
        """Standard deviations of a row at the lowest and at the highest answer, by that of all rows."""
        low, high = (noise * np.sqrt(self._at_most(np.array([0.0, 1.0])))).tolist()
        return low, high

    @property
    def _worse(self) -> float:
        return float(np.argmax(self.ends()))


@dataclass(frozen=True, eq=False)
class Scattered:
    """What the rows of a plan give where they scatter unlike."""

    before: Floats
    noisy: Floats
    """Σ v x xᵀ over the rows of training."""
    told: Floats
    """Σ x xᵀ / v over them."""
    pool: Floats
    of_pool: Floats
    """v of each row that can be chosen."""
    asked: Floats

    @property
    def weighted(self) -> tuple[Floats, Floats]:
        """Information of training and rows of the pool where each counts by its noise, than which no fit does more."""
        return self.told, self.pool / np.sqrt(self.of_pool)[:, None]

    def judged(self, chosen: Choice) -> Choice:
        """With the variances of least squares on these rows."""
        if not np.isfinite(chosen.worst):
            return chosen
        x, v = self.pool[chosen.rows], self.of_pool[chosen.rows]
        moved = self.asked @ np.linalg.pinv(self.before + x.T @ x, rcond=1e-9, hermitian=True)
        found = ((moved @ (self.noisy + (x.T * v) @ x)) * moved).sum(axis=1)
        return replace(chosen, mean=max(float(found.mean()), chosen.mean), worst=max(float(found.max()), chosen.worst))


def _variances(place: Floats) -> Floats:
    """At each place t of the rows of each r, up to σ²."""
    grown = 1 + (RATIOS[:, None] - 1) * np.maximum(place, 0.0)
    return np.asarray(np.maximum(grown, np.minimum(RATIOS, 1.0)[:, None]) ** 2)
