"""Planes and bands through the cube of K components (Wiedemer et al. 2023): what training sees of their combinations.

On a plane one component varies freely and the others are fixed; in a band all components stay near each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.space import FactorSpace
from recombine.support.placed import MARGIN, SLACK, Law, Mixture, Placed, normal_quantile
from recombine.support.rules import Rule
from recombine.support.support import Region

FAILURE = 1e-7
"""The share of band points for K > 2 that no try places, and that lie on the diagonal instead."""


def everywhere(space: FactorSpace) -> Mixture:
    """Uniform over a continuous space, as a placed region."""
    return Mixture(space, [(1.0, {})])


def planes(
    space: FactorSpace,
    *fixed: tuple[int, Sequence[float]],
    gaps: Mapping[str, tuple[float, float]] | None = None,
    normal: tuple[float, float] | None = None,
) -> Mixture:
    """An equal mixture of planes ``(k, values)``: component k is free, every other one is fixed at ``values``.

    ``gaps`` leaves an interval of a factor out wherever the factor is free; a plane that loses a share of its points
    so is that much rarer. ``normal`` gives the free factors a normal density (mean, deviation), cut to their range."""
    if not fixed:
        raise InputError("give at least one plane: (free component, where the others are fixed).")
    parts = [_plane(space, k, values, gaps or {}, normal) for k, values in fixed]
    return Mixture(space, parts)


def _plane(
    space: FactorSpace,
    free: int,
    values: Sequence[float],
    gaps: Mapping[str, tuple[float, float]],
    normal: tuple[float, float] | None,
) -> tuple[float, dict[str, Law]]:
    if not 0 <= free < len(space.components):
        raise InputError(f"there is no component {free}: the space has {len(space.components)}, counted from 0.")
    weight, laws = 1.0, dict[str, Law]()
    for k, names in enumerate(space.components):
        if k != free:
            if len(values) != len(names):
                raise InputError(f"component {k} has {len(names)} factors, a plane fixes it at {len(values)} values.")
            laws |= {name: {"at": float(value)} for name, value in zip(names, values, strict=True)}
            continue
        for name in names:
            if name in gaps:
                kept = _without(space, name, gaps[name])
                low, high = space[name].low or 0.0, space[name].high or 0.0
                weight *= math.fsum(stop - start for start, stop in kept) / (high - low)
                laws[name] = {"uniform": kept}
            elif normal is not None:
                laws[name] = {"normal": [float(v) for v in normal]}
    return weight, laws


def _without(space: FactorSpace, name: str, gap: tuple[float, float]) -> list[list[float]]:
    low, high = space[name].low, space[name].high
    if low is None or high is None or not low <= gap[0] < gap[1] <= high:
        raise InputError(f"a gap from {gap[0]} to {gap[1]} does not lie inside factor {name!r} ({low} … {high}).")
    return [[a, b] for a, b in ((low, gap[0]), (gap[1], high)) if a < b]


class Band(Placed):
    """Uniform over the points near the diagonal: for every place d within a component, the K numbers z_{1,d} … z_{K,d}
    are at most ``width`` from their mean (Euclidean distance), so |z_1 − z_2| ≤ √2 · width for two components.

    For K = 2 a point is placed in closed form. For more, a fixed number of tries makes a share of at most 1e−7 of the
    points wrong: those lie on the diagonal itself."""

    def __init__(self, space: FactorSpace, width: float) -> None:
        sizes = {len(names) for names in space.components}
        ranges = {(f.low, f.high) for f in space.factors}
        if len(space.components) < 2 or len(sizes) > 1 or ranges != {(0.0, 1.0)}:
            raise InputError("a band needs two or more components of as many factors, all from 0 to 1.")
        if not 0 < width < math.inf:
            raise InputError(f"a band needs a width above zero, got {width}.")
        self.width = float(width)
        self.groups = [list(names) for names in zip(*space.components, strict=True)]
        self._tries = 1 if len(space.components) == 2 else _tries(len(space.components), self._reach(space))
        per_group = 2 if len(space.components) == 2 else self._tries * (len(space.components) + 2) + 1
        self.numbers = per_group * len(self.groups)
        super().__init__(space, self._rule(SLACK))

    def place(self, units: Any, xp: Any = np) -> Any:
        count = self.numbers // len(self.groups)
        columns: dict[str, Any] = {}
        for d, names in enumerate(self.groups):
            own = units[..., d * count : (d + 1) * count]
            values = self._pair(own, xp) if len(names) == 2 else self._several(own, xp)
            columns |= dict(zip(names, values, strict=True))
        return xp.stack([columns[name] for name in self.space.names], -1)

    def _pair(self, units: Any, xp: Any) -> list[Any]:
        """z = v ± e: e has density ∝ 1 − 2|e| up to width/√2, and v is uniform where both stay inside."""
        most = min(self.width / math.sqrt(2), 0.5)
        signed = 2 * units[..., 0] - 1
        size = (1 - xp.sqrt(1 - 4 * (most - most * most) * abs(signed))) / 2
        middle = size + (1 - 2 * size) * units[..., 1]
        apart = xp.where(signed < 0, -size, size)
        return [xp.clip(middle + apart, 0.0, 1.0), xp.clip(middle - apart, 0.0, 1.0)]

    def _several(self, units: Any, xp: Any) -> list[Any]:
        """The first try e that is accepted, with probability 1 − (max e − min e), at v uniform where all stay
        inside."""
        size = len(self.space.components)
        kept = [xp.zeros_like(units[..., 0])] * size
        for attempt in reversed(range(self._tries)):
            own = units[..., attempt * (size + 2) : (attempt + 1) * (size + 2)]
            tried = _ball(own, size, self._reach(self.space), xp)
            good = own[..., size + 1] < 1 - (_extreme(tried, xp.maximum) - _extreme(tried, xp.minimum))
            kept = [xp.where(good, new, old) for new, old in zip(tried, kept, strict=True)]
        lowest, highest = _extreme(kept, xp.minimum), _extreme(kept, xp.maximum)
        middle = -lowest + (1 - highest + lowest) * units[..., -1]
        return [xp.clip(middle + apart, 0.0, 1.0) for apart in kept]

    def _reach(self, space: FactorSpace) -> float:
        """The width, or the farthest a point of the cube is from the diagonal where that is less."""
        size = len(space.components)
        return min(self.width, math.sqrt((size // 2) * ((size + 1) // 2) / size))

    def outside(self, margin: float = MARGIN) -> Region:
        size = len(self.space.components)
        if self.width + margin >= math.sqrt((size // 2) * ((size + 1) // 2) / size):
            raise InputError(f"nothing is farther than {margin:g} from a band of width {self.width:g}.")
        return Region(self.space, {"not": self._rule(margin)})

    def _rule(self, slack: float) -> Rule:
        return {"near": {"groups": self.groups, "width": self.width + slack}}

    def to_dict(self) -> dict[str, Any]:
        return {"space": self.space.to_dict(), "band": self.width}

    def __repr__(self) -> str:
        return f"the band of width {self.width:g} along the diagonal of {len(self.space.components)} components"


def _ball(units: Any, size: int, radius: float, xp: Any) -> list[Any]:
    """Uniform in the ball of a radius, orthogonal to the diagonal of ``size`` numbers."""
    normal = [normal_quantile(xp.clip(units[..., k], 1e-7, 1 - 1e-7), xp) for k in range(size)]
    mean = sum(normal) / size
    normal = [value - mean for value in normal]
    length = xp.sqrt(sum(value * value for value in normal) + 1e-30)
    scale = radius * units[..., size] ** (1 / (size - 1)) / length
    return [value * scale for value in normal]


def _extreme(values: list[Any], choose: Any) -> Any:
    chosen = values[0]
    for value in values[1:]:
        chosen = choose(chosen, value)
    return chosen


def _tries(size: int, radius: float) -> int:
    """Tries after which a point is still missing with probability `FAILURE`."""
    tried = _ball(np.random.default_rng(0).random((4096, size + 1)), size, radius, np)
    accepted = float(np.clip(1 - np.ptp(np.stack(tried), axis=0), 0, 1).mean())
    return max(1, math.ceil(math.log(FAILURE) / math.log1p(-min(accepted, 1 - FAILURE))))


def band(space: FactorSpace, width: float) -> Band:
    """All components within ``width`` of their mean, place by place."""
    return Band(space, width)


def placed_from(space: FactorSpace, data: Mapping[str, Any]) -> Placed:
    """The placed region that ``to_dict`` described."""
    try:
        if "band" in data:
            return Band(space, data["band"])
        return Mixture(space, [(weight, laws) for weight, laws in data["mixture"]])
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise InputError(f"this is not the description of a placed support: {type(error).__name__} {error}.") from None
