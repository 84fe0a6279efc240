"""The convolutional network of the kernel-theory paper: valid convolutions, one pooling, dense layers."""

from __future__ import annotations

from collections import OrderedDict
from typing import ClassVar

from pydantic import Field
from torch import nn

from recombine.description import Description
from recombine.errors import InputError


class ConvNet(Description):
    """Convolutions, each ReLU then BatchNorm, one 2×2 max-pool, dense ReLU layers, one output; Kaiming normal weights.

    The defaults are those of Lippl & Stachenfeld (2025) for MNIST: 1.89 million parameters at 2 × 28 × 28. Layers are
    called ``conv_1``, ``relu_1``, ``norm_1``, …, ``pool``, ``dense_1``, ``active_1``, …, ``readout``."""

    kind: ClassVar[str] = "convnet"

    shape: tuple[int, int, int]
    """Channels, height and width of the input."""
    filters: tuple[int, ...] = (32, 32, 64, 64)
    kernel: int = Field(default=5, ge=1)
    dense: tuple[int, ...] = (512, 1024)

    def __call__(self) -> nn.Module:
        channels, height, width = self.shape
        shrink = len(self.filters) * (self.kernel - 1)
        height, width = (height - shrink) // 2, (width - shrink) // 2
        if min(height, width) < 1:
            raise InputError(f"images of {self.shape[1]} × {self.shape[2]} leave nothing after {len(self.filters)} "
                             f"convolutions of {self.kernel} and a pooling.")  # fmt: skip
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        for i, filters in enumerate(self.filters, 1):
            layers[f"conv_{i}"] = nn.Conv2d(channels, filters, self.kernel)
            layers[f"relu_{i}"] = nn.ReLU()
            layers[f"norm_{i}"] = nn.BatchNorm2d(filters)
            channels = filters
        layers["pool"], layers["flat"] = nn.MaxPool2d(2), nn.Flatten()
        fan_in = channels * height * width
        for i, units in enumerate(self.dense, 1):
            layers[f"dense_{i}"], layers[f"active_{i}"] = nn.Linear(fan_in, units), nn.ReLU()
            fan_in = units
        layers["readout"] = nn.Linear(fan_in, 1)
        for layer in layers.values():
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                nn.init.kaiming_normal_(layer.weight)
        return nn.Sequential(layers)
