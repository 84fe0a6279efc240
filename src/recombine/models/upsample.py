"""The sprite decoder of Wiedemer et al. (2023): a perceptron onto 4 × 4 cells, then bilinear doublings and 2 × 2
kernels.

Doubling and the kernel after it are one linear map, Y = Σ_st (S_s U) (X W_st) (S_t U)ᵀ: U interpolates along an axis,
S shifts by one cell, W_st is the kernel at offset (s, t). So the kernel is applied at the low resolution, where it
costs a quarter, and one constant matrix along each axis does the rest. Rows, columns, examples and channels lie in
this order, so that every product is one large one, and stacked members make batched products instead of grouped
convolutions.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError
from recombine.tasks.draws import can_compile

SEED = 4
"""The side of the picture that the perceptron draws."""


class Upsampler(Description):
    """Latents (batch × inputs) → three hidden layers → 4 × 4 × ``channels`` → doublings up to ``side`` → (batch ×
    side² × outputs).

    ELU everywhere and no activation at the end. With all latents and three outputs it is the paper's *monolithic* model
    (``inputs=10, hidden=320, channels=64``); with those of one sprite, the component network of the compositional
    one."""

    kind: ClassVar[str] = "upsampler"

    inputs: int = Field(ge=1)
    outputs: int = Field(default=3, ge=1)
    side: int = Field(default=64, ge=2 * SEED)
    hidden: int = Field(default=256, ge=1)
    channels: int = Field(default=32, ge=1)
    depth: int = Field(default=3, ge=1)
    ranges: tuple[tuple[float, float], ...] | None = None
    """Lowest and highest value of each latent, which then enters from −1 to 1; None takes latents as they are."""

    def __call__(self) -> nn.Module:
        if self.ranges is not None and len(self.ranges) != self.inputs:
            raise InputError(f"{self.inputs} latents need as many ranges, got {len(self.ranges)}.")
        if self.side & (self.side - 1):
            raise InputError(f"doubling {SEED} cells gives a side of 8, 16, 32 …, not {self.side}.")
        return _Upsampler(self)


class _Upsampler(nn.Module):
    def __init__(self, of: Upsampler) -> None:
        super().__init__()
        layers: list[nn.Module] = [_Centred(of.ranges)] if of.ranges is not None else []
        width = of.inputs
        for _ in range(of.depth):
            layers += [nn.Linear(width, of.hidden), nn.ELU()]
            width = of.hidden
        layers.append(nn.Linear(width, SEED**2 * of.channels))
        self.perceptron = nn.Sequential(*layers)
        doublings = int(math.log2(of.side // SEED))
        steps: list[nn.Module] = []
        for i in range(doublings):
            outputs = of.channels if i < doublings - 1 else of.outputs
            steps += [nn.ELU(), DoubleAndConvolve(SEED * 2**i, of.channels, outputs)]
        self.doublings = nn.Sequential(*steps)
        self.channels = of.channels

    def forward(self, latents: Tensor) -> Tensor:
        seed = self.perceptron(latents).unflatten(-1, (SEED, SEED, self.channels)).movedim(0, 2)
        cells: Tensor = self._in_programs(seed) if _has_programs(seed) else self.doublings(seed)
        return cells.flatten(0, 1).movedim(1, 0)

    def _in_programs(self, seed: Tensor) -> Tensor:
        from recombine.models.upsample_gpu import doublings

        return doublings(seed, list(self.doublings.parameters()))


def _has_programs(seed: Tensor) -> bool:
    return seed.is_cuda and seed.dtype == torch.float32 and can_compile()


class _Centred(nn.Module):
    """Each latent from its range to −1 … 1; one that does not vary becomes 0."""

    middle: Tensor
    factor: Tensor

    def __init__(self, ranges: tuple[tuple[float, float], ...]) -> None:
        super().__init__()
        low, high = torch.tensor(ranges).T
        self.register_buffer("middle", (low + high) / 2)
        self.register_buffer("factor", torch.where(high > low, 2 / (high - low).clamp(min=1e-12), 0.0))

    def forward(self, latents: Tensor) -> Tensor:
        return (latents - self.middle) * self.factor


class DoubleAndConvolve(nn.Module):
    """Bilinear doubling with aligned corners, then a convolution with a 2 × 2 kernel and one row and column of zeros at
    the end: (side × side × batch × inputs) → (2 side × 2 side × batch × outputs). Initialised as ``nn.Conv2d``."""

    along: Tensor

    def __init__(self, side: int, inputs: int, outputs: int) -> None:
        super().__init__()
        self.side, self.inputs, self.outputs = side, inputs, outputs
        like = nn.Conv2d(inputs, outputs, 2)
        # (outputs × inputs × s × t) → (inputs × s × t × outputs): one product gives all four offsets
        self.weight = nn.Parameter(like.weight.detach().permute(1, 2, 3, 0).flatten(1).contiguous())
        self.bias = nn.Parameter(like.bias.detach())  # type: ignore[union-attr]
        self.register_buffer("along", doubling(side))

    def forward(self, cells: Tensor) -> Tensor:
        side, batch = self.side, cells.shape[2]
        # Row by row: the weight's gradient is then many short sums, which run side by side, instead of one long one.
        offsets = torch.bmm(cells.flatten(1, 2), self.weight.expand(side, -1, -1))
        offsets = offsets.reshape(side, side, batch, 2, 2, self.outputs)
        rows = offsets.permute(3, 0, 4, 1, 2, 5).reshape(2 * side, -1)
        columns = (self.along @ rows).reshape(2 * side, 2 * side, batch * self.outputs)
        out: Tensor = (self.along @ columns).reshape(2 * side, 2 * side, batch, self.outputs)
        return out + self.bias


def doubling(side: int) -> Tensor:
    """(2n × 2n): [U, S U] side by side, where U (2n × n) interpolates n values at 2n places from end to end and S moves
    everything one place up, zeros at the end."""
    places = torch.arange(2 * side, dtype=torch.float64) * (side - 1) / (2 * side - 1)
    hats = (1 - (places[:, None] - torch.arange(side, dtype=torch.float64)).abs()).clamp(min=0)
    moved = torch.cat([hats[1:], torch.zeros(1, side, dtype=torch.float64)])
    return torch.cat([hats, moved], dim=1).to(torch.get_default_dtype())
