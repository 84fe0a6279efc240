"""The reverse task: from the picture of a bump to the code of its coordinates (the paper's encoder experiments)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.space import FactorSpace
from recombine.support import Support
from recombine.tasks.bumps import BumpTask
from recombine.tasks.draws import Draws
from recombine.tasks.encodings import Fourier, Ramp
from recombine.tasks.task import Inputs, Task


class BumpReading(Description, Task):
    """``of`` the other way round: pictures (1 × side × side) in, codes out. ``read`` means both within half a place."""

    kind: ClassVar[str] = "bump reading"

    of: BumpTask

    def model_post_init(self, _context: object) -> None:
        if isinstance(self.of.encoding, Fourier):
            raise InputError("a Fourier code is not read back to a place here; use one-hot, population or ramp codes.")

    @cached_property
    def space(self) -> FactorSpace:
        return self.of.space

    @cached_property
    def train(self) -> Support:
        return self.of.train

    @cached_property
    def test(self) -> Support:
        return self.of.test

    def examples(self, points: Tensor, draws: Draws) -> tuple[Inputs, Tensor]:
        codes, pictures = self.of.examples(points, draws)
        assert isinstance(codes, Tensor)
        return pictures.unsqueeze(-1 - self.of.factors), codes

    def batch(self, draws: Draws, size: int) -> tuple[Inputs, Tensor]:
        codes, pictures = self.of.batch(draws, size)
        assert isinstance(codes, Tensor)
        return pictures.unsqueeze(-1 - self.of.factors), codes

    def whole(self, device: torch.device | str = "cpu") -> tuple[Inputs, Tensor]:
        codes, pictures = self.of.whole(device)
        assert isinstance(codes, Tensor)
        return pictures.unsqueeze(-1 - self.of.factors), codes

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs - targets).square().mean(-1)

    def places(self, codes: Tensor) -> Tensor:
        """Where a code points (… × factors): its value, or its largest entry."""
        parts: Tensor = codes.unflatten(-1, (self.of.factors, -1))
        encoding = self.of.encoding
        if isinstance(encoding, Ramp):
            return parts[..., 0] * (self.of.side if encoding.scaled else 1)
        return parts.argmax(-1).to(codes.dtype)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        far = (self.places(outputs) - self.places(targets)).abs()
        return {"read": (far <= 0.5).all(-1).to(outputs.dtype)}
