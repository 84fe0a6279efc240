"""A small Vision Transformer (Dosovitskiy et al. 2021) with a class token."""

from __future__ import annotations

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError


class ViT(Description):
    """Patches → linear → class token and positions → ``depth`` blocks of attention and MLP → ``outputs``.

    The defaults are those of Lippl & Stachenfeld (2025) for CIFAR: 2.21 million parameters at 6 × 32 × 32. The layers
    of the module it builds are ``embed``, ``blocks.0``, …, ``norm`` and ``readout``."""

    kind: ClassVar[str] = "vit"

    shape: tuple[int, int, int]
    patch: int = Field(default=8, ge=1)
    dim: int = Field(default=256, ge=1)
    depth: int = Field(default=4, ge=1)
    heads: int = Field(default=6, ge=1)
    head_dim: int = Field(default=64, ge=1)
    mlp: int = Field(default=256, ge=1)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    outputs: int = Field(default=1, ge=1)

    def __call__(self) -> nn.Module:
        if self.shape[1] % self.patch or self.shape[2] % self.patch:
            raise InputError(f"images of {self.shape[1]} × {self.shape[2]} cannot be cut into patches of {self.patch}.")
        return _Transformer(self)


class _Transformer(nn.Module):
    def __init__(self, of: ViT) -> None:
        super().__init__()
        channels, height, width = of.shape
        self.patch = of.patch
        pixels = channels * of.patch**2
        self.embed = nn.Sequential(nn.LayerNorm(pixels), nn.Linear(pixels, of.dim), nn.LayerNorm(of.dim))
        patches = (height // of.patch) * (width // of.patch)
        self.token = nn.Parameter(torch.randn(1, of.dim))
        self.positions = nn.Parameter(torch.randn(patches + 1, of.dim))
        self.drop = nn.Dropout(of.dropout)
        self.blocks = nn.Sequential(*(_Block(of) for _ in range(of.depth)))
        self.norm = nn.LayerNorm(of.dim)
        self.readout = nn.Linear(of.dim, of.outputs)

    def forward(self, x: Tensor) -> Tensor:
        batch, channels, height, width = x.shape
        side = self.patch
        cut = x.reshape(batch, channels, height // side, side, width // side, side)
        patches = cut.permute(0, 2, 4, 3, 5, 1).reshape(batch, -1, side * side * channels)
        tokens = torch.cat([self.token.expand(batch, 1, -1), self.embed(patches)], dim=1)
        out: Tensor = self.readout(self.norm(self.blocks(self.drop(tokens + self.positions))[:, 0]))
        return out


class _Block(nn.Module):
    """x + attention(norm x), then x + mlp(norm x)."""

    def __init__(self, of: ViT) -> None:
        super().__init__()
        self.heads = of.heads
        inner = of.heads * of.head_dim
        self.before = nn.LayerNorm(of.dim)
        self.queries = nn.Linear(of.dim, 3 * inner, bias=False)
        self.mix = nn.Sequential(nn.Linear(inner, of.dim), nn.Dropout(of.dropout))
        self.weigh = nn.Dropout(of.dropout)
        self.mlp = nn.Sequential(
            nn.LayerNorm(of.dim),
            nn.Linear(of.dim, of.mlp),
            nn.GELU(),
            nn.Dropout(of.dropout),
            nn.Linear(of.mlp, of.dim),
            nn.Dropout(of.dropout),
        )

    def forward(self, x: Tensor) -> Tensor:
        batch, count, _ = x.shape
        q, k, v = self.queries(self.before(x)).reshape(batch, count, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = self.weigh(torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, dim=-1))
        x = x + self.mix((weights @ v).transpose(1, 2).reshape(batch, count, -1))
        out: Tensor = x + self.mlp(x)
        return out
