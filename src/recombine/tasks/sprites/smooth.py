"""Sprites with soft edges, from signed distances: anti-aliased, and differentiable in position, scale, angle and hue.

A cell at distance d outside the polygon (negative inside) is covered by s(½ − d/softness), where s(t) = t²(3 − 2t) on
[0, 1]: full inside, none outside, half on the edge. The shape itself is one of a list, so nothing flows through it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from recombine.tasks.sprites.shapes import PAPER_SHAPES, corners

FAR = 1e9


def coverage(sprites: Tensor, side: int, *, shapes: tuple[int, ...] = PAPER_SHAPES, softness: float = 1.0) -> Tensor:
    """The covered share (… × cells) of every cell for sprites (… × 5 or 6), the first row of cells on top."""
    inside = (0.5 - distance(sprites, side, shapes) / softness).clamp(0, 1)
    return inside.square() * (3 - 2 * inside)


def distance(sprites: Tensor, side: int, shapes: tuple[int, ...] = PAPER_SHAPES) -> Tensor:
    """The signed distance in pixels (… × cells) from the centres of all cells to the polygons, negative inside."""
    across, up = corners(sprites, shapes, side)
    place = torch.arange(side * side, device=sprites.device)
    column, row = (place % side) + 0.5, side - 0.5 - torch.div(place, side, rounding_mode="floor")
    farthest = across.new_full((), -FAR)
    nearest = across.new_full((), FAR)
    for i in range(len(across)):
        x, y = column - across[i - 1][..., None], row - up[i - 1][..., None]
        along_x = (across[i] - across[i - 1])[..., None]
        along_y = (up[i] - up[i - 1])[..., None]
        square = along_x.square() + along_y.square()
        # Repeated corners make sides without a length: they bound nothing.
        real = square > 0
        square = torch.where(real, square, torch.ones_like(square))
        beyond = torch.where(real, (x * along_y - y * along_x) * square.rsqrt(), -FAR)
        farthest = torch.maximum(farthest, beyond)
        part = ((x * along_x + y * along_y) / square).clamp(0, 1)
        nearest = torch.minimum(nearest, (x - part * along_x).square() + (y - part * along_y).square())
    outside = farthest > 0
    # The root is taken of safe numbers only, so that cells inside have a finite derivative.
    return torch.where(outside, torch.where(outside, nearest, 1.0).clamp(min=1e-12).sqrt(), farthest)
