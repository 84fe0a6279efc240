"""Numbers as factors: a few columns that say what a number may do, in place of one effect per level.

    linear   x
    spline   x and N_k(x) = d_k(x) − d_{K−1}(x),  d_k(x) = ((x − ξ_k)³₊ − (x − ξ_K)³₊) / (ξ_K − ξ_k)

N_k are the natural cubic splines with knots ξ at seen values (Hastie, Tibshirani & Friedman 2009, §5.2.1). Whether an
answer is determined depends on the functions alone, not on their units, so the columns are also whole numbers: exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.exact.span import SAFE, Integers
from recombine.errors import InputError, unknown
from recombine.space import Codes, FactorSpace, Level

SHAPES = {"linear": "a straight line", "spline": "a smooth curve"}
MOST_KNOTS, MORE_KNOTS = 10, 20
"""Knots of a spline, and of the one that its fit is tested with."""
MOST_WALKED = 40
"""Seen values up to which a curve may jump between them."""
FEWEST_FACTORS, LEAST_SPAN = 4, 8
"""Values above 0 that may be spaced by factors, and times the least of them that the largest is."""
Numeric = str | Sequence[str] | Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Walk:
    """A random walk along a number, whose steps vary as much as the distances they cross."""

    columns: Floats
    """For fitting: levels × as many directions as seen values tell."""
    lacks: Floats
    """Of each level the variance that is left where all seen values are known, over that of an effect."""
    freedom: int
    """Seen values beyond a line, from which its steps are learnt."""


@dataclass(frozen=True, eq=False)
class Curve:
    """What one number may do. Levels are in the order of their values."""

    levels: tuple[Level, ...]
    seen: Ints
    """Codes of the values that training shows, in order."""
    shape: str = "linear"
    most: int = MOST_KNOTS

    @cached_property
    def _whole(self) -> list[int]:
        """The values in units of their largest common part, from the smallest seen one."""
        values = [Fraction(str(v)) for v in self.levels]
        values = [v - values[int(self.seen[0])] for v in values]
        common = math.lcm(*(v.denominator for v in values))
        numbers = [int(v * common) for v in values]
        return [n // (math.gcd(*numbers) or 1) for n in numbers]

    @cached_property
    def unit(self) -> Floats:
        """The values on a scale on which the seen ones go from 0 to 1."""
        top = self._whole[int(self.seen[-1])]
        return np.array([float(Fraction(n, top)) for n in self._whole])

    @cached_property
    def spanning(self) -> Ints:
        """Codes of so few seen values that what is known at them is known everywhere: the ends, or the knots."""
        few = {"linear": 2, "square": 3}
        count = few.get(self.shape) or max(3, min(self.most, -(-3 * len(self.seen) // 4)))
        return self.seen[np.linspace(0, len(self.seen) - 1, count).round().astype(np.int64)]

    @property
    def width(self) -> int:
        return len(self.spanning) - 1

    @cached_property
    def exact(self) -> Integers:
        """Whole numbers, one row per level and one column per effect."""
        x = np.array(self._whole, dtype=object)
        knots = x[self.spanning]
        columns = [x, *(column * (knots[-1] - k) * (knots[-1] - knots[-2]) for k, column in _bends(x, knots))]
        whole = [[int(v) for v in column] for column in columns]
        table = np.array([[v // (math.gcd(*column) or 1) for v in column] for column in whole], dtype=object).T
        return table.astype(np.int64) if np.abs(table).max() < SAFE else table

    @cached_property
    def smooth(self) -> tuple[Floats, ...]:
        """The same functions for fitting: the line, and bends that are likely in so far as they are slight (of all
        curves with the same size of effects the roughest, by ∫ f″², are the least likely)."""
        x, knots = self.unit, self.unit[self.spanning]
        seen = np.stack([np.ones(len(self.seen)), x[self.seen]], axis=1)
        line = (x - x[self.seen].mean()) / x[self.seen].std()
        if self.width == 1:
            return (line[:, None],)
        if self.shape == "square":
            square = line**2 - np.polyval(np.polyfit(line[self.seen], line[self.seen] ** 2, 1), line)
            return line[:, None], (square / square[self.seen].std())[:, None]
        bends = np.stack([column for _, column in _bends(x, knots)], axis=1)
        beside = np.linalg.lstsq(seen, bends[self.seen], rcond=None)[0]
        bends = bends - np.stack([np.ones(len(x)), x], axis=1) @ beside
        bend = np.stack([column for _, column in _bends(knots, knots, 1)], axis=1)  # f″, straight between knots
        left, right, step = bend[:-1], bend[1:], np.diff(knots)[:, None]
        rough = left.T @ (step * (2 * left + right)) + right.T @ (step * (left + 2 * right))
        bends = np.linalg.solve(np.linalg.cholesky(rough), bends.T).T
        return line[:, None], bends / np.sqrt((bends[self.seen] ** 2).sum(axis=1).mean())

    @cached_property
    def walk(self) -> Walk | None:
        """What a spline may do beside its bends, as a random walk does (a piecewise linear smoothing spline); None of a
        line or a square, and of so many values that hardly anything lies between them."""
        if self.shape != "spline" or len(self.seen) > MOST_WALKED:
            return None
        x, seen = self.unit, self.seen
        lines = np.stack([np.ones(len(x)), x], axis=1)
        fitted = lines @ np.linalg.pinv(lines[seen])  # the line through seen values is no part of it
        there = np.minimum.outer(np.abs(x), np.abs(x[seen])) * (np.multiply.outer(x, x[seen]) > 0)
        here = there[seen]
        across = (there - fitted @ here) @ (np.eye(len(seen)) - fitted[seen])
        own = np.abs(x) - 2 * (fitted * there).sum(axis=1) + ((fitted @ here) * fitted).sum(axis=1)
        sizes, axes = np.linalg.eigh(across[seen])
        kept = sizes > 1e-9 * sizes[-1]
        columns = across @ (axes[:, kept] / np.sqrt(sizes[kept]))
        unit = float((columns[seen] ** 2).sum(axis=1).mean())
        lacks = np.maximum(own - (columns**2).sum(axis=1), 0.0) / unit
        lacks[seen] = 0.0
        return Walk(columns / np.sqrt(unit), lacks, len(seen) - 2)

    @property
    def words(self) -> str:
        return SHAPES[self.shape]

    def bent(self, most: int = MOST_KNOTS) -> Curve | None:
        """A spline of these values, where they are enough for one."""
        return Curve(self.levels, self.seen, "spline", most) if len(self.seen) > 2 else None

    @property
    def by_factors(self) -> list[float]:
        """The seen values above 0 where their logarithms are spaced at least twice as evenly as they are; else none."""
        values = [float(Fraction(str(self.levels[i]))) for i in self.seen]
        above = [v for v in values if v > 0]
        if min(values) < 0 or len(above) < FEWEST_FACTORS or above[-1] < LEAST_SPAN * above[0]:
            return []
        plain, logs = (steps.std() / steps.mean() for steps in (np.diff(above), np.diff(np.log(above))))
        return above if logs < plain / 2 else []

    def squared(self) -> Curve:
        """The line and its square, for a second-order surface; only fitted, never asked what it determines."""
        return Curve(self.levels, self.seen, "square")

    def more(self, codes: Ints) -> Floats | None:
        """What contradicts the shape where the answers follow it: one effect per value, or where few cells share a
        value, a curve with more knots."""
        seen, place = np.unique(codes, return_inverse=True)
        if 2 * len(seen) <= len(codes):
            return np.eye(len(seen))[place]
        curve = self.bent(MORE_KNOTS)
        return None if curve is None else np.hstack(curve.smooth)[codes]


def _bends(x: Any, knots: Any, power: int = 3) -> list[tuple[Any, Any]]:
    """Each knot but the last two, and N of it at x (``power`` 1: a sixth of its second derivative)."""

    def truncated(knot: Any) -> Any:
        return np.maximum(x - knot, 0) ** power

    def d(knot: Any) -> Any:
        part = truncated(knot) - truncated(knots[-1])
        if x.dtype != object:
            return part / (knots[-1] - knot)
        return np.array([Fraction(v, knots[-1] - knot) for v in part], dtype=object)

    return [(k, d(k) - d(knots[-2])) for k in knots[:-2]]


def shapes(numeric: Numeric, factors: Sequence[str]) -> dict[str, str]:
    """The shape of each number: a list of names stands for straight lines."""
    found = (
        dict(numeric) if isinstance(numeric, Mapping)
        else dict.fromkeys([numeric] if isinstance(numeric, str) else numeric, "linear")
    )  # fmt: skip
    for name, shape in found.items():
        if name not in factors:
            raise unknown("numeric factor", name, factors)
        if shape in ("line", "straight"):
            raise InputError(f"{name}={shape}: a straight line is the default; write {name}.")
        if shape not in SHAPES:
            raise unknown(f"shape of {name!r}", shape, tuple(SHAPES))
    return found


def curves_of(space: FactorSpace, codes: Codes, numeric: Mapping[str, str]) -> dict[int, Curve]:
    """The curve of each factor that is a number, by its place."""
    found = {}
    for name, shape in numeric.items():
        k = space.position(name)
        seen = np.unique(codes[:, k]).astype(np.int64)
        needs = 3 if shape == "spline" else 2
        if len(seen) < needs:
            only = f"the single value {space[name].levels[int(seen[0])]}" if len(seen) == 1 else "two values"  # type: ignore[index]
            what = "what it does" if len(seen) == 1 else "how it bends; take it as linear"
            raise InputError(f"training shows {name!r} with {only}, which cannot tell {what}.")
        found[k] = Curve(space.factors[k].levels or (), seen, shape)
    return found
