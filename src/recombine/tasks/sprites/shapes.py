"""Regular polygons of area 1 around the origin, one side flat at the bottom: a circle is one of 30 sides.

A sprite is a row of numbers: x, y (its middle, in shares of the picture, y upwards), shape (a place in a list of
numbers of sides), scale (the square root of its area) and hue; a sixth is an angle in turns, counter-clockwise.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

TRIANGLE, SQUARE, CIRCLE = 3, 4, 30
PAPER_SHAPES = (TRIANGLE, SQUARE, CIRCLE)

X, Y, SHAPE, SCALE, HUE, ANGLE = range(6)


def _layout(sides: int) -> tuple[float, float, float]:
    """The angle of the first corner, the angle between corners, and their distance from the middle."""
    step = 2 * math.pi / sides
    start = math.pi / 2 if sides % 2 else step / 2 if sides % 4 == 0 else 0.0
    return start, step, 1 / math.sqrt(sides * math.sin(step / 2) * math.cos(step / 2))


def polygon(sides: int, device: torch.device | str = "cpu") -> Tensor:
    """The corners (2 × sides, float64) of a regular polygon of area 1, counter-clockwise."""
    start, step, radius = _layout(sides)
    angles = start + step * torch.arange(sides, dtype=torch.float64, device=device)
    return torch.stack([angles.cos(), angles.sin()]) * radius


def extent(shapes: tuple[int, ...], turned: bool) -> tuple[float, float]:
    """The largest width and height of the polygons at scale 1, upright or turned by any angle."""
    widths, heights = [], []
    for sides in shapes:
        start, step, radius = _layout(sides)
        across = [radius * math.cos(start + step * i) for i in range(sides)]
        up = [radius * math.sin(start + step * i) for i in range(sides)]
        widths.append(2 * radius if turned else max(across) - min(across))
        heights.append(2 * radius if turned else max(up) - min(up))
    return max(widths), max(heights)


def corners(sprites: Tensor, shapes: tuple[int, ...], side: int) -> tuple[Tensor, Tensor]:
    """The corners (corner × …) of sprites (… × 5 or 6) in pixels, y upwards; short lists repeat their last corner."""
    # Made on the device each time: a table kept on the host would be copied there in every captured step.
    place = torch.arange(max(shapes), device=sprites.device)
    table = torch.stack([polygon(n, sprites.device)[:, place.clamp(max=n - 1)] for n in shapes], -1).to(sprites.dtype)
    shape = sprites[..., SHAPE].long()
    chosen = table.flatten(0, 1).gather(1, shape.reshape(1, -1).expand(2 * len(place), -1))
    across, up = chosen.view(2, len(place), *shape.shape)
    if sprites.shape[-1] > ANGLE:
        turn = 2 * math.pi * sprites[..., ANGLE]
        cos, sin = turn.cos(), turn.sin()
        across, up = across * cos - up * sin, across * sin + up * cos
    scale = sprites[..., SCALE]
    return side * (scale * across + sprites[..., X]), side * (scale * up + sprites[..., Y])


def colours(hue: Tensor, whole: bool) -> Tensor:
    """RGB (… × 3) of hues at full saturation and value; ``whole`` rounds down to 255ths, as 8-bit pictures do."""
    sector = 6 * hue[..., None] + 4 * torch.arange(3, device=hue.device)  # 0, 4 and 8 sixths of the circle
    level = ((torch.remainder(sector, 6) - 3).abs() - 1).clamp(0, 1)
    return torch.floor(255 * level) / 255 if whole else level
