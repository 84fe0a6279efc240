"""A small transformer from a sequence to a sequence (Vaswani et al. 2017), written so that it stacks.

Layer norm before each part, learned places, and scores softmax(q·k/√d) as plain products. It is called like `Seq2Seq`.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.models.seq2seq import embed

FAR = 1e9


class Transformer(Description):
    """(words, previous) → scores of each of ``tokens`` at each place of the answer, each seeing only what is before
    it."""

    kind: ClassVar[str] = "transformer"

    words: int = Field(default=13, ge=1)
    tokens: int = Field(default=7, ge=1)
    width: int = Field(default=32, ge=2)
    heads: int = Field(default=2, ge=1)
    layers: int = Field(default=2, ge=1)
    longest: int = Field(default=64, ge=1)
    """The longest sequence that has learned places."""

    def __call__(self) -> nn.Module:
        return _Transformer(self)


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor, memory: Tensor, hidden: Tensor) -> Tensor:
        """``hidden`` (… × places of x × places of memory) is 1 where x must not look."""
        q, k, v = (self._heads(part) for part in (self.query(x), self.key(memory), self.value(memory)))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) - FAR * hidden[:, None]
        return self.out((torch.softmax(scores, -1) @ v).transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    def _heads(self, x: Tensor) -> Tensor:
        return x.reshape(*x.shape[:-1], self.heads, -1).transpose(1, 2)


class _Layer(nn.Module):
    def __init__(self, width: int, heads: int, reads: bool) -> None:
        super().__init__()
        self.own, self.own_norm = _Attention(width, heads), nn.LayerNorm(width)
        self.read = _Attention(width, heads) if reads else None
        self.read_norm = nn.LayerNorm(width) if reads else None
        inner = nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)
        self.dense = nn.Sequential(nn.LayerNorm(width), *inner)

    def forward(self, x: Tensor, hidden: Tensor, memory: Tensor | None = None, away: Tensor | None = None) -> Tensor:
        normed = self.own_norm(x)
        x = x + self.own(normed, normed, hidden)
        if self.read is not None and self.read_norm is not None and memory is not None and away is not None:
            x = x + self.read(self.read_norm(x), memory, away)
        return x + self.dense(x)  # type: ignore[no-any-return]


class _Transformer(nn.Module):
    def __init__(self, of: Transformer) -> None:
        super().__init__()
        scale = 1 / math.sqrt(of.width)
        self.word = nn.Parameter(torch.randn(of.words + 1, of.width) * scale)
        self.token = nn.Parameter(torch.randn(of.tokens + 1, of.width) * scale)
        self.place = nn.Parameter(torch.randn(2, of.longest, of.width) * scale)
        self.encoder = nn.ModuleList(_Layer(of.width, of.heads, reads=False) for _ in range(of.layers))
        self.decoder = nn.ModuleList(_Layer(of.width, of.heads, reads=True) for _ in range(of.layers))
        self.norm, self.output = nn.LayerNorm(of.width), nn.Linear(of.width, of.tokens)

    def forward(self, words: Tensor, previous: Tensor) -> Tensor:
        gone = (words == 0).to(self.word.dtype)[:, None]
        memory = embed(words, self.word) + self.place[0, : words.shape[1]]
        for layer in self.encoder:
            memory = layer(memory, gone)
        length = previous.shape[1]
        later = torch.ones(length, length, device=words.device, dtype=self.word.dtype).triu(1)[None]
        x = embed(previous, self.token) + self.place[1, :length]
        for layer in self.decoder:
            x = layer(x, later, memory, gone)
        return self.output(self.norm(x))  # type: ignore[no-any-return]
