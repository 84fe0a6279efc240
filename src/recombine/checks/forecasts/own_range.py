"""A number that is asked about beyond the values it was seen with at a level: drug B at dose 10, seen at 1 to 3 only.

    y = sums + Σ_c s_c 1[level c] x + ε,   s_c ~ N(0, τ²)

The answer there takes over the slope of other levels. How far slopes may differ is told by what sums leave along the
directions U of 1[c] x that sums do not have: w = Uᵀ e with w_i ~ N(0, τ² d_i² + σ²). With n of these τ is set by

    Σ w_i² / (τ² d_i² + σ²) = n (z / t_n)²,   z and t_n the 95 % points of a normal and of t,

so that slopes lie within z τ as often as t of so few says. Where slopes that differ so much would move the asked
answers by more than ranges hold, nothing shows that these are right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.effects import EXACT, blocks_of
from recombine.space import FactorSpace, quoted

FAR = 1.5
"""Times half of the width of ranges, in the root mean square, from which slopes of their own would be seen."""
MOST_WORK = 20_000_000
"""Cells × effects × levels up to which this is looked at."""
MOST_NAMED = 3
"""Levels that are named."""
HALVINGS = 60
"""Steps in which the variance of slopes is found, over that of the noise, from a millionth to a million."""


@dataclass(frozen=True, eq=False)
class Slopes:
    """How far levels of one factor may differ in the slope of a number, by all that the seen cells tell."""

    factor: int
    number: int
    rule: Adding = field(repr=False)
    _sums: Floats = field(repr=False)
    """What sums take over of each level's slope (effects × levels)."""
    _mean: Floats = field(repr=False)
    _covariance: Floats = field(repr=False)
    _deviations: float = field(repr=False)

    @classmethod
    def of(cls, rule: Adding, factor: int, number: int) -> Slopes | None:
        """None where the seen cells leave nothing to tell it by."""
        root = 1 / np.sqrt(rule.effects.noise)
        x = root[:, None] * _sums(rule, rule.cells.codes)
        z, y = root[:, None] * _own(rule, factor, number, rule.cells.codes), root * rule.effects.y
        u, sizes, _ = np.linalg.svd(x, full_matrices=False)
        q = u[:, sizes > 1e-9 * sizes[0]]
        left, beyond = y - q @ (q.T @ y), z - q @ (q.T @ z)
        along, d, v = np.linalg.svd(beyond, full_matrices=False)
        told = d > 1e-6 * np.linalg.norm(z)
        along, d, v = along[:, told], d[told], v[told]
        w, freedom = along.T @ left, len(y) - q.shape[1] - len(d)
        rest = float(left @ left - w @ w)
        if not len(d) or freedom < 1 or rest <= EXACT * float(np.square(y - y.mean()).sum()):
            return None
        sigma2 = rest / freedom
        tau2 = _variance(w**2 / sigma2, d**2) * sigma2
        share = tau2 * d**2 / (tau2 * d**2 + sigma2)
        mean = np.zeros(z.shape[1]) if rule.name == "pairs" else v.T @ (share * w / d)  # of pairs an answer has it
        covariance = tau2 * (np.eye(z.shape[1]) - (v.T * share) @ v)
        sums = np.linalg.lstsq(x, z, rcond=1e-9)[0]
        return cls(factor, number, rule, sums, mean, covariance, float(stdtrit(freedom, 0.95)))

    def off(self, codes: Ints) -> Floats:
        """How far they may put the answers of cells off that lie beyond the range of their level, on the rule's scale;
        0 of others."""
        moved = _own(self.rule, self.factor, self.number, codes) - _sums(self.rule, codes) @ self._sums
        varies = np.maximum(((moved @ self._covariance) * moved).sum(axis=1), 0.0)
        far = np.abs(moved @ self._mean) + self._deviations * np.sqrt(varies)
        return np.where(_outside(self.rule, self.factor, self.number, codes), far, 0.0)


