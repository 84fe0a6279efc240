"""A small BERT (Devlin et al. 2019) over words, written so that it stacks: one vector per sentence, read at [CLS].

Layer norm stands before each part instead of after it, which trains without a warm-up; scores softmax(q·k/√d) are plain
products.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError
from recombine.models.seq2seq import embed

FAR = 1e9
SMALL_TABLE = 512
"""Words of a table that is still read by a product; a larger one is indexed."""


class WordEncoder(Description):
    """Numbers of words (sentences × places, 0 where the sentence has ended) → ``width`` numbers, or ``outputs`` where
    given. With ``masked_words`` it gives scores of every word at every place instead, through its own word table.

    BERT-small is ``layers=4, width=512, heads=8``. The parts of layer i are ``layers.i.query``, ``.key``, ``.value``,
    ``.mix``, ``.up`` and ``.down``; words and places are ``word`` and ``place``."""

    kind: ClassVar[str] = "word encoder"

    words: int = Field(ge=2)
    width: int = Field(default=32, ge=2)
    heads: int = Field(default=4, ge=1)
    layers: int = Field(default=2, ge=1)
    inner: int | None = Field(default=None, ge=1)
    """Units between ``up`` and ``down``; by default four times the width."""
    longest: int = Field(default=16, ge=1)
    outputs: int | None = Field(default=None, ge=1)
    masked_words: bool = False

    def model_post_init(self, _context: Any) -> None:
        if self.width % self.heads:
            raise InputError(f"{self.heads} heads cannot share a width of {self.width} evenly.")
        if self.masked_words and self.outputs is not None:
            raise InputError("masked words are answered with scores of words; leave outputs out.")

    def __call__(self) -> nn.Module:
        return _Encoder(self)


class _Layer(nn.Module):
    """x + attention(norm x), then x + down(gelu(up(norm x)))."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.mix = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x: Tensor, gone: Tensor, places: int | None = None) -> Tensor:
        """What the first ``places`` become, or all."""
        normed = self.before(x)
        k, v = (self._heads(part(normed)) for part in (self.key, self.value))
        x, q = x[:, :places], self._heads(self.query(normed[:, :places]))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) - FAR * gone
        x = x + self.mix((torch.softmax(scores, -1) @ v).transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.between(x))))  # type: ignore[no-any-return]

    def _heads(self, x: Tensor) -> Tensor:
        return x.reshape(*x.shape[:-1], self.heads, -1).transpose(1, 2)


class _Encoder(nn.Module):
    def __init__(self, of: WordEncoder) -> None:
        super().__init__()
        scale = 1 / math.sqrt(of.width)
        self.word = nn.Parameter(torch.randn(of.words, of.width) * scale)
        self.place = nn.Parameter(torch.randn(of.longest, of.width) * scale)
        inner = of.inner if of.inner is not None else 4 * of.width
        self.layers = nn.ModuleList(_Layer(of.width, of.heads, inner) for _ in range(of.layers))
        self.norm = nn.LayerNorm(of.width)
        self.readout = nn.Linear(of.width, of.outputs) if of.outputs is not None else nn.Identity()
        self.speaks = of.masked_words

    def forward(self, words: Tensor) -> Tensor:
        x: Tensor = self._embedded(words) + self.place[: words.shape[1]]
        gone = (words == 0).to(x.dtype)[:, None, None, :]
        for i, layer in enumerate(self.layers, 1):
            # Of the last layer nothing but the first place is read, unless all are spoken at.
            x = layer(x, gone, 1 if i == len(self.layers) and not self.speaks else None)
        x = self.norm(x)
        if self.speaks:
            return torch.matmul(x, self.word.T)
        out: Tensor = self.readout(x[:, 0])
        return out

    def _embedded(self, words: Tensor) -> Tensor:
        if len(self.word) <= SMALL_TABLE:
            return embed(words, self.word)
        return nn.functional.embedding(words, self.word)
