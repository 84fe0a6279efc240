"""Points of a support that share the value of one block: the conditioning points P'(z_k) of the theorem.

A listed support gives all its rows. Of a continuous one they are found: the value is put into other points of the
support (which finds planes, whose other block is fixed), and from a point that is in, the other factors take random
walks that never leave (which finds the width of a band). Only points count at which the block can move alone inside
the support: nowhere else does training show a derivative in z_k.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recombine.space import FactorSpace, Points
from recombine.support import Explicit, Support

Columns = NDArray[np.intp]

POOL = 512
"""Points of the support into which a value is put."""
STEP = 1e-3
"""Share of a factor's range by which a block must be able to move alone; nearer points count as one."""
LISTED = 256
"""The most rows of a listed support that are looked at for one value."""
SHRINKS = 12


def columns_of(space: FactorSpace, component: int) -> Columns:
    """The columns of one block."""
    return np.array([space.position(name) for name in space.components[component]], dtype=np.intp)


def others_of(space: FactorSpace, component: int) -> Columns:
    """All columns but those of one block."""
    return np.setdiff1d(np.arange(len(space)), columns_of(space, component))


def ranges_of(space: FactorSpace) -> NDArray[np.float64]:
    """The length of each factor's range; 0 for categorical ones, which do not move by steps."""
    return np.array([0.0 if f.low is None or f.high is None else f.high - f.low for f in space.factors])


def ends_of(space: FactorSpace) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lowest and the highest value (or code) of each factor."""
    low = [0.0 if f.low is None else f.low for f in space.factors]
    high = [len(f) - 1.0 if f.high is None else f.high for f in space.factors]
    return np.array(low), np.array(high)


def movable(support: Support, points: Points, component: int) -> NDArray[np.bool_]:
    """For each point, whether every continuous factor of the block can move a step by itself inside the support."""
    block = columns_of(support.space, component)
    smooth = np.array([c for c in block if not support.space.factors[c].categorical], dtype=np.intp)
    return np.asarray(_free(support, points, smooth).all(0))


def _free(support: Support, points: Points, columns: Columns) -> NDArray[np.bool_]:
    """(columns × points): whether this factor can move a step up or down, a categorical one to the next level."""
    low, high = ends_of(support.space)
    step = np.where(ranges_of(support.space) > 0, STEP * ranges_of(support.space), 1.0)
    moved = np.tile(np.asarray(points, dtype=np.float64), (2, len(columns), 1, 1))
    for i, column in enumerate(columns):
        moved[0, i, :, column] -= step[column]
        moved[1, i, :, column] += step[column]
    moved = np.clip(moved, low, high)
    inside = support.contains(moved.reshape(-1, len(low))).reshape(moved.shape[:-1])
    return np.asarray((inside & (moved != points).any(-1)).any(0))


def values_of(support: Support, component: int, count: int, seed: int) -> Points:
    """``count`` points of the support at which the block can move alone; fewer where the support has no more."""
    if isinstance(support, Explicit):
        distinct, first = np.unique(support.codes[:, columns_of(support.space, component)], axis=0, return_index=True)
        chosen = np.random.default_rng(seed).permutation(len(distinct))[:count]
        return support.codes[first[np.sort(chosen)]]
    found: list[Points] = []
    for attempt in range(8):
        points = support.sample(max(4 * count, 64), seed=seed + 7919 * attempt)
        found.append(points[movable(support, points, component)])
        if sum(map(len, found)) >= count:
            break
    return np.concatenate(found)[:count]


def companions(support: Support, point: Points, component: int, count: int, seed: int) -> Points:
    """At most ``count`` points that share the block's value with ``point`` (a row), ``point`` first if it counts."""
    block, rest = columns_of(support.space, component), others_of(support.space, component)
    if isinstance(support, Explicit):
        rows: Points = support.codes[(support.codes[:, block] == point[block]).all(1)]
        if len(rows) > LISTED:
            rows = rows[np.sort(np.random.default_rng(seed).permutation(len(rows))[:LISTED])]
        return rows
    moved = np.array(support.sample(POOL, seed), dtype=np.float64)
    moved[:, block] = point[block]
    found = _apart(support.space, np.concatenate([point[None], moved[support.contains(moved)]]), rest)
    loose = rest[_free(support, found, rest).any(1)]
    if len(found) < count and len(loose):
        walked = _walk(support, np.repeat(found, -(-2 * count // len(found)), axis=0), loose, seed)
        found = _apart(support.space, np.concatenate([found, walked]), rest)
    return found[movable(support, found, component)][:count]


def _apart(space: FactorSpace, points: Points, columns: Columns) -> Points:
    """The points without those that nearly repeat an earlier one."""
    step = STEP * np.where(ranges_of(space) > 0, ranges_of(space), 1.0)[columns]
    _, first = np.unique(np.round(points[:, columns] / step), axis=0, return_index=True)
    points = points[np.sort(first)]
    kept: list[int] = []
    for i, row in enumerate(points[:, columns]):
        if not kept or (np.abs(points[kept][:, columns] - row) > 2 * step).any(1).all():
            kept.append(i)
        if len(kept) == LISTED:
            break
    return points[kept]


def _walk(support: Support, points: Points, columns: Columns, seed: int) -> Points:
    """Each given factor in turn takes a new value inside the support, the others held: intervals shrink towards the
    old value until a draw is in (Neal's slice sampling of a uniform density)."""
    rng = np.random.default_rng(seed)
    space = support.space
    low, high = ends_of(space)
    for column in rng.permutation(columns):
        left, right = np.full(len(points), low[column]), np.full(len(points), high[column])
        waiting = np.ones(len(points), dtype=bool)
        for _ in range(SHRINKS):
            tried = points.copy()
            draw = left + (right - left) * rng.random(len(points))
            draw = draw if ranges_of(space)[column] else np.round(draw)
            tried[waiting, column] = draw[waiting]
            inside = support.contains(tried) & waiting
            points[inside] = tried[inside]
            waiting &= ~inside
            below = waiting & (draw < points[:, column])
            left, right = np.where(below, draw, left), np.where(waiting & ~below, draw, right)
    return points
