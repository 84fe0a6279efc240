"""A coordinate network: the picture as a function of the pixel's place, conditioned on the code (Liang et al. 2025).

The paper's “spatial-aware MLP” — it composes with neither stripes nor a penalty.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError


class CoordinateNetwork(Description):
    """At every pixel: (linear(code), position) → ``depth`` × (linear, PReLU) → one number.

    ``width`` numbers of context and as many of a fixed sinusoidal position are concatenated; the paper has 128 and 128.
    Layers are ``context``, ``mix_1``, ``act_1`` …, ``readout``."""

    kind: ClassVar[str] = "coordinate-network"

    inputs: int = Field(ge=1)
    side: int = Field(default=28, ge=2)
    width: int = Field(default=128, ge=4, multiple_of=4)
    depth: int = Field(default=2, ge=1)

    def __call__(self) -> nn.Module:
        return _Coordinate(self)


class _Coordinate(nn.Module):
    positions: Tensor

    def __init__(self, of: CoordinateNetwork) -> None:
        super().__init__()
        self.side = of.side
        self.context = nn.Linear(of.inputs, of.width)
        # The first layer of a concatenation is a sum of two: the position's half is computed once for all examples.
        both = nn.Linear(2 * of.width, 2 * of.width)
        self.mix_1 = nn.Linear(of.width, 2 * of.width)
        self.place = nn.Linear(of.width, 2 * of.width, bias=False)
        with torch.no_grad():
            self.mix_1.weight.copy_(both.weight[:, : of.width])
            self.mix_1.bias.copy_(both.bias)
            self.place.weight.copy_(both.weight[:, of.width :])
        layers: OrderedDict[str, nn.Module] = OrderedDict(act_1=nn.PReLU())
        for i in range(2, of.depth + 1):
            layers[f"mix_{i}"], layers[f"act_{i}"] = nn.Linear(2 * of.width, 2 * of.width), nn.PReLU()
        self.layers = nn.Sequential(layers)
        self.readout = nn.Linear(2 * of.width, 1)
        self.register_buffer("positions", sinusoids(of.side, of.width))

    def forward(self, codes: Tensor) -> Tensor:
        mixed = self.mix_1(self.context(codes))[:, None, :] + self.place(self.positions)
        out: Tensor = self.readout(self.layers(mixed)).squeeze(-1).unflatten(-1, (self.side, self.side))
        return out


def sinusoids(side: int, width: int) -> Tensor:
    """Fixed positions (side² × width) of pixels, row by row: half of the numbers for the column, half for the row."""
    if width % 4:
        raise InputError(f"positions in two dimensions have sines and cosines of both: {width} is not a multiple of 4.")
    quarter = width // 4
    speeds = torch.exp(-math.log(10_000.0) * torch.arange(quarter) / max(quarter, 1))
    angles = torch.arange(side)[:, None] * speeds
    line = torch.cat([angles.sin(), angles.cos()], dim=-1)
    columns = line[None, :, :].expand(side, side, -1)
    return torch.cat([columns, columns.transpose(0, 1)], dim=-1).reshape(side * side, width)
