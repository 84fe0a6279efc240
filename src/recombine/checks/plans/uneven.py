"""What noise that goes along the answer (`along`) makes of the errors of a plan.

Told by what least squares leave and by repeated rows. In units of the one noise σ² of all rows, which the plan is told
by, variances of rows are v; then

    var of an answer = xᵀ M⁻¹ (Σ v x xᵀ) M⁻¹ x,   M = Σ x xᵀ over rows

where least squares take all rows for alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.plans.optimal import Choice
from recombine.checks.rules.along import Along
from recombine.checks.rules.effects import EXACT
from recombine.space import Codes
from recombine.support.table import Target

SURE = 0.8
"""How likely a variance is no larger."""


@dataclass(frozen=True, eq=False)
class Uneven:
    """The variance of a row along the answer."""

    known: Identifiability
    beta: Floats
    """Effects by least squares on the seen rows."""
    along: Along

    @classmethod
    def of(cls, known: Identifiability, target: Target) -> Uneven | None:
        """None where nothing is left to tell it by, or all answers are alike."""
        use = target.count > 0
        x, count = known.rows.floats(known.codes[use]), target.count[use].astype(np.float64)
        mean, spread = target.mean[use], target.spread[use]
        inverse = np.linalg.pinv((x.T * count) @ x, rcond=1e-9, hermitian=True)
        beta = np.asarray(inverse @ (x.T @ (count * mean)))
        fit, free = x @ beta, count - count * ((x @ inverse) * x).sum(axis=1)
        squares = count * (mean - fit) ** 2 + spread
        if squares.sum() <= EXACT * float((count * mean**2).sum()):
            return None
        along = Along.of(fit, squares, free)
        return None if along is None else cls(known, beta, along)

    def of_rows(self, codes: Codes) -> Floats:
        """v of a row of each combination; where its answer is not known the larger of those at both ends."""
        fit = self.known.rows.floats(codes) @ self.beta
        place = np.where(self.known.rows.contains(codes), self.along.place(fit), self._worse)
        return self._at_most(place)

    def _at_most(self, place: Floats) -> Floats:
        """The variance that is not exceeded in `SURE` of all that is likely, at each place."""
        v = np.stack([self.along.variance(i, place) for i in range(len(self.along.likely))])
        order = np.argsort(v, axis=0)
        below = np.cumsum(self.along.likely[order], axis=0) >= SURE
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
