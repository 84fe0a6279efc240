"""Small models of many kinds that the tests of masks share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from recombine.models import OddOneOut, Perceptron, ViT


class Twice(nn.Linear):
    """A subclass of Linear with a forward pass of its own."""

    def forward(self, x: Tensor) -> Tensor:
        return 2 * super().forward(x)


class TiedPair(nn.Module):
    """One matrix in two places."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(6, 6, bias=False), nn.Linear(6, 6)
        self.outer.weight = self.inner.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.outer(torch.tanh(self.inner(x)))  # type: ignore[no-any-return]


class TiedTurned(nn.Module):
    """A decoder that reads the encoder's matrix transposed, as a parameter of its own over the same memory."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(6, 4, bias=False), nn.Linear(4, 6, bias=False)
        self.outer.weight = nn.Parameter(self.inner.weight.data.t())

    def forward(self, x: Tensor) -> Tensor:
        return self.outer(torch.tanh(self.inner(x)))  # type: ignore[no-any-return]


class LastOfLSTM(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.recurrent, self.readout = nn.LSTM(3, 5, batch_first=True), nn.Linear(5, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.readout(self.recurrent(x)[0][:, -1])  # type: ignore[no-any-return]


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 4)
    )


def vit() -> nn.Module:
    """With four outputs: an encoding of one number has no direction."""
    model = ViT(shape=(1, 8, 8), patch=4, dim=8, depth=1, heads=2, head_dim=4, mlp=8)()
    model.readout = nn.Linear(8, 4)
    return model


def bert() -> nn.Module:
    from transformers import BertConfig, BertModel

    size = {"vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    return BertModel(BertConfig(**size, intermediate_size=24, max_position_embeddings=12))


def tokens(problems: int) -> dict[str, Tensor]:
    """Five words an item, the last of some items padding."""
    words = torch.randint(1, 30, (problems, 4, 5))
    attended = torch.ones(problems, 4, 5, dtype=torch.long)
    attended[::2, :, -1] = 0
    return {"input_ids": words, "attention_mask": attended}


SUBJECTS: dict[str, tuple[Callable[[], nn.Module], Callable[[int], Any]]] = {
    "mlp": (Perceptron(widths=(6, 8, 4)), lambda n: torch.randn(n, 4, 6)),
    "cnn with batch norm": (cnn, lambda n: torch.randn(n, 4, 1, 8, 8)),
    "vit": (vit, lambda n: torch.randn(n, 4, 1, 8, 8)),
    "lstm": (LastOfLSTM, lambda n: torch.randn(n, 4, 5, 3)),
    "bert": (bert, tokens),
    "tied": (TiedPair, lambda n: torch.randn(n, 4, 6)),
    "tied transposed": (TiedTurned, lambda n: torch.randn(n, 4, 6)),
    "bfloat16": (lambda: Perceptron(widths=(6, 8, 4))().bfloat16(), lambda n: torch.randn(n, 4, 6)),
    "linear subclass": (lambda: nn.Sequential(Twice(6, 8), nn.ReLU(), Twice(8, 4)), lambda n: torch.randn(n, 4, 6)),
}  # fmt: skip


def subject(name: str, problems: int = 16) -> tuple[nn.Module, tuple[Any, Tensor]]:
    """A model under the odd-one-out head and random problems for it."""
    torch.manual_seed(0)
    build, inputs = SUBJECTS[name]
    return OddOneOut(build()), (inputs(problems), torch.randint(4, (problems,)))
