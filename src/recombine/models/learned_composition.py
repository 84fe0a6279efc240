"""Compositions that are learned with the components: the paper's open question of an unknown C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError
from recombine.tasks.sprites.compose import COLOURS, Addition, Composition, HardOcclusion, SoftOcclusion


class CompositionFamily(Description):
    """C = Σ_j softmax(w)_j C_j over a few candidates, w learned from zero.

    All candidates must take as many numbers per cell. The module has ``shares()``: the weight of each candidate."""

    kind: ClassVar[str] = "composition-family"

    candidates: tuple[Composition, ...] = (Addition(), SoftOcclusion(), HardOcclusion())

    def __call__(self) -> nn.Module:
        channels = {candidate.channels for candidate in self.candidates}
        if len(channels) != 1:
            raise InputError("the candidates of a family need as many channels: 'over' stands apart from the others.")
        return _Family(self.candidates, channels.pop())


class _Family(nn.Module):
    def __init__(self, candidates: Sequence[Composition], channels: int) -> None:
        super().__init__()
        self.candidates, self.channels = tuple(candidates), channels
        self.logits = nn.Parameter(torch.zeros(len(candidates)))

    def shares(self) -> Tensor:
        return self.logits.softmax(-1)

    def forward(self, components: Tensor) -> Tensor:
        pictures = torch.stack([candidate(components) for candidate in self.candidates], dim=-1)
        return pictures @ self.shares()


class CellNetwork(Description):
    """C is a perceptron on the numbers of all components in a cell, the same at every cell.

    (K · ``channels``) → ``hidden`` units, tanh → colours, beside a plain sum, which it starts near."""

    kind: ClassVar[str] = "cell-network"

    components: int = Field(default=2, ge=2)
    channels: int = Field(default=COLOURS, ge=COLOURS)
    hidden: int = Field(default=16, ge=1)

    def __call__(self) -> nn.Module:
        return _Cells(self)


class _Cells(nn.Module):
    def __init__(self, of: CellNetwork) -> None:
        super().__init__()
        self.channels = of.channels
        self.hidden = nn.Linear(of.components * of.channels, of.hidden)
        self.out = nn.Linear(of.hidden, COLOURS)

    def forward(self, components: Tensor) -> Tensor:
        together = components.movedim(-3, -2).flatten(-2)
        bent: Tensor = self.out(torch.tanh(self.hidden(together)))
        return components[..., :COLOURS].sum(-3) + bent
