"""Sprites: coloured polygons, how they are drawn, composed and learned."""

from recombine.tasks.sprites.compose import (
    COMPOSITIONS as COMPOSITIONS,
    Addition as Addition,
    Composition as Composition,
    HardOcclusion as HardOcclusion,
    Over as Over,
    SoftOcclusion as SoftOcclusion,
)
from recombine.tasks.sprites.latents import Latents as Latents
from recombine.tasks.sprites.raster import draw as draw
from recombine.tasks.sprites.smooth import coverage as coverage
from recombine.tasks.sprites.task import SpriteTask as SpriteTask
