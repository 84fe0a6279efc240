"""Sprites with hard edges: in each row of pixels a convex polygon covers one run of them (`spans`), and pictures are
put together from strips of pixels (`strips`).

Only the window around a sprite is computed. All shapes are fixed and nothing is read back, so drawing can be traced,
captured and run on any device; it is not differentiable (`smooth` is).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.tasks.sprites.shapes import ANGLE, HUE, PAPER_SHAPES, colours, corners, extent
from recombine.tasks.sprites.spans import Raster, placed, spans
from recombine.tasks.sprites.strips import STRIP, assemble, way


def draw(
    sprites: Tensor,
    side: int,
    *,
    shapes: tuple[int, ...] = PAPER_SHAPES,
    raster: Raster = "pil",
    largest: float = 1.0,
    stacked: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Pictures (… × cells × 3) of sprites (… × 5 or 6), the first row of cells on top; ``stacked``: the sprites of the
    last axis but one lie in one picture, the first in front. No scale may exceed ``largest``. Pictures are written to
    ``out`` where it is given: on a CPU, memory that is used again can be several times faster than new memory."""
    if not stacked:
        sprites = sprites[..., None, :]
    *lead, count, numbers = sprites.shape
    shape, pictures = (*lead, side * side, 3), math.prod(lead)
    if out is not None and (out.shape != shape or out.dtype != sprites.dtype or not out.is_contiguous()):
        raise InputError(f"out has to be a contiguous tensor of {sprites.dtype} and shape {shape}.")
    view = _window(side, shapes, largest, numbers > ANGLE)
    # Corners near a whole pixel must fall on the right side of it, so they are placed in float64. Each latent of all
    # sprites lies together, those of the front sprites first.
    exact = sprites.reshape(pictures, count, numbers).permute(2, 1, 0).double().reshape(numbers, -1).t()
    across, up = placed(*corners(exact, shapes, side), raster)
    row = up.amin(0).floor().clamp(0, side - view.rows)
    strip = (across.amin(0) / STRIP).floor().clamp(0, view.line - view.strips)
    first, last = spans(across, up, row + torch.arange(view.rows, device=row.device)[:, None], raster)
    left = STRIP * (strip + torch.arange(view.strips, device=row.device)[:, None, None])
    found = way(first, last, left).int().flatten(0, 1).t().contiguous().view(count, pictures, view.size)
    colour = colours(exact[:, HUE], raster == "pil").to(sprites.dtype).view(count, pictures, 3)
    at = view.places(row.long().view(count, pictures), strip.long().view(count, pictures))
    fits = side == view.line * STRIP
    into = out.view(-1, 3 * STRIP) if fits and out is not None else None
    lines = assemble(found, at, colour, pictures * side * view.line, into)
    if fits:
        return lines.view(shape)
    # The last strip of a line lies over the edge.
    inside = lines.view(pictures, side, view.line * STRIP, 3)[:, :, :side].reshape(shape)
    return inside if out is None else out.copy_(inside)


class _Window(NamedTuple):
    """A part of the picture that holds any sprite: ``rows`` of ``strips``. The picture has ``side`` of ``line``."""

    rows: int
    strips: int
    side: int
    line: int

    @property
    def size(self) -> int:
        return self.rows * self.strips

    def places(self, row: Tensor, strip: Tensor) -> Tensor:
        """Where the strips of windows are (… × pictures × size) among those of all pictures, a column of them after
        another; the windows begin in a row, counted upwards, and a strip of it (… × pictures)."""
        picture = torch.arange(row.shape[-1], device=row.device)
        corner = (self.side * picture + self.side - 1 - row) * self.line + strip
        up = torch.arange(self.rows, device=row.device) * self.line
        return corner[..., None] + (torch.arange(self.strips, device=row.device)[:, None] - up).view(-1)


def _window(side: int, shapes: tuple[int, ...], largest: float, turned: bool) -> _Window:
    # A little more than the largest: a scale in float32 may lie above the one that was meant.
    width, height = (min(side, math.ceil(side * largest * size + 1e-3) + 1) for size in extent(shapes, turned))
    line = -(-side // STRIP)
    return _Window(height, min(line, -(-(width - 1) // STRIP) + 1), side, line)
