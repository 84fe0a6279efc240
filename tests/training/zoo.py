"""Kinds of module that people train: each takes (batch × 6) numbers and gives (batch × 2)."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import parametrizations

FEATURES, OUT = 6, 2


class Around(nn.Module):
    """A core between two linear maps, called as ``call`` says."""

    def __init__(self, core: nn.Module | None = None, call: Callable[[Any, Tensor], Tensor] | None = None) -> None:
        super().__init__()
        self.first, self.core, self.last = nn.Linear(FEATURES, 8), core, nn.Linear(8, OUT)
        self.call = call

    def forward(self, x: Tensor) -> Tensor:
        inside = torch.tanh(self.first(x))
        inside = self.call(self.core, inside) if self.call is not None else self.inside(inside)
        return self.last(inside)  # type: ignore[no-any-return]

    def inside(self, x: Tensor) -> Tensor:
        return self.core(x) if self.core is not None else x


def sequence(x: Tensor) -> Tensor:
    return x.unflatten(-1, (4, 2))


class Reassigned(Around):
    """A running mean that is a buffer and set to a new tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(8))

    def inside(self, x: Tensor) -> Tensor:
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(0)
        return x - self.mean


class CountedInBuffer(Around):
    """Anneals by a counter that is a buffer and set to a new tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def inside(self, x: Tensor) -> Tensor:
        if self.training:
            self.calls = self.calls + 1
        return x / (1 + self.calls)


class PlainTensor(Around):
    """A tensor that is a plain attribute, drawn for each member and changed in forward."""

    def __init__(self) -> None:
        super().__init__()
        self.direction = torch.randn(8)

    def inside(self, x: Tensor) -> Tensor:
        if self.training:
            self.direction = 0.9 * self.direction + 0.1 * x.detach().mean(0)
        return x * self.direction


class Looked(Around):
    """Leaves what it computed where it can be looked at."""

    def inside(self, x: Tensor) -> Tensor:
        self.seen = torch.softmax(x, -1)
        return self.seen * x


class HiddenDropout(Around):
    def inside(self, x: Tensor) -> Tensor:
        return functional.dropout(x, 0.3, self.training)


class Masked(Around):
    """Makes a mask when it first needs it, and keeps it."""

    mask: Tensor | None = None

    def inside(self, x: Tensor) -> Tensor:
        if self.mask is None:
            self.mask = torch.ones(8, dtype=x.dtype).cumsum(-1) % 2
        return x * self.mask


class Counter(Around):
    """Anneals by a Python number."""

    calls = 0

    def inside(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x / (1 + self.calls)


class SlowCounter(Counter):
    """Whose number changes nothing for long."""

    def inside(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x if self.calls < 1000 else -x


class Remembers(Around):
    """Keeps the last batch in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.last_seen: list[float] = []

    def inside(self, x: Tensor) -> Tensor:
        self.last_seen.append(float(x.detach().mean()))
        return x


class FrozenCache(Around):
    """Keeps a number that it took from its weights once."""

    size: Tensor | None = None

    def inside(self, x: Tensor) -> Tensor:
        if self.size is None:
            self.size = self.first.weight.detach().norm()
        return x * self.size


class GrownBuffer(Reassigned):
    def inside(self, x: Tensor) -> Tensor:
        self.mean = torch.cat([self.mean, self.mean[:1]])
        return x


class Alias(Around):
    """Keeps the numbers of its weight under another name."""

    def __init__(self) -> None:
        super().__init__()
        self.alias = self.first.weight.data


class DrawnSlope(Around):
    """A Python number that the builder draws."""

    def __init__(self, slope: float | None = None) -> None:
        super().__init__(nn.LeakyReLU(float(torch.rand(())) if slope is None else slope))


