"""The supports people ask for by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from recombine.errors import InputError
from recombine.space import FactorSpace, Level
from recombine.support.support import ENUMERABLE, Explicit, Region, Support


def full(space: FactorSpace) -> Support:
    """Every combination of the space."""
    if space.finite and space.size <= ENUMERABLE:
        return Explicit(space, space.grid())
    return Region(space, {"all": [{"box": {}}]})


def leave_out(space: FactorSpace, *combinations: Mapping[str, Level]) -> Support:
    """Everything but the named combinations. A record that names only some factors leaves out every match:
    ``leave_out(space, {"shape": "disc", "colour": "red"})``."""
    boxes = [{"box": {n: _one(space, n, level) for n, level in record.items()}} for record in combinations]
    if not boxes:
        return full(space)
    return _listed(Region(space, {"not": {"any": boxes}}), "training")


def anchors(space: FactorSpace, levels: Mapping[str, Iterable[Level]]) -> Support:
    """The combinations in which at least one factor sits at one of its anchor levels (kernel theory, section 2)."""
    boxes = [{"box": {n: _one(space, n, level)}} for n, chosen in levels.items() for level in chosen]
    if not boxes:
        raise InputError("the anchor support is empty: no anchor level was given.")
    return _listed(Region(space, {"any": boxes}), "anchor")


def random(space: FactorSpace, count: int, seed: int, cover_levels: bool = False) -> Support:
    """``count`` combinations drawn without replacement; with ``cover_levels`` every level appears at least once."""
    if not 1 <= count <= space.size:
        raise InputError(f"cannot draw {count} of {space.size} combinations.")
    rng = np.random.default_rng(seed)
    chosen: set[int] = set()
    if cover_levels:
        rows = max(space.shape)
        columns = [np.concatenate([rng.permutation(n), rng.integers(n, size=rows - n)]) for n in space.shape]
        chosen = set(space.index(np.stack(columns, axis=1)).tolist())
        if len(chosen) > count:
            raise InputError(
                f"covering every level takes {len(chosen)} combinations here, more than the {count} asked for."
            )
    while len(chosen) < count:
        draw = rng.integers(space.size, size=count - len(chosen))
        chosen.update(draw.tolist())
    return Explicit(space, space.at(sorted(chosen)))


def donut(space: FactorSpace, hole: int | float | tuple[float, float]) -> Support:
    """Everything but a box in the middle. ``hole`` is its side — a number of levels (categorical factors) or a share
    of the range (continuous ones) — or its two ends, as codes or values."""
    sides: dict[str, tuple[float, float]] = {}
    for factor in space.factors:
        if isinstance(hole, tuple):
            low, high = hole
        elif factor.levels is not None:
            low = (len(factor) - int(hole)) // 2
            high = low + int(hole) - 1
        else:
            assert factor.low is not None
            assert factor.high is not None
            middle, half = (factor.low + factor.high) / 2, hole * (factor.high - factor.low) / 2
            low, high = middle - half, middle + half
        first, last = (0, len(factor) - 1) if factor.levels is not None else (factor.low, factor.high)
        if low > high or low <= first or high >= last:  # type: ignore[operator]
            raise InputError(
                f"a hole from {low:g} to {high:g} does not lie inside factor {factor.name!r} ({first} … {last})."
            )
        sides[factor.name] = (low, high)
    return _listed(Region(space, {"not": {"box": sides}}), "training")


def _one(space: FactorSpace, name: str, level: Level) -> tuple[int, int]:
    code = space[name].code(level)
    return code, code


def _listed(region: Region, what: str) -> Support:
    """A region as a list where its grid can be listed, as the rule it is where it cannot."""
    if region.space.finite and region.space.size <= ENUMERABLE:
        return region.explicit().require_nonempty(what)
    return region
