"""The supports people ask for by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from recombine.errors import InputError
from recombine.space import FactorSpace, Level
from recombine.support.region import Region
from recombine.support.support import ENUMERABLE, Explicit, Support


def full(space: FactorSpace) -> Support:
    """Every combination of the space."""
    if space.finite and space.size <= ENUMERABLE:
        return Explicit(space, space.grid())
    return Region(space, {"all": [{"box": {}}]})


def leave_out(space: FactorSpace, *combinations: Mapping[str, Level]) -> Support:
    """Everything but the named combinations. A record that names only some factors leaves out every match:
    ``leave_out(space, {"shape": "disc", "colour": "red"})``."""
    grid = space.grid()
    keep = np.ones(len(grid), dtype=bool)
    for record in combinations:
        match = np.ones(len(grid), dtype=bool)
        for name, level in record.items():
            match &= grid[:, space.position(name)] == space[name].code(level)
        keep &= ~match
    return Explicit(space, grid[keep]).require_nonempty("training")


def anchors(space: FactorSpace, levels: Mapping[str, Iterable[Level]]) -> Support:
    """The combinations in which at least one factor sits at one of its anchor levels (kernel theory, section 2)."""
    grid = space.grid()
    keep = np.zeros(len(grid), dtype=bool)
    for name, chosen in levels.items():
        codes = [space[name].code(level) for level in chosen]
        keep |= np.isin(grid[:, space.position(name)], codes)
    return Explicit(space, grid[keep]).require_nonempty("anchor")


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
            assert factor.low is not None and factor.high is not None
            middle, half = (factor.low + factor.high) / 2, hole * (factor.high - factor.low) / 2
            low, high = middle - half, middle + half
        first, last = (0, len(factor) - 1) if factor.levels is not None else (factor.low, factor.high)
        if low > high or low <= first or high >= last:  # type: ignore[operator]
            raise InputError(
                f"a hole from {low:g} to {high:g} does not lie inside factor {factor.name!r} ({first} … {last})."
            )
        sides[factor.name] = (low, high)
    region = Region(space, {"not": {"box": sides}})
    return region.explicit() if space.finite and space.size <= ENUMERABLE else region