class Sentences(nn.Module):
    """A tiny BERT of the transformers package: numbers become words, its logits are the answer."""

    def __init__(self) -> None:
        super().__init__()
        from transformers import BertConfig, BertForSequenceClassification

        self.bert = BertForSequenceClassification(
            BertConfig(
                vocab_size=8,
                hidden_size=8,
                num_hidden_layers=1,
                num_attention_heads=2,
                intermediate_size=8,
                max_position_embeddings=8,
                num_labels=OUT,
                hidden_dropout_prob=0.0,
                attention_probs_dropout_prob=0.0,
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.bert(input_ids=(x > 0).long() + 2).logits  # type: ignore[no-any-return]


class Mixture(Around):
    """Experts chosen by a gate; control flow on no value."""

    def __init__(self) -> None:
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
        self.gate = nn.Linear(8, 3)

    def inside(self, x: Tensor) -> Tensor:
        weights = torch.softmax(self.gate(x), -1)
        return sum(weights[:, i, None] * expert(x) for i, expert in enumerate(self.experts))  # type: ignore[return-value]


def unfolded(x: Tensor) -> Tensor:
    return x.unflatten(-1, (2, 2, 2))


def attention(core: Any, x: Tensor) -> Tensor:
    return core(*[sequence(x)] * 3, need_weights=False)[0].flatten(1)  # type: ignore[no-any-return]


ALIKE: dict[str, Callable[[], nn.Module]] = {
    "perceptron": lambda: nn.Sequential(nn.Linear(FEATURES, 8), nn.GELU(), nn.Linear(8, OUT)),
    "prelu": lambda: Around(nn.PReLU()),
    "batch norm": lambda: Around(nn.BatchNorm1d(8, momentum=0.3)),
    "batch norm without statistics": lambda: Around(nn.BatchNorm1d(8, track_running_stats=False)),
    "layer norm": lambda: Around(nn.LayerNorm(8)),
    "group norm": lambda: Around(nn.GroupNorm(2, 8)),
    "instance norm": lambda: Around(nn.InstanceNorm1d(4, affine=True), lambda c, x: c(sequence(x)).flatten(1)),
    "convolution 1d": lambda: Around(nn.Conv1d(4, 4, 1), lambda c, x: c(sequence(x)).flatten(1)),
    "convolution 2d": lambda: Around(nn.Conv2d(2, 2, 3, padding=1), lambda c, x: c(unfolded(x)).flatten(1)),
    "transposed convolution": lambda: Around(nn.ConvTranspose2d(2, 2, 1), lambda c, x: c(unfolded(x)).flatten(1)),
    "depthwise convolution": lambda: Around(nn.Conv2d(2, 2, 1, groups=2), lambda c, x: c(unfolded(x)).flatten(1)),
    "lstm": lambda: Around(nn.LSTM(2, 2, batch_first=True), lambda c, x: c(sequence(x))[0].flatten(1)),
    "gru": lambda: Around(nn.GRU(2, 2, batch_first=True), lambda c, x: c(sequence(x))[0].flatten(1)),
    "attention": lambda: Around(nn.MultiheadAttention(2, 1, batch_first=True), attention),
    "transformer layer": lambda: Around(
        nn.TransformerEncoderLayer(2, 1, 4, dropout=0.0, batch_first=True), lambda c, x: c(sequence(x)).flatten(1)
    ),
    "embedding": lambda: Around(nn.Embedding(3, 8), lambda c, x: x + c((x[:, 0] > 0).long())),
    "bilinear": lambda: Around(nn.Bilinear(8, 8, 8), lambda c, x: c(x, x)),
    "weight norm": lambda: Around(parametrizations.weight_norm(nn.Linear(8, 8))),
    "spectral norm": lambda: Around(parametrizations.spectral_norm(nn.Linear(8, 8))),
    "orthogonal": lambda: Around(parametrizations.orthogonal(nn.Linear(8, 8, bias=False))),
    "mixture of experts": Mixture,
    "buffer set anew": Reassigned,
    "counter in a buffer": CountedInBuffer,
    "tensor as attribute": PlainTensor,
    "attention looked at": Looked,
    "cached mask": Masked,
    "dropout": lambda: Around(nn.Dropout(0.3)),
    "hidden dropout": HiddenDropout,
    "sorting": lambda: Around(None, lambda _, x: x.sort(-1).values),
    "value-dependent": lambda: Around(None, lambda _, x: x if x.mean().item() > 0 else 2 * x),
    "tiny BERT": Sentences,
}
"""A member of these is what a loop written by hand would train."""

SHARED = nn.Linear(FEATURES, OUT)
REFUSED: dict[str, tuple[Any, str]] = {
    "counter": (Counter, "forward changes 'calls', which is neither a parameter nor a buffer"),
    "counter of late effect": (SlowCounter, "forward changes 'calls'"),
    "list that grows": (Remembers, "forward changes 'last_seen'"),
    "cache of weights": (FrozenCache, "forward changes 'size'"),
    "buffer that grows": (GrownBuffer, "forward gives the buffer 'mean' another shape"),
    "alias of a weight": (Alias, "the attribute 'alias' is computed from parameters once"),
    "slope drawn by the builder": (DrawnSlope, "member 1 is built with another 'core.negative_slope' than the first"),
    "slope drawn elsewhere": (lambda: DrawnSlope(random.random()), "built twice, has another 'core.negative_slope'"),
    "width drawn by the builder": (
        lambda: (lambda w: nn.Sequential(nn.Linear(FEATURES, w), nn.Linear(w, OUT)))(int(torch.randint(9, 99, ()))),
        "member 1 is built with another '0.weight' than the first",
    ),
    "the same module": (lambda: SHARED, "gives the same module each time"),
    "a shared part": (lambda: nn.Sequential(SHARED, nn.Linear(OUT, OUT)), "gives the same tensor '0.weight' each time"),
    "a module and no word": (copy.deepcopy(SHARED), "fresh=False starts each from its weights, fresh=True draws"),
    "a tuple": (lambda: Around(None, lambda _, x: (x, x)), "the model cannot be called with inputs"),  # type: ignore[arg-type, return-value]
    "a tuple at the end": (lambda: nn.LSTM(FEATURES, OUT), "the model gives a tuple"),
}
"""These say why they cannot be trained, before they are."""
