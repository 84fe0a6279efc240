"""Sprites: coloured polygons, how they are drawn, composed and learned."""

from recombine.tasks.sprites.compose import COMPOSITIONS, Addition, Composition, HardOcclusion, Over, SoftOcclusion
from recombine.tasks.sprites.latents import Latents
from recombine.tasks.sprites.raster import draw
from recombine.tasks.sprites.smooth import coverage
from recombine.tasks.sprites.task import SpriteTask

__all__ = [
    "COMPOSITIONS",
    "Addition",
    "Composition",
    "HardOcclusion",
    "Latents",
    "Over",
    "SoftOcclusion",
    "SpriteTask",
    "coverage",
    "draw",
]
