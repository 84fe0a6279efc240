"""What sums take for effects of factors where answers drift, and how far that puts answers off.

    y = x β + D γ + ε,   sums that leave D out are off by  g γ  at an asked combination,  g = x (xᵀx)⁻ xᵀ D

with D a line and a bend along an order of the rows, less their mean: what is asked about is asked at an average time.
γ is known as least squares knows it, γ ~ N(γ̂, V), so that answers are off by (g γ̂)² + g V gᵀ in the mean square.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recombine.checks.as_read import per_cent
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats, Ints
from recombine.space import quoted

DRAWS = 400
HARDLY = 2 / 3
"""Share of a drift that looks like a factor from which one can hardly be told from the other."""


@dataclass(frozen=True, eq=False)
class Drift:
    """A drift that was found."""

    column: str
    """What answers drift over; none: the rows of the table, as they stand."""
    factor: str
    """The factor that it looks most like."""
    alike: float
    """The share of it that does."""
    share: float
    """Of what the factors leave, the share that it explains."""
    p_value: float
    """Times the orders that were tried."""
    to_do: str
    known: Identifiability = field(repr=False)
    taken: Floats = field(repr=False)
    """g of each effect (effects × directions)."""
    common: Floats = field(repr=False)
    """What is the same in all answers."""
    slopes: Floats = field(repr=False)
    """γ̂ of each answer, one or as many as classes (answers × directions)."""
    varies: Floats = field(repr=False)
    """V of each (answers × directions × directions)."""
    spread: Floats = field(repr=False)
    """Covariance of the directions over the rows."""
    sure: Floats = field(repr=False)
    """(xᵀx)⁻, by what rows are worth in the mean."""

    @property
    def over(self) -> str:
        return quoted(self.column) if self.column else "the rows of the table"

    @property
    def words(self) -> str:
        """What it leaves open."""
        goes = f"{per_cent(self.alike)} of which goes with what {self.factor} does"
        hardly = f"which can hardly be told from what {self.factor} does"
        return f"answers drift over {self.over}, {hardly if self.alike >= HARDLY else goes}: {self.to_do}"

    def off(self, codes: Ints) -> Floats:
        """How far an answer is off, in the root mean square, on the scale on which answers add up."""
        g = self._moves(codes)
        square = (g @ self.slopes[0]) ** 2 + ((g @ self.varies[0]) * g).sum(axis=1)
        return np.asarray(np.sqrt(np.maximum(square - self.by_chance(codes), 0.0)))

    def by_chance(self, codes: Ints, answer: int = 0) -> Floats:
        """The mean square by which answers would be off with the rows in random order: errors of combinations that are
        left out hold it."""
        x, slopes = self.known.rows.floats(codes), self.slopes[answer]
        return np.asarray(float(slopes @ self.spread @ slopes) * np.maximum(((x @ self.sure) * x).sum(axis=1), 0.0))

    @property
    def beyond(self) -> float:
        """Standard deviation of the drift over the rows that sums take for effects."""
        return float(np.sqrt(max(float(self.slopes[0] @ self.spread @ self.slopes[0]) * self.alike, 0.0)))

    def drawn(self, codes: Ints) -> Floats:
        """By what answers are off, over and over (cells × answers × draws)."""
        rng, g = np.random.default_rng(0), self._moves(codes)
        found = [
            g @ (mean[:, None] + _root(v) @ rng.standard_normal((len(mean), DRAWS)))
            for mean, v in zip(self.slopes, self.varies, strict=True)
        ]
        return np.stack(found, axis=1)

    def _moves(self, codes: Ints) -> Floats:
        return np.asarray(self.known.rows.floats(codes) @ self.taken + self.common)


def _root(square: Floats) -> Floats:
    sizes, axes = np.linalg.eigh(square)
    return np.asarray(axes * np.sqrt(np.maximum(sizes, 0.0)))
