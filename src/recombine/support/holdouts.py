"""Hold-outs of the forced-rendering paper: what training does not see, as supports.

``donut`` and ``random`` are in `builders`. Holding out *combinations* of levels that are all seen elsewhere asks for
composition; holding out every combination of some *level* asks for something else, interpolation of a value never
shown. `unseen_levels` tells the two apart, and `cross` is a hold-out of values.
"""

from __future__ import annotations

import numpy as np

from recombine.errors import InputError
from recombine.space import FactorSpace, Level
from recombine.support.builders import _listed
from recombine.support.support import Explicit, Region, Support


def corner(space: FactorSpace, hole: int | float) -> Support:
    """Everything but the box of the last ``hole`` levels of every factor (continuous: the last share of the range)."""
    return _listed(Region(space, {"not": {"box": _last(space, hole)}}), "training")


def ell(space: FactorSpace, arms: int | float) -> Support:
    """An L: the combinations in which some factor is within its first ``arms`` levels (or share of the range)."""
    hole = {len(f) - int(arms) for f in space.factors} if space.finite else {1 - arms}
    if len(hole) > 1:
        raise InputError("an L has arms of one width, so its factors must have as many levels; use corner instead.")
    return corner(space, hole.pop())


def cross(space: FactorSpace, width: int | float) -> Support:
    """Everything but a cross: no factor is in its middle ``width`` levels. A hold-out of *values*: not composition."""
    arms = [{"box": {name: side}} for name, side in _middle(space, width).items()]
    return _listed(Region(space, {"not": {"any": arms}}), "training")


def diagonal(space: FactorSpace, width: int) -> Support:
    """Everything but a band of ``width`` levels along the diagonal: max − min of the codes is below ``width``/2 + ½."""
    if not space.finite:
        raise InputError("the diagonal is held out of categorical factors only.")
    grid = space.grid()
    return Explicit(space, grid[2 * np.ptp(grid, axis=1) > width - 1]).require_nonempty("training")


def unseen_levels(train: Support) -> dict[str, tuple[Level, ...]]:
    """The levels that no training combination has, by factor; empty where the hold-out asks for composition alone."""
    codes = train.explicit().codes
    found: dict[str, tuple[Level, ...]] = {}
    for column, factor in enumerate(train.space.factors):
        seen = set(codes[:, column].tolist())
        missing = tuple(level for code, level in enumerate(factor.levels or ()) if code not in seen)
        if missing:
            found[factor.name] = missing
    return found


def _last(space: FactorSpace, hole: int | float) -> dict[str, tuple[float, float]]:
    sides: dict[str, tuple[float, float]] = {}
    for factor in space.factors:
        low, high = _ends(space, factor.name)
        start = high - int(hole) + 1 if factor.levels is not None else high - hole * (high - low)
        if not low < start <= high:
            raise InputError(f"a hole of {hole:g} does not leave a part of factor {factor.name!r}.")
        sides[factor.name] = (start, high)
    return sides


def _middle(space: FactorSpace, width: int | float) -> dict[str, tuple[float, float]]:
    sides: dict[str, tuple[float, float]] = {}
    for factor in space.factors:
        low, high = _ends(space, factor.name)
        if factor.levels is not None:
            start = float((len(factor) - int(width)) // 2)
            stop = start + int(width) - 1
        else:
            start, stop = ((low + high) / 2 + sign * width * (high - low) / 2 for sign in (-1, 1))
        if not low < start <= stop < high:
            raise InputError(f"a cross of width {width:g} does not leave both sides of factor {factor.name!r}.")
        sides[factor.name] = (start, stop)
    return sides


def _ends(space: FactorSpace, name: str) -> tuple[float, float]:
    factor = space[name]
    if factor.levels is not None:
        return 0.0, float(len(factor) - 1)
    assert factor.low is not None
    assert factor.high is not None
    return factor.low, factor.high