@dataclass(frozen=True, eq=False)
class OwnRange:
    """Levels of a factor for which a number is asked about beyond what was seen of it there, where slopes of their own
    would put the answers far off."""

    factor: str
    number: str
    levels: tuple[tuple[str, float, float], ...]
    """Each such level, and the smallest and largest value that it was seen with."""
    asked: int
    off: float
    """By how much, in the answer's units."""
    slopes: Slopes = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        named = [{"level": level, "low": low, "high": high} for level, low, high in self.levels]
        return {"factor": self.factor, "number": self.number, "levels": named, "asked": self.asked, "off": self.off}

    @property
    def which(self) -> str:
        """The levels, with what was seen of the number there."""
        named = [f"{self.factor} {level} ({low:g} to {high:g})" for level, low, high in self.levels[:MOST_NAMED]]
        more = len(self.levels) - len(named)
        return ", ".join([*named, *([f"{more:,} more levels"] if more else [])])


def own_ranges(rule: Adding, asked: Ints, space: FactorSpace) -> tuple[OwnRange, ...]:
    """Pairs of a factor and a number where that is so."""
    found = []
    for factor, number in _pairs(rule):
        there = asked[_outside(rule, factor, number, asked)]
        slopes = Slopes.of(rule, factor, number) if len(there) else None
        if slopes is None:
            continue
        off, (place, sd) = slopes.off(there), rule.effects.predict(there)
        if (off**2).mean() > (FAR * float(ndtri(0.95))) ** 2 * (sd**2).mean():
            back = (rule.scale.back(place + off) - rule.scale.back(place - off)) / 2
            levels = tuple(_named(rule, factor, number, int(c), space) for c in np.unique(there[:, factor]))
            names = space.names[factor], space.names[number]
            found.append(OwnRange(*names, levels, len(there), float(np.sqrt((back**2).mean())), slopes))
    return tuple(found)


def _pairs(rule: Adding) -> Iterator[tuple[int, int]]:
    """Each factor that is no number, and each number, where the rule adds up what they do."""
    cells, sums = rule.cells, rule.name.startswith(("additive", "curved", "pairs"))
    work = len(cells.codes) * cells.width
    for number in cells.curves if sums else ():
        yield from ((k, number) for k, n in enumerate(cells.shape) if k not in cells.curves and work * n <= MOST_WORK)


def _sums(rule: Adding, codes: Ints) -> Floats:
    """Columns of effects that add up."""
    cells = rule.cells
    blocks = blocks_of(cells.codes, cells.shape, 1, cells.curves)
    return np.hstack([np.ones((len(codes), 1)), *(block.columns(codes).toarray() for block in blocks)])


def _own(rule: Adding, factor: int, number: int, codes: Ints) -> Floats:
    """A line for each level."""
    line = rule.cells.curves[number].smooth[0][codes[:, number]]
    return np.eye(rule.cells.shape[factor])[codes[:, factor]] * line


def _outside(rule: Adding, factor: int, number: int, codes: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which cells have a number beyond the values that their level was seen with."""
    seen, levels = rule.cells.codes, rule.cells.shape[factor]
    low, high = np.full(levels, rule.cells.shape[number]), np.full(levels, -1)
    np.minimum.at(low, seen[:, factor], seen[:, number])
    np.maximum.at(high, seen[:, factor], seen[:, number])
    at = codes[:, factor]
    return np.asarray((codes[:, number] < low[at]) | (codes[:, number] > high[at]))


def _named(rule: Adding, factor: int, number: int, level: int, space: FactorSpace) -> tuple[str, float, float]:
    seen = rule.cells.codes[rule.cells.codes[:, factor] == level, number]
    low, high = (float((space.factors[number].levels or ())[int(i)]) for i in (seen.min(), seen.max()))
    return quoted((space.factors[factor].levels or ())[level]), low, high


def _variance(squares: Floats, sizes: Floats) -> float:
    """The variance of slopes, over that of the noise, at which nine in ten lie where t of so few says."""
    few = len(squares)
    least = few * float(ndtri(0.95) / stdtrit(few, 0.95)) ** 2
    low, high = -6.0 - math.log10(float(sizes.max())), 6.0 - math.log10(float(sizes.min()))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if float((squares / (1 + 10**middle * sizes)).sum()) > least else (low, middle)
    return float(10**low)
