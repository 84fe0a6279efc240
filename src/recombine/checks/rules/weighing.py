"""What a row that stands for w cases is worth: its noise is part of its variance, not all of it.

    u = s + (1 − s) / w,   answers = rule + σ √u ε,   0 ≤ s ≤ 1

(1 − s) / w is the noise of so many cases; s is how far rows are off the rule whatever they stand for, as in a
random-effects meta-analysis (DerSimonian and Laird 1986). With s = 0 a row over 20 000 cases would count as a thousand
over 20, and where the rule itself errs, or cases of a row go together, a few such rows would decide everything and none
of their errors be expected. s is the one under which what the rule leaves is likeliest (restricted maximum likelihood):

    −2 log L = (Σ a + f) log σ² + Σ a log u + f log (1 − s),   σ² = (Σ left² / u + S / (1 − s)) / (Σ a + f)

with a of each row what the fit leaves free of it (1 − its leverage), and S the sum of squares of repeated rows around
the mean of their combination, with f degrees of freedom: these scatter by the noise of their cases alone. Weights that
say nothing of the noise make s near 1, and rows count nearly alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import orth

from recombine.checks.exact.modular import Floats, Ints
from recombine.support.answers import Target

SHARES = np.concatenate([np.logspace(-5, np.log10(0.9), 61), [0.95, 1.0]])
"""Values of s that are tried; the smallest lets no row count for more than 100,000 typical ones."""
ROUNDS, FEWER, LARGE = 12, 4, 300_000
"""Fits until s has settled, at most, and of matrices of so many numbers."""
NEAR = 0.05
"""How little s changes, as a share of itself, once it has settled."""


@dataclass(frozen=True, eq=False)
class AskedWeights:
    """What asked combinations weigh, where that is told."""

    codes: Ints
    weight: Floats

    def of(self, codes: Ints) -> Floats:
        """Of each of these, NaN where it is not told."""
        return np.array([self._told.get(row.tobytes(), np.nan) for row in _rows(codes)], dtype=np.float64)

    @cached_property
    def _told(self) -> dict[bytes, float]:
        return {row.tobytes(): w for row, w in zip(_rows(self.codes), self.weight.tolist(), strict=True)}


def _rows(codes: Ints) -> Ints:
    return np.ascontiguousarray(codes, dtype=np.int64)


def variance(share: float, weight: Floats) -> Floats:
    """u."""
    return share + (1 - share) / weight


def likeliest(left: Floats, free: Floats, weight: Floats, pure: float = 0.0, spare: float = 0.0) -> float:
    """s, by what a fit leaves of each row, what it leaves free of it, and the sum of squares of repeated rows around
    their means with its degrees of freedom."""
    freedom, squares = float(free.sum()) + spare, left**2

    def loss(share: float) -> float:
        u, own, off = variance(share, weight), 0.0, 0.0
        if spare > 0:
            own, off = pure / (1 - share), spare * float(np.log(1 - share))
        whole = float((squares / u).sum()) + own
        return freedom * float(np.log(max(whole, 1e-300))) + float(np.log(u) @ free) + off

    return min((float(s) for s in SHARES if s < 1 or spare <= 0), key=loss)


def settled(look: Callable[[float], float], rounds: int) -> float:
    """The s that a fit by it finds again."""
    share = 0.5
    for _ in range(rounds):
        before, share = share, look(share)
        if abs(share - before) <= NEAR * before:
            break
    return share


def worth(x: Floats, y: Floats, weight: Floats, pure: float = 0.0, spare: float = 0.0) -> Floats:
    """How many rows of typical noise each answer is worth where x is fitted by least squares: (1 − s) / u beside
    repeated rows, whose noise is then the unit, else so that the mean of u is 1."""

    def look(share: float) -> float:
        root = 1 / np.sqrt(variance(share, weight))
        basis = orth(x * root[:, None])
        left = y - basis @ (basis.T @ (root * y)) / root
        return likeliest(left, 1 - (basis**2).sum(axis=1), weight, pure, spare)

    share = settled(look, ROUNDS if x.size <= LARGE else FEWER)
    u = variance(share, weight)
    return np.asarray((1 - share if spare > 0 else u.mean()) / u)


def worth_in(x: Floats, target: Target, y: Floats | None = None) -> Floats:
    """The same of the combinations of a table, all of which have answers; so many rows where none is weighed. ``y``:
    the answers on another scale."""
    if target.weights is None:
        return target.weight
    spare, pure = float(target.count.sum()) - len(target.count), float(target.spread.sum())
    repeated = (pure, spare) if y is None and pure > 0 else (0.0, 0.0)
    return worth(x, target.mean if y is None else y, target.weights, *repeated)
