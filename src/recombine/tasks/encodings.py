"""How the value of a factor is handed to a network: one-hot, population, ramp, Fourier — and what *absent* looks like.

An encoding turns values (…) of a factor with ``side`` places into codes (… × ``size(side)``). A negative value means
that the factor is absent; each encoding says which code that is, and no value has the same one. All but one-hot codes
are defined, and can be differentiated, between the places too.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description


class Encoding(Description):
    """What every encoding has."""

    kind: ClassVar[str]
    smooth: ClassVar[bool] = True
    """Whether values between the places have a code."""

    def size(self, side: int) -> int:
        """How many numbers a code has."""
        raise TypeError(f"{type(self).__name__} has no size")

    def __call__(self, values: Tensor, side: int) -> Tensor:
        """Codes (… × size) of values (…)."""
        present = self.code(values.to(torch.get_default_dtype()) if not values.is_floating_point() else values, side)
        return torch.where((values < 0)[..., None], present.new_full((), self.absent(side)), present)

    def code(self, values: Tensor, side: int) -> Tensor:
        raise TypeError(f"{type(self).__name__} has no code")

    def absent(self, side: int) -> float:
        """Every number of the code of an absent factor."""
        return 0.0


class OneHot(Encoding):
    """code_k = 1[k = value]; absent: all zero."""

    kind: ClassVar[str] = "one-hot"
    smooth: ClassVar[bool] = False

    def size(self, side: int) -> int:
        return side

    def code(self, values: Tensor, side: int) -> Tensor:
        return (values[..., None] == torch.arange(side, device=values.device)).to(values.dtype)


class Population(Encoding):
    """code_k = exp(−(k − value)² / 2 width²), the paper's bump code; absent: all zero."""

    kind: ClassVar[str] = "population"

    width: float = Field(default=1.0, gt=0)

    def size(self, side: int) -> int:
        return side

    def code(self, values: Tensor, side: int) -> Tensor:
        places = torch.arange(side, device=values.device, dtype=values.dtype)
        return torch.exp(-0.5 * ((places - values[..., None]) / self.width).square())


class Ramp(Encoding):
    """code = value (raw, as the paper feeds it) or value / side (scaled); absent: −side, or −1 where scaled."""

    kind: ClassVar[str] = "ramp"

    scaled: bool = True

    def size(self, side: int) -> int:
        return 1

    def code(self, values: Tensor, side: int) -> Tensor:
        return values[..., None] / (side if self.scaled else 1)

    def absent(self, side: int) -> float:
        return -1.0 if self.scaled else -float(side)


class Fourier(Encoding):
    """code = (sin, cos)(π k value / side), k = 1 … frequencies; absent: all zero, which no value has.

    The slowest wave has the period 2·side, so that both ends of the range have codes of their own."""

    kind: ClassVar[str] = "fourier"

    frequencies: int = Field(default=6, ge=1)

    def size(self, side: int) -> int:
        return 2 * self.frequencies

    def code(self, values: Tensor, side: int) -> Tensor:
        waves = torch.arange(1, self.frequencies + 1, device=values.device, dtype=values.dtype)
        angle = math.pi / side * values[..., None] * waves
        return torch.cat([angle.sin(), angle.cos()], dim=-1)
