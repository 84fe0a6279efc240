"""The training supports of Wiedemer et al. (2023) by name, for any number of sprites.

The published ones are for two sprites, the first in front. The fixed points are corners and middles of a sprite's
cube at the smallest scale: 1 is a circle at the top right, 0 a triangle at the bottom left, ½ a square in the middle.
With more sprites all that are not free stand at the same point. ``orthogonal*`` is inferred: it has no released
configuration, and these two planes give the pixel variance that its published figures imply.
"""

from __future__ import annotations

from typing import Literal

from recombine.space import FactorSpace
from recombine.support import Placed, band, everywhere, planes
from recombine.tasks.sprites.latents import NAMES

Name = Literal["random", "orthogonal", "orthogonal+", "orthogonal*", "gap", "normal", "diagonal"]


def at(value: float) -> tuple[float, ...]:
    """A sprite with every latent at ``value`` but the scale, which is the smallest."""
    return tuple(0.0 if name == "scale" else value for name in NAMES)


def named(space: FactorSpace, name: Name, width: float, gap: tuple[float, float]) -> Placed:
    """A support by name: ``width`` is the diagonal's, ``gap`` is left out of the front sprite's x."""
    rear = range(1, len(space.components))
    if name == "random":
        return everywhere(space)
    if name == "diagonal":
        return band(space, width)
    if name == "orthogonal+":
        both = [(k, at(value)) for k in rear for value in (0.0, 0.3)]
        return planes(space, (0, at(1.0)), (0, at(0.7)), *both)
    if name == "orthogonal*":
        return planes(space, (0, at(1.0)), *((k, at(0.0)) for k in rear))
    three = [(0, at(1.0)), *((k, at(value)) for k in rear for value in (0.0, 0.5))]
    if name == "gap":
        return planes(space, *three, gaps={"x1": gap})
    if name == "normal":
        return planes(space, *three, normal=(0.5, 1.0))
    return planes(space, *three)
