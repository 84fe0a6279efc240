"""A plain multi-layer perceptron: linear maps with one activation between them."""

from __future__ import annotations

import itertools
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from torch import nn

from recombine.description import Description
from recombine.models.starts import Start, started

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU, "elu": nn.ELU}


class Perceptron(Description):
    """``Perceptron(widths=(2, 8, 8, 8, 2))()`` is a module with three hidden layers of eight.

    ``start`` says how its weights are drawn: see ``models/starts.py``.

    Examples:
        >>> sum(p.numel() for p in Perceptron(widths=(2, 8, 2))().parameters())
        42
    """

    kind: ClassVar[str] = "perceptron"

    widths: tuple[Annotated[int, Field(ge=1)], ...] = Field(min_length=2)
    activation: Literal["relu", "tanh", "gelu", "elu"] = "relu"
    start: Start = "torch"

    def __call__(self) -> nn.Module:
        layers: list[nn.Module] = []
        for fan_in, fan_out in itertools.pairwise(self.widths):
            layers += [started(nn.Linear(fan_in, fan_out), self.start), ACTIVATIONS[self.activation]()]
        return nn.Sequential(*layers[:-1])
