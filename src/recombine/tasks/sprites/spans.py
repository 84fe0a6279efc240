"""Which pixels of a row a convex polygon covers: one run of them, from a first to a last.

Two rasters say which. ``centre`` covers the pixels whose centre lies inside. ``pil`` covers what Pillow's polygon fill
covers: corners are cut to whole pixels, a row y is crossed where y itself (not y + ½) is, edges are followed in float32
from their first corner, the left end rounds half up and the right end half down, both ends included.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Raster = Literal["pil", "centre"]
FAR = 1e30
"""Farther than an edge that is nearly level reaches on the way from one row to another."""
NEAR = 256
"""Polygons that are searched at a time on a CPU: what is computed on the way stays in a core's cache."""


def placed(across: Tensor, up: Tensor, raster: Raster) -> tuple[Tensor, Tensor]:
    """Corners where the raster puts them."""
    return (across.trunc().float(), up.trunc().float()) if raster == "pil" else (across, up)


def spans(across: Tensor, up: Tensor, rows: Tensor, raster: Raster) -> tuple[Tensor, Tensor]:
    """The first and the last covered pixel (rows × polygons) of polygons with placed corners (corners × polygons); in a
    row that is not crossed the first is far to the right of the last."""
    at = rows if raster == "pil" else rows + 0.5
    following = up.roll(-1, 0)
    rise = following - up
    # A level edge is met at its height alone, where its slope does not matter: it is divided by one.
    slope = (across.roll(-1, 0) - across) / (rise + (1 - rise.sign().square()))
    many = NEAR if up.device.type == "cpu" else max(1, up.shape[1])
    parts = zip(*(numbers.split(many, 1) for numbers in (at, across, up, following, slope)), strict=True)
    left, right = (torch.cat(ends, 1) for ends in zip(*(_ends(*part) for part in parts), strict=True))
    if raster == "pil":
        # To the left of the picture the right end rounds half up as well.
        return (left + 0.5).floor(), (right - 0.5).ceil().maximum((right + 0.5).floor().clamp(max=0))
    return (left - 0.5).ceil(), (right - 0.5).ceil() - 1


def _ends(at: Tensor, across: Tensor, up: Tensor, following: Tensor, slope: Tensor) -> tuple[Tensor, Tensor]:
    """Where rows (rows × polygons) first and last cross an edge."""
    crossing = at - up[:, None]
    # An edge that does not reach the row has both ends on one side of it, and is put out of the way.
    missed = (at - following[:, None]).mul_(crossing).sign_().relu_()
    # Multiplied, then added, with a rounding after each: a fused operation would move ties.
    crossing.mul_(slope[:, None]).add_(across[:, None])
    left = crossing.add_(missed, alpha=FAR).amin(0)
    return left, crossing.sub_(missed, alpha=2 * FAR).amax(0)
