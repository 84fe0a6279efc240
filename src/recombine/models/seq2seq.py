"""From a sequence to a sequence: a bidirectional LSTM encoder and an LSTM decoder with attention.

The recurrence is written as matrix products, i, f, o, g = x W + h U + b; c ← σ(f + 1) c + σ(i) tanh g; h = σ(o) tanh c,
unrolled over the longest sequence with masks, because ``nn.LSTM`` cannot be vmapped. What does not depend on the state
(embeddings, attention, output) is done for all steps at once.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description


class Seq2Seq(Description):
    """The network of Li et al. (2020, appendix B): embedding 32, 16 units a direction, decoder 64, attention.

    Called with (words, previous): numbers of words (batch × n, 0 where the sequence has ended) and the tokens before
    each token of the answer (batch × m); gives a score for each of ``tokens`` at each place (batch × m × tokens). The
    encoder's first and last outputs side by side are the decoder's first state. Which attention is not said in the
    paper: here a learned dot product between decoder state and encoder outputs (Luong et al. 2015), whose result
    joins the state before the output."""

    kind: ClassVar[str] = "seq2seq"

    words: int = Field(default=13, ge=1)
    tokens: int = Field(default=7, ge=1)
    """Tokens that can be answered; one more, the start, can stand before."""
    embedding: int = Field(default=32, ge=1)
    encoder: int = Field(default=16, ge=1)

    def __call__(self) -> nn.Module:
        return _Seq2Seq(self.words + 1, self.tokens, self.embedding, self.encoder)


class _Cell(nn.Module):
    """An LSTM's weights; with ``directions`` of them side by side."""

    def __init__(self, directions: int, inputs: int, units: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(units)
        self.inner = nn.Parameter(torch.empty(directions, inputs, 4 * units).uniform_(-bound, bound))
        self.state = nn.Parameter(torch.empty(directions, units, 4 * units).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(directions, 1, 4 * units))

    def project(self, x: Tensor) -> Tensor:
        """What the inputs (directions × rows × inputs) add to the gates, for all steps at once."""
        return x @ self.inner + self.bias

    def step(self, gates: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        gates = gates + hidden @ self.state
        i, f, o, g = gates.chunk(4, -1)
        cell = torch.sigmoid(f + 1) * cell + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(cell), cell


class _Seq2Seq(nn.Module):
    def __init__(self, words: int, tokens: int, embedding: int, encoder: int) -> None:
        super().__init__()
        decoder = 4 * encoder
        self.word = nn.Parameter(torch.randn(words, embedding) / math.sqrt(embedding))
        self.token = nn.Parameter(torch.randn(tokens + 1, embedding) / math.sqrt(embedding))
        self.encoder = _Cell(2, embedding, encoder)
        self.decoder = _Cell(1, embedding, decoder)
        self.query = nn.Linear(decoder, 2 * encoder)
        self.mix = nn.Linear(decoder + 2 * encoder, decoder)
        self.output = nn.Linear(decoder, tokens)

    def forward(self, words: Tensor, previous: Tensor) -> Tensor:
        there = (words > 0).to(self.word.dtype)
        outputs, first, last = self._encode(words, there)
        state = torch.cat([first, last], -1)
        states = self._decode(previous, state)
        scores = self.query(states) @ outputs.transpose(1, 2)
        scores = scores + (there[:, None, :] - 1) * 1e9
        context = torch.softmax(scores, -1) @ outputs
        return self.output(torch.tanh(self.mix(torch.cat([states, context], -1))))  # type: ignore[no-any-return]

    def _encode(self, words: Tensor, there: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Outputs (batch × n × 2 units), and those at the first and at the last word."""
        embedded = embed(words, self.word)
        both = torch.stack([embedded, embedded.flip(1)])
        gates = self.encoder.project(both.flatten(1, 2)).unflatten(1, words.shape)
        mask = torch.stack([there, there.flip(1)])[..., None]
        hidden = cell = torch.zeros_like(gates[:, :, 0, : gates.shape[-1] // 4])
        states = []
        for t in range(words.shape[1]):
            new_hidden, new_cell = self.encoder.step(gates[:, :, t], hidden, cell)
            # Before the first word of the reversed sequence and after the last one nothing happens.
            hidden = hidden + mask[:, :, t] * (new_hidden - hidden)
            cell = cell + mask[:, :, t] * (new_cell - cell)
            states.append(hidden)
        forward, backward = torch.stack(states, 2).unbind(0)
        backward = backward.flip(1)
        # The forward state after the last word is its output there; the backward one there has seen that word alone.
        at_last = there - torch.cat([there[:, 1:], torch.zeros_like(there[:, :1])], 1)
        last = torch.cat([forward[:, -1], (backward * at_last[..., None]).sum(1)], -1)
        outputs = torch.cat([forward, backward], -1)
        return outputs, outputs[:, 0], last

    def _decode(self, previous: Tensor, state: Tensor) -> Tensor:
        gates = self.decoder.project(embed(previous, self.token).flatten(0, 1)[None])[0].unflatten(0, previous.shape)
        hidden = cell = state[None]
        states = []
        for t in range(previous.shape[1]):
            hidden, cell = self.decoder.step(gates[None, :, t], hidden, cell)
            states.append(hidden[0])
        return torch.stack(states, 1)


def embed(numbers: Tensor, table: Tensor) -> Tensor:
    """Rows of a small table. A product with indicators: the gradient of indexing adds row by row, and slowly."""
    return (numbers[..., None] == torch.arange(len(table), device=numbers.device)).to(table.dtype) @ table
