"""Levels whose rows scatter more than the others': their means should count less, and only their ranges be wider.

Told by rows of one combination alone, so that no misfit of a rule passes for noise. With v the variance of the f + 1
rows of a combination

    y = ∛v / E ∛(χ² / f),   var y ≈ φ / w,   w = (E ∛(χ² / f))² / var ∛(χ² / f)

is nearly normal (Wilson and Hilferty 1931). The mean y of a level is held against that of all others by t, φ from the
combinations within levels (Levene 1960: long tails, which make all variances uncertain, make φ large), times the number
of levels of all factors. (With var y ≈ φ y² / w more noisy levels were found on planted tables, but twice as many of
equal noise with long tails.) Without its noisiest combination a level has to stand out too: one slip is no noisy level.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit

from recombine.checks.exact.modular import Floats, Ints

CHANCE, WITHOUT_ONE = 0.01, 0.05
"""p-values below which a level is noisier, and below which it is without its noisiest combination."""
WORTH = 1.5
"""Times the error elsewhere that is worth saying."""
LEAST_FREEDOM = 3
"""Combinations with several rows beyond the levels of a factor."""


@dataclass(frozen=True)
class RowNoise:
    """The variance of one row around the mean of its combination, and the degrees of freedom that tell it."""

    variance: float
    freedom: float
    own: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)
    """The same of levels (place of the factor, code) that are noisier than the others."""

    def of(self, codes: Ints) -> tuple[Floats, Floats]:
        """Of each combination."""
        variance, freedom = np.full(len(codes), self.variance), np.full(len(codes), self.freedom)
        for (k, level), (more, told) in self.own.items():
            here = codes[:, k] == level
            variance[here], freedom[here] = more, told
        return variance, freedom

    def times(self, place: tuple[int, int]) -> float:
        """How many times as far the rows of a level scatter as others."""
        return float(np.sqrt(self.own[place][0] / self.variance))


def row_noise(codes: Ints, rows: Floats | Ints, spread: Floats, curves: Container[int] = ()) -> RowNoise | None:
    """By combinations, how many rows each has, and their sum of squares around its mean; None without repeated rows.
    Levels of one factor at most have a noise of their own, and none of the factors that are numbers (``curves``)."""
    told = rows > 1
    codes, spread, freedom = codes[told], spread[told], rows[told] - 1.0
    if not len(codes):
        return None
    alike = RowNoise(float(spread.sum() / freedom.sum()), float(freedom.sum()))
    if alike.variance <= 0:
        return alike
    mean, square = (
        np.exp(gammaln(freedom / 2 + power / 3) - gammaln(freedom / 2)) * (2 / freedom) ** (power / 3)
        for power in (1, 2)
    )
    y, weight = np.cbrt(spread / freedom / alike.variance) / mean, mean**2 / (square - mean**2)
    factors = [_Factor(level, y, weight) for k, level in enumerate(codes.T) if k not in curves]
    places = [k for k in range(codes.shape[1]) if k not in curves]
    tried = sum(len(factor.levels) for factor in factors)
    chances = [factor.chance(tried) for factor in factors]
    if not chances or min(chances) >= CHANCE:
        return alike
    best = int(np.argmin(chances))
    k, own = places[best], dict[tuple[int, int], tuple[float, float]]()
    for level in factors[best].noisier():
        here = codes[:, k] == level
        own[k, level] = float(spread[here].sum() / freedom[here].sum()), float(freedom[here].sum())
    others = ~np.isin(codes[:, k], [level for _, level in own])
    if not own or spread[others].sum() <= 0:
        return alike
    variance = float(spread[others].sum() / freedom[others].sum())
    own = {place: told for place, told in own.items() if told[0] > WORTH**2 * variance}
    return RowNoise(variance, float(freedom[others].sum()), own)


class _Factor:
    """The levels of one factor, by what the rows of their combinations scatter."""

    def __init__(self, level: Ints, y: Floats, weight: Floats) -> None:
        self.levels, at = np.unique(level, return_inverse=True)
        sums = (np.bincount(at, w).astype(np.float64) for w in (np.ones(len(y)), weight, weight * y))
        self.cells, self.weight, total = sums
        self.mean = total / self.weight
        order = np.lexsort((y, at))
        top = order[np.cumsum(self.cells).astype(np.int64) - 1]
        self.rest: Floats = np.where(self.cells > 1, self.weight - weight[top], 0.0)
        """Weight without the noisiest combination, and the mean of what is left."""
        self.mean_rest = np.where(self.cells > 1, total - weight[top] * y[top], 0.0) / np.maximum(self.rest, 1e-300)
        self.freedom = len(y) - len(self.levels)
        self.left = float(weight @ (y - self.mean[at]) ** 2) / max(self.freedom, 1)

    def _beyond(self, mean: Floats, weight: Floats, than: Floats, by: Floats) -> Floats:
        """Standard errors by which levels are above others; their variance is at least that of normal rows."""
        unit = np.sqrt(np.maximum(self.left, than**2) * (1 / np.maximum(weight, 1e-300) + 1 / np.maximum(by, 1e-300)))
        return np.asarray((mean - than) / unit)

    def chance(self, tried: int) -> float:
        """p-value of the level that stands out most, times the levels ``tried``."""
        if self.freedom < LEAST_FREEDOM or len(self.levels) < 2:
            return 1.0
        by = self.weight.sum() - self.weight
        than = (self.weight @ self.mean - self.weight * self.mean) / by
        each = stdtr(self.freedom, -self._beyond(self.mean, self.weight, than, by)) * tried
        without = stdtr(self.freedom, -self._beyond(self.mean_rest, self.rest, than, by))
        return float(np.where(without < WITHOUT_ONE, each, 1.0).min())

    def noisier(self) -> list[int]:
        """Levels that are above those that are not, which half of all are at least."""
        order, found = np.argsort(self.mean), list[int]()
        calm = list(order[: (len(order) + 1) // 2])
        for i in order[len(calm) :]:
            by = self.weight[calm].sum()
            than = self.weight[calm] @ self.mean[calm] / by
            each, without = (
                float(self._beyond(mean[i], weight[i], than, by))
                for mean, weight in ((self.mean, self.weight), (self.mean_rest, self.rest))
            )
            most = stdtrit(self.freedom, 1 - np.array([CHANCE, WITHOUT_ONE]))
            if each > most[0] and without > most[1]:
                found.append(int(self.levels[i]))
            else:
                calm.append(i)
        return found
