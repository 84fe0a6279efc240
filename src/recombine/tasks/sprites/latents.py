"""The latents of K sprites: a cube of K × 5 numbers, and what they mean (Wiedemer et al. 2023).

In the cube every number goes from 0 to 1. Scaled, they are x, y, shape, scale and hue; the shape is round((S − 1)·u),
so of three shapes the middle one is as frequent as the other two together.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.space import FactorSpace, continuous
from recombine.tasks.sprites.shapes import PAPER_SHAPES, SCALE, SHAPE

NAMES = ("x", "y", "shape", "scale", "hue")
Range = tuple[float, float]


class Latents(Description):
    """The range of each latent. ``shapes`` lists numbers of sides."""

    kind: ClassVar[str] = "sprite-latents"

    x: Range = (0.1, 0.9)
    y: Range = (0.2, 0.8)
    shapes: tuple[int, ...] = Field(default=PAPER_SHAPES, min_length=1)
    scale: Range = (0.09, 0.22)
    hue: Range = (0.05, 0.95)

    def model_post_init(self, _context: Any) -> None:
        for name in ("x", "y", "scale", "hue"):
            low, high = getattr(self, name)
            if not 0 <= low <= high:
                raise InputError(f"the range of {name} goes up from zero or more, got {low} … {high}.")
        if min(self.shapes) < 3:
            raise InputError(f"a polygon has at least 3 sides, got {min(self.shapes)}.")
        if self.scale[0] <= 0:
            raise InputError("a sprite needs a scale above zero.")

    @property
    def largest(self) -> float:
        return self.scale[1]

    def ranges(self) -> tuple[Range, ...]:
        """Lowest and highest value of each latent, in order."""
        return (self.x, self.y, (0.0, len(self.shapes) - 1.0), self.scale, self.hue)

    def space(self, sprites: int) -> FactorSpace:
        """The unit cube of so many sprites: x1 … hue1, x2 … hue2, …, one component per sprite."""
        blocks = tuple(tuple(f"{name}{k + 1}" for name in NAMES) for k in range(sprites))
        return FactorSpace(tuple(continuous(name) for block in blocks for name in block), blocks)

    def scaled(self, points: Tensor) -> Tensor:
        """Sprites (… × K × 5) from points (… × 5K) of the cube."""
        units = points.unflatten(-1, (-1, len(NAMES)))
        columns = [low + (high - low) * units[..., i] for i, (low, high) in enumerate(self.ranges())]
        columns[SHAPE] = columns[SHAPE].round()
        # Rounding must not carry a sprite over the size that the renderer reserves for it.
        columns[SCALE] = columns[SCALE].clamp(max=self.largest)
        return torch.stack(columns, -1)
