"""Vectors made of parts: the smallest task in which every assumption of Wiedemer et al. (2023) can hold exactly.

Component k is a fixed random smooth function of its own latents, φ_k(z) = Σ_j a_kj cos(2π ω_kj·z + b_kj), a vector
of cells with three numbers each; a composition makes one vector of all components, cell by cell. Everything has
derivatives, nothing is rendered, and a network of a few thousand parameters fits it in a thousand steps.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.space import FactorSpace, continuous
from recombine.support import Placed, Support, band, everywhere, planes
from recombine.tasks.draws import Draws
from recombine.tasks.sprites.compose import Addition, Composition
from recombine.tasks.task import Inputs, Task

Named = Literal["random", "orthogonal", "orthogonal+", "gap", "diagonal"]


class VectorParts(Description, Task):
    """Vectors (cells × 3) of ``blocks`` components with ``latents`` latents each, all in the unit cube.

    ``support`` names what training sees: everything (random); one plane per component with all others at 0
    (orthogonal); two planes per component, the others at ¼ and at ¾ (orthogonal+); orthogonal with the interval
    ``gap`` of the first latent left out (gap); or a band of ``width`` along the diagonal. ``inputs="observation"``
    shows the vector itself instead of its latents: the task of an autoencoder."""

    kind: ClassVar[str] = "vector-parts"

    blocks: int = Field(default=2, ge=2)
    latents: int = Field(default=2, ge=1)
    cells: int = Field(default=8, ge=1)
    composition: Composition = Addition()
    support: Named | Placed = "orthogonal"
    width: float = Field(default=0.1, gt=0)
    gap: tuple[float, float] = (0.3, 0.7)
    inputs: Literal["latents", "observation"] = "latents"
    frequency: float = Field(default=0.5, gt=0)
    """How often a component swings from one end of a latent to the other: the deviation of ω."""
    waves: int = Field(default=8, ge=1)
    seed: int = 0
    margin: float = Field(default=0.05, ge=0)

    def model_post_init(self, _context: Any) -> None:
        if isinstance(self.support, Placed) and self.support.space != self.space:
            raise InputError("the support is over another space than the latents of this task.")
        _ = self.train

    @cached_property
    def space(self) -> FactorSpace:
        """a1, a2 …, b1, b2 …: one component per block, every latent from 0 to 1."""
        names = tuple(tuple(f"{chr(97 + k)}{i + 1}" for i in range(self.latents)) for k in range(self.blocks))
        return FactorSpace(tuple(continuous(name) for block in names for name in block), names)

    @cached_property
    def train(self) -> Placed:
        if isinstance(self.support, Placed):
            return self.support
        corner, each = (0.0,) * self.latents, range(self.blocks)
        if self.support == "random":
            return everywhere(self.space)
        if self.support == "diagonal":
            return band(self.space, self.width)
        if self.support == "orthogonal+":
            return planes(self.space, *((k, (value,) * self.latents) for k in each for value in (0.25, 0.75)))
        gaps = {self.space.names[0]: self.gap} if self.support == "gap" else None
        return planes(self.space, *((k, corner) for k in each), gaps=gaps)

    @cached_property
    def test(self) -> Support:
        return self.train if self.train == everywhere(self.space) else self.train.outside(self.margin)

    @property
    def numbers(self) -> int:
        """How long the vectors are."""
        return self.cells * 3

    def components(self, points: Tensor) -> Tensor:
        """φ_k(z_k) of every component, (… × K × cells × channels)."""
        parts = points.to(torch.get_default_dtype()).unflatten(-1, (self.blocks, self.latents))
        speed, start, size = (constant.to(parts) for constant in self._waves)
        swing = torch.einsum("...kd,kdj->...kj", parts, speed) + start
        drawn: Tensor = torch.einsum("...kj,kjm->...km", torch.cos(swing), size).unflatten(-1, (self.cells, -1))
        return drawn

    def examples(self, points: Tensor, draws: Draws) -> tuple[Inputs, Tensor]:
        targets = self.composition(self.components(points))
        if self.inputs == "observation":
            return targets, targets
        return 2 * points.to(targets) - 1, targets

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The mean squared error over all numbers; outputs may be flat."""
        return (outputs.flatten(1) - targets.flatten(1)).square().mean(-1)

    def batch(self, draws: Draws, size: int) -> tuple[Inputs, Tensor]:
        units = draws("latents").uniform((*draws.lead, size, self.train.numbers))
        return self.examples(self.train.place(units, torch), draws)

    def whole(self, device: torch.device | str = "cpu") -> tuple[Inputs, Tensor]:
        raise InputError("this task draws afresh at every step, so it has no whole set; give a batch_size.")

    @cached_property
    def _waves(self) -> tuple[Tensor, Tensor, Tensor]:
        """Speeds (K × latents × waves), phases (K × waves) and sizes (K × waves × numbers), the same on every
        device."""
        draws = Draws.single(self.seed, "vector parts")
        shape, channels = (self.blocks, self.latents, self.waves), self.composition.channels
        speed = 2 * math.pi * self.frequency * draws("speed").normal(shape, torch.float64)
        phase = 2 * math.pi * draws("phase").uniform((self.blocks, self.waves), torch.float64)
        size = draws("size").normal((self.blocks, self.waves, self.cells * channels), torch.float64)
        return speed, phase, size * math.sqrt(2 / self.waves)
