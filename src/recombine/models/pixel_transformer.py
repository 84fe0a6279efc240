"""A transformer whose tokens are pixels: the code is added to every position, attention mixes them (Liang et al.
2025)."""

from __future__ import annotations

from collections import OrderedDict
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError
from recombine.models.coordinate import sinusoids


class PixelTransformer(Description):
    """side² tokens: linear(code) + sinusoidal position → ``depth`` encoder layers → one number a token.

    Layers as PyTorch's default: attention, add and norm, feed-forward (ReLU), add and norm. The paper has dimension
    128, 4 heads, 2048 units and dropout .1; without dropout members can be stacked. ``shuffled``: codes of positions
    are dealt to pixels at random, alike in every network, so that they name a pixel and not where it is."""

    kind: ClassVar[str] = "pixel-transformer"

    inputs: int = Field(ge=1)
    side: int = Field(default=28, ge=2)
    dim: int = Field(default=128, ge=4, multiple_of=4)
    depth: int = Field(default=2, ge=1)
    heads: int = Field(default=4, ge=1)
    feed_forward: int = Field(default=2048, ge=1)
    shuffled: bool = False

    def __call__(self) -> nn.Module:
        if self.dim % self.heads:
            raise InputError(f"{self.heads} heads cannot share {self.dim} numbers.")
        return _PixelTokens(self)


class _PixelTokens(nn.Module):
    positions: Tensor

    def __init__(self, of: PixelTransformer) -> None:
        super().__init__()
        self.side = of.side
        self.context = nn.Linear(of.inputs, of.dim)
        self.layers = nn.Sequential(OrderedDict((f"layer_{i}", _Layer(of)) for i in range(1, of.depth + 1)))
        self.readout = nn.Linear(of.dim, 1)
        positions = sinusoids(of.side, of.dim)
        dealt = torch.randperm(of.side**2, generator=torch.Generator().manual_seed(0))
        self.register_buffer("positions", positions[dealt] if of.shuffled else positions)

    def forward(self, codes: Tensor) -> Tensor:
        tokens = self.context(codes)[:, None, :] + self.positions
        out: Tensor = self.readout(self.layers(tokens)).squeeze(-1).unflatten(-1, (self.side, self.side))
        return out


class _Layer(nn.Module):
    def __init__(self, of: PixelTransformer) -> None:
        super().__init__()
        self.heads = of.heads
        self.queries = nn.Linear(of.dim, 3 * of.dim)
        self.mix = nn.Linear(of.dim, of.dim)
        self.norm_1, self.norm_2 = nn.LayerNorm(of.dim), nn.LayerNorm(of.dim)
        self.feed = nn.Sequential(nn.Linear(of.dim, of.feed_forward), nn.ReLU(), nn.Linear(of.feed_forward, of.dim))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.queries(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(-1)
        x = self.norm_1(x + self.mix((weights @ v).transpose(1, 2).flatten(2)))
        out: Tensor = self.norm_2(x + self.feed(x))
        return out
