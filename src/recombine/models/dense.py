"""Dense ReLU networks from rich to lazy: weights N(0, 2σ²/fan_in), biases U(±σ/√fan_in)."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import ClassVar

from pydantic import Field
from torch import nn

from recombine.description import Description


class Dense(Description):
    """``depth`` hidden layers of ``width`` ReLU units and one output (Lippl & Stachenfeld 2025, section 6).

    ``scale`` is the paper's σ. Both weights and biases are proportional to it, so that members with a σ of their own
    are ``init_scale=(σ_0, σ_1, …)`` of a network with σ = 1. Its layers are called ``linear_1``, ``relu_1``, …,
    ``readout``."""

    kind: ClassVar[str] = "dense"

    inputs: int = Field(ge=1)
    width: int = Field(default=1000, ge=1)
    depth: int = Field(default=1, ge=1)
    scale: float = Field(default=1.0, gt=0)

    def __call__(self) -> nn.Module:
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        fan_in = self.inputs
        for layer in range(1, self.depth + 1):
            layers[f"linear_{layer}"] = self._linear(fan_in, self.width)
            layers[f"relu_{layer}"] = nn.ReLU()
            fan_in = self.width
        layers["readout"] = self._linear(fan_in, 1)
        return nn.Sequential(layers)

    def _linear(self, fan_in: int, fan_out: int) -> nn.Linear:
        linear = nn.Linear(fan_in, fan_out)
        nn.init.normal_(linear.weight, 0.0, self.scale * math.sqrt(2 / fan_in))
        nn.init.uniform_(linear.bias, -self.scale / math.sqrt(fan_in), self.scale / math.sqrt(fan_in))
        return linear
