"""Decoders that render each factor onto the pixels before combining them (forced rendering, Liang et al. 2025).

A factor's code becomes pictures of its own; what combines them sees one pixel (or its neighbours) at a time. Whether
the pictures are stripes is left free (`PixelDecoder`, `EmbeddingCNN`), asked for by a penalty, or built in
(`StripeDecoder`). The modules have ``maps()``: for each factor the pictures of its levels, (levels × channels × side ×
side).
"""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description


class PixelDecoder(Description):
    """Codes → linear → ``channels`` pictures → the same small perceptron at every pixel."""

    kind: ClassVar[str] = "pixel-decoder"

    inputs: int = Field(ge=2)
    side: int = Field(default=28, ge=2)
    channels: int = Field(default=4, ge=1)
    hidden: int = Field(default=16, ge=1)

    def __call__(self) -> nn.Module:
        return _Pixels(self)


class _Pixels(nn.Module):
    def __init__(self, of: PixelDecoder) -> None:
        super().__init__()
        self.shape = (of.channels, of.side, of.side)
        self.seed = nn.Linear(of.inputs, math.prod(self.shape))
        self.pixel = _perceptron(of.channels, of.hidden)

    def forward(self, codes: Tensor) -> Tensor:
        pictures = self.seed(codes).unflatten(-1, self.shape)
        out: Tensor = self.pixel(pictures.movedim(1, -1))
        return out.squeeze(-1)

    def maps(self) -> list[Tensor]:
        """Of one-hot codes of two factors: the columns of the linear map as pictures."""
        columns = self.seed.weight.T.unflatten(-1, self.shape)
        return list(columns.chunk(2))


class StripeDecoder(Description):
    """Hard rank-1 rendering: a level of a factor is a profile along its own axis, constant along the others.

    Codes → linear → ``channels`` profiles a factor → broadcast → the same small perceptron at every pixel. It cannot
    do anything else than compose: 1633 parameters at side 28."""

    kind: ClassVar[str] = "stripe-decoder"

    inputs: int = Field(ge=2)
    side: int = Field(default=28, ge=2)
    factors: int = Field(default=2, ge=2)
    channels: int = Field(default=1, ge=1)
    hidden: int = Field(default=16, ge=1)

    def __call__(self) -> nn.Module:
        return _Stripes(self)


class _Stripes(nn.Module):
    def __init__(self, of: StripeDecoder) -> None:
        super().__init__()
        self.side, self.factors, self.channels = of.side, of.factors, of.channels
        size = of.inputs // of.factors
        self.profiles = nn.ModuleList(nn.Linear(size, of.channels * of.side, bias=False) for _ in range(of.factors))
        self.pixel = _perceptron(of.factors * of.channels, of.hidden)

    def forward(self, codes: Tensor) -> Tensor:
        parts = codes.chunk(self.factors, dim=-1)
        pictures = []
        for k, (profile, part) in enumerate(zip(self.profiles, parts, strict=True)):
            shape = [1] * self.factors
            shape[self.factors - 1 - k] = self.side
            lines = profile(part).unflatten(-1, (self.channels, *shape))
            pictures.append(lines.expand(*lines.shape[:2], *[self.side] * self.factors))
        out: Tensor = self.pixel(torch.cat(pictures, dim=1).movedim(1, -1))
        return out.squeeze(-1)

    def maps(self) -> list[Tensor]:
        """Of one-hot codes of two factors: x as vertical, y as horizontal stripes."""
        x, y = (p.weight.T.unflatten(-1, (self.channels, self.side)) for p in self.profiles)  # type: ignore[operator]
        square = (*x.shape, self.side)
        return [x[:, :, None, :].expand(square), y[:, :, :, None].expand(square)]


class EmbeddingCNN(Description):
    """The paper's embedding network: E_x(i) = Σ_k λ_ik u_ik v_ikᵀ with unit u, v, the same for y; two channels → CNN.

    ``layers`` × (PReLU, ConvT 2→2, 3×3), PReLU, ConvT 2→1: 133 218 parameters at side 32. One-hot codes of two factors
    choose (or mix) the levels. λ ~ N(0, 1/side); nothing makes the terms orthogonal unless a penalty does. ``start``
    says how long the u and v are before they are normalised, which is how slowly they turn: "standard" draws them from
    N(0, 1), "small" from N(0, 1/side)."""

    kind: ClassVar[str] = "embedding-cnn"

    side: int = Field(default=32, ge=2)
    terms: int | None = Field(default=None, ge=1)
    """Terms of each level's sum; None: as many as the side."""
    layers: int = Field(default=2, ge=0)
    start: Literal["standard", "small"] = "standard"

    def __call__(self) -> nn.Module:
        return _Embedding(self)


class _Embedding(nn.Module):
    def __init__(self, of: EmbeddingCNN) -> None:
        super().__init__()
        side, terms = of.side, of.terms or of.side
        self.strength = nn.Parameter(torch.randn(2, side, terms) / math.sqrt(side))
        length = 1 / math.sqrt(side) if of.start == "small" else 1.0
        self.rows = nn.Parameter(length * torch.randn(2, side, terms, side))
        self.columns = nn.Parameter(length * torch.randn(2, side, terms, side))
        parts: list[nn.Module] = []
        for i in range(of.layers + 1):
            parts += [nn.PReLU(), _Neighbours(2, 2 if i < of.layers else 1)]
        self.cnn = nn.Sequential(*parts)

    def tables(self) -> Tensor:
        """(factors × levels × side × side)."""
        return low_rank(self.strength, self.rows, self.columns)

    def forward(self, codes: Tensor) -> Tensor:
        chosen = torch.stack(codes.chunk(2, dim=-1), dim=1)
        pictures = torch.einsum("bfl,flrc->bfrc", chosen, self.tables())
        out: Tensor = self.cnn(pictures)
        return out.squeeze(1)

    def maps(self) -> list[Tensor]:
        return [table[:, None] for table in self.tables()]


class _Neighbours(nn.Module):
    """A 3 × 3 convolution as one product of matrices over windows: with two channels that stacks, a convolution does
    not.

    Its weights start as those of a transposed convolution, which at stride 1 is a convolution with the kernel
    turned."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        like = nn.ConvTranspose2d(inputs, outputs, 3, padding=1)
        self.weight = nn.Parameter(like.weight.detach().flip(2, 3).transpose(0, 1).flatten(1).T.clone())
        self.bias = nn.Parameter(like.bias.detach())  # type: ignore[union-attr]

    def forward(self, pictures: Tensor) -> Tensor:
        side = pictures.shape[-1]
        padded = nn.functional.pad(pictures, (1, 1, 1, 1))
        shifted = [padded[:, :, r : r + side, c : c + side] for r in range(3) for c in range(3)]
        windows = torch.stack(shifted, dim=2).flatten(1, 2)
        out: Tensor = torch.einsum("bwrc,wo->borc", windows, self.weight)
        return out + self.bias[:, None, None]


def low_rank(strength: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Σ_k λ_k û_k v̂_kᵀ for strengths (… × terms) and vectors (… × terms × side), normalised as they are used."""
    rows = rows / rows.norm(dim=-1, keepdim=True)
    columns = columns / columns.norm(dim=-1, keepdim=True)
    return (strength[..., None] * rows).transpose(-1, -2) @ columns


def _perceptron(inputs: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 1))
