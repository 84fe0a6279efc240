"""Regions whose points are made from uniform numbers, without rejection: thin sets, other densities, any device.

A plane through a cube has no volume, so drawing from the cube and keeping what falls on it never ends. A placed region
says instead how numbers u ∈ [0, 1) become a point. The same lines work on numpy arrays and on tensors (``xp`` is the
module of either), so a point is a function of its numbers wherever it is made.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recombine.errors import InputError, unknown
from recombine.space import Factor, FactorSpace, Points
from recombine.support.rules import Rule
from recombine.support.support import Region

SLACK = 1e-6
"""A coordinate this near to a fixed one counts as on it: points may have been rounded to float32."""

MARGIN = 0.05
"""How far from a support its strict complement begins unless said otherwise, in units of the factors."""

Law = Mapping[str, Any]


class Placed(Region):
    """A region with a map from uniform numbers to its points."""

    numbers: int
    """How many uniform numbers a point is made of."""

    def place(self, units: Any, xp: Any = np) -> Any:
        """Points (… × factors) from numbers (… × numbers) in [0, 1); ``xp`` is numpy or torch."""
        raise TypeError(f"{type(self).__name__} has no map")

    def sample(self, count: int, seed: int) -> Points:
        units = np.random.default_rng(seed).random((count, self.numbers))
        return np.asarray(self.place(units))

    def outside(self, margin: float = MARGIN) -> Region:
        """The strictly-out-of-distribution complement: what is farther than ``margin`` from this support."""
        raise TypeError(f"{type(self).__name__} has no complement")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Placed) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return super().__hash__()


class Mixture(Placed):
    """Parts with weights; in a part every factor has a law of its own, independent of the others:

    {"at": 0.5}                      always this value
    {"uniform": [[0, 0.1], [0.4, 1]]}  uniform over intervals
    {"normal": [0.5, 1.0]}           normal with this mean and deviation, cut to the range of the factor

    A factor that is not named is uniform over its range."""

    def __init__(self, space: FactorSpace, parts: Sequence[tuple[float, Mapping[str, Law]]]) -> None:
        if not parts or any(not weight > 0 or not math.isfinite(weight) for weight, _ in parts):
            raise InputError("a mixture has at least one part, each with a weight above zero.")
        for factor in space.factors:
            if factor.categorical:
                raise InputError(f"factor {factor.name!r} is categorical; a mixture is over continuous factors.")
        for _, laws in parts:
            for name, law in laws.items():
                _check(space[name], law)
        total = math.fsum(weight for weight, _ in parts)
        self.parts = tuple((weight / total, dict(laws)) for weight, laws in parts)
        self.numbers = 1 + len(space)
        self.space = space
        super().__init__(space, self._rule(SLACK))

    def place(self, units: Any, xp: Any = np) -> Any:
        ends = np.cumsum([weight for weight, _ in self.parts])[:-1]
        part = sum(((units[..., 0] >= float(end)) * 1 for end in ends), start=xp.zeros_like(units[..., 0]))
        columns = []
        for column, factor in enumerate(self.space.factors):
            unit = units[..., column + 1]
            laws = [laws.get(factor.name, _whole(factor)) for _, laws in self.parts]
            values = _draw(laws[0], factor, unit, xp)
            for i, law in enumerate(laws[1:], start=1):
                if law != laws[0]:
                    values = xp.where(part == i, _draw(law, factor, unit, xp), values)
            columns.append(values)
        return xp.stack(columns, -1)

    def outside(self, margin: float = MARGIN) -> Region:
        if any(not _constraints(self.space, laws, 0.0) for _, laws in self.parts):
            raise InputError("this support is the whole space: nothing is outside it.")
        return Region(self.space, {"not": self._rule(margin)})

    def _rule(self, slack: float) -> Rule:
        return {"any": [{"all": _constraints(self.space, laws, slack) or [{"box": {}}]} for _, laws in self.parts]}

    def to_dict(self) -> dict[str, Any]:
        return {"space": self.space.to_dict(), "mixture": [[weight, laws] for weight, laws in self.parts]}

    def __repr__(self) -> str:
        return f"a mixture of {len(self.parts)} parts of {' × '.join(self.space.names)}"


def _whole(factor: Factor) -> Law:
    return {"uniform": [[factor.low, factor.high]]}


def _check(factor: Factor, law: Law) -> None:
    if len(law) != 1 or next(iter(law)) not in ("at", "uniform", "normal"):
        raise unknown(f"law of factor {factor.name!r}", ", ".join(law), ("at", "uniform", "normal"))
    low, high = _range(factor)
    if "normal" in law:
        if not law["normal"][1] > 0:
            raise InputError(f"the normal law of factor {factor.name!r} needs a deviation above zero.")
        return
    pieces = [[law["at"], law["at"]]] if "at" in law else law["uniform"]
    for start, stop in pieces:
        if not low <= start <= stop <= high or ("uniform" in law and start == stop):
            raise InputError(f"factor {factor.name!r} goes from {low} to {high}; {start} … {stop} is no part of it.")
    if not pieces or any(a[1] > b[0] for a, b in itertools.pairwise(pieces)):
        raise InputError(f"the intervals of factor {factor.name!r} must be in order and must not overlap.")


def _range(factor: Factor) -> tuple[float, float]:
    assert factor.low is not None
    assert factor.high is not None
    return factor.low, factor.high


def _draw(law: Law, factor: Factor, unit: Any, xp: Any) -> Any:
    """The quantile function of a law."""
    low, high = _range(factor)
    if "at" in law:
        return xp.full_like(unit, law["at"])
    if "normal" in law:
        mean, deviation = law["normal"]
        first, last = (0.5 + math.erf((end - mean) / deviation / math.sqrt(2)) / 2 for end in (low, high))
        return xp.clip(mean + deviation * normal_quantile(first + (last - first) * unit, xp), low, high)
    pieces = law["uniform"]
    along = unit * math.fsum(stop - start for start, stop in pieces)
    values, passed = along + pieces[0][0], 0.0
    for (start, stop), (following, _) in itertools.pairwise(pieces):
        passed += stop - start
        values = xp.where(along >= passed, along - passed + following, values)
    return xp.clip(values, low, high)


def normal_quantile(share: Any, xp: Any) -> Any:
    """The value below which a share of the standard normal distribution lies."""
    if xp is not np:
        return xp.special.ndtri(share)
    from scipy.special import ndtri

    return ndtri(share)


def _constraints(space: FactorSpace, laws: Mapping[str, Law], slack: float) -> list[Rule]:
    """What a part demands, as rules; an empty list where it demands nothing."""
    rules: list[Rule] = []
    for name, law in laws.items():
        pieces = [[law["at"], law["at"]]] if "at" in law else law.get("uniform", [])
        if not pieces or pieces == [list(_range(space[name]))]:
            continue
        rules.append({"any": [{"box": {name: [start - slack, stop + slack]}} for start, stop in pieces]})
    return rules


__all__ = ["MARGIN", "Mixture", "Placed"]
