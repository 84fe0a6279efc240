"""Pictures of K sprites from their latents (Wiedemer et al. 2023): what is seen of the cube, drawn and composed.

Sample k of the training set is made of random numbers addressed by (seed, k), so nothing need be kept: every batch is
drawn where it is used, or looked up on a GPU that has room for all. All members share one set and see it in orders of
their own.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError, unknown
from recombine.space import FactorSpace
from recombine.support import Placed, Support
from recombine.tasks.draws import Draws
from recombine.tasks.sprites.compose import COLOURS, Composition, HardOcclusion, Over
from recombine.tasks.sprites.latents import Latents
from recombine.tasks.sprites.raster import draw
from recombine.tasks.sprites.shapes import HUE, colours
from recombine.tasks.sprites.smooth import coverage
from recombine.tasks.sprites.supports import Name, named
from recombine.tasks.task import Inputs, Task


class SpriteTask(Description, Task):
    """Pictures (cells × 3) of ``sprites`` sprites, the first in front, from their scaled latents (5 per sprite).

    ``composition`` composes the data; a model has one of its own. ``support`` is a name of the paper (``width`` is the
    diagonal's, ``gap`` is left out of the front sprite's x) or any placed support over the cube. ``samples`` is the
    size of the training set; None draws afresh at every step. Tests ask for what is farther than ``margin`` from the
    training support; where that is everything, for the whole cube."""

    kind: ClassVar[str] = "sprites"

    side: int = Field(default=64, ge=2)
    sprites: int = Field(default=2, ge=2)
    composition: Composition = HardOcclusion()
    support: Name | Placed = "orthogonal"
    width: float = Field(default=0.1, gt=0)
    gap: tuple[float, float] = (0.05, 0.45)
    raster: Literal["pil", "centre", "smooth"] = "pil"
    softness: float = Field(default=1.0, gt=0)
    """How many pixels wide the edges of smooth sprites are."""
    latents: Latents = Latents()
    samples: int | None = Field(default=100_000, ge=1)
    seed: int = 0
    margin: float = Field(default=0.05, ge=0)

    def model_post_init(self, _context: Any) -> None:
        if isinstance(self.support, Placed) and self.support.space != self.space:
            raise InputError("the support is over another space; build it over Latents().space(sprites).")
        _ = self.train

    @property
    def background(self) -> float:
        return 0.0

    @cached_property
    def space(self) -> FactorSpace:
        return self.latents.space(self.sprites)

    @cached_property
    def train(self) -> Placed:
        if isinstance(self.support, Placed):
            return self.support
        return named(self.space, self.support, self.width, self.gap)

    @cached_property
    def everything(self) -> Placed:
        return named(self.space, "random", self.width, self.gap)

    @cached_property
    def test(self) -> Support:
        return self.train if self.train == self.everything else self.train.outside(self.margin)

    def points(self, split: Literal["id", "all", "ood"], count: int, seed: int) -> Tensor:
        """Test points (count × factors) of the training support, of the whole cube, or strictly outside the support."""
        supports: dict[str, Support] = {"id": self.train, "all": self.everything, "ood": self.test}
        if split not in supports:
            raise unknown("split", split, supports)
        return torch.as_tensor(supports[split].sample(count, seed), dtype=torch.get_default_dtype())

    def components(self, points: Tensor) -> Tensor:
        """The picture of each sprite alone, (… × K × cells × channels of the data's composition)."""
        sprites = self._sprites(points)
        if self.raster == "smooth":
            covered = coverage(sprites, self.side, shapes=self.latents.shapes, softness=self.softness)[..., None]
            colour = colours(sprites[..., HUE], whole=False)[..., None, :]
            if self.composition.channels > COLOURS:
                return torch.cat([colour * (covered > 0), covered], dim=-1)
            return colour * covered
        drawn = self._drawn(sprites, stacked=False)
        if self.composition.channels > COLOURS:
            return torch.cat([drawn, (drawn.sum(-1, keepdim=True) > 0).to(drawn.dtype)], dim=-1)
        return drawn

    def pictures(self, points: Tensor, out: Tensor | None = None) -> Tensor:
        """The composed pictures (… × cells × 3) of points (… × factors), written to ``out`` where it is given."""
        if self.raster != "smooth" and isinstance(self.composition, (HardOcclusion, Over)):
            # No colour is black, so painting over what is behind gives the same picture without its parts.
            return self._drawn(self._sprites(points), stacked=True, out=out)
        composed = self.composition(self.components(points))
        return composed if out is None else out.copy_(composed)

    def examples(self, points: Tensor, draws: Draws) -> tuple[Inputs, Tensor]:
        return self._sprites(points).flatten(-2), self.pictures(points)

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The mean squared error over pixels and colours; outputs may be flat."""
        return (outputs.flatten(1) - targets.flatten(1)).square().mean(-1)

    def batch(self, draws: Draws, size: int) -> tuple[Inputs, Tensor]:
        if self.samples is None:
            units = draws("latents").uniform((*draws.lead, size, self.train.numbers))
            return self.examples(self.train.place(units, torch), draws)
        places = draws("order").shuffled(self.samples, size)
        points = self.sample(places)
        kept = kept_pictures(self, places.device) if places.is_cuda else None
        return self._sprites(points).flatten(-2), self.pictures(points) if kept is None else kept[places]

    def whole(self, device: torch.device | str = "cpu") -> tuple[Inputs, Tensor]:
        if self.samples is None:
            raise InputError(
                "this task draws afresh at every step, so it has no whole set; give samples or a batch_size."
            )
        return self.examples(self.sample(torch.arange(self.samples, device=device)), Draws.single(0, "whole", device))

    def sample(self, places: Tensor) -> Tensor:
        """The points (… × factors) of samples by their place in the training set."""
        streams = Draws(places, places, places)(f"sprites of seed {self.seed}")
        return torch.as_tensor(self.train.place(streams.uniform((*places.shape, self.train.numbers)), torch))

    def _sprites(self, points: Tensor) -> Tensor:
        return self.latents.scaled(points.to(torch.get_default_dtype()))

    def _drawn(self, sprites: Tensor, stacked: bool, out: Tensor | None = None) -> Tensor:
        assert self.raster != "smooth"
        return draw(
            sprites, self.side, shapes=self.latents.shapes, raster=self.raster, largest=self.latents.largest,
            stacked=stacked, out=out,
        )  # fmt: skip


@lru_cache(maxsize=1)
def kept_pictures(task: SpriteTask, device: torch.device) -> Tensor | None:
    """All pictures of a training set, drawn once; None where a GPU has no room for them."""
    assert task.samples is not None
    size = task.samples * task.side**2 * COLOURS * torch.get_default_dtype().itemsize
    if device.type == "cuda" and size > torch.cuda.mem_get_info(device)[0] // 4:
        return None
    places = torch.arange(task.samples, device=device)
    return torch.cat([task.pictures(task.sample(part)) for part in places.split(4096)])
