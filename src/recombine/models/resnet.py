"""A residual network in the CIFAR layout of ResNet-18 (He et al. 2016), a quarter as wide."""

from __future__ import annotations

from collections import OrderedDict
from typing import ClassVar

from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description


class ResNet(Description):
    """A 3×3 convolution, stages of basic blocks (each stage but the first halves the image), average, one output.

    The defaults are those of Lippl & Stachenfeld (2025) for CIFAR: .70 million parameters. Layers are called ``stem``,
    ``stage_1``, …, ``mean``, ``readout``."""

    kind: ClassVar[str] = "resnet"

    shape: tuple[int, int, int]
    channels: tuple[int, ...] = (16, 32, 64, 128)
    blocks: int = Field(default=2, ge=1)

    def __call__(self) -> nn.Module:
        width = self.channels[0]
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        layers["stem"] = nn.Sequential(_conv(self.shape[0], width, 1), nn.BatchNorm2d(width), nn.ReLU())
        for i, channels in enumerate(self.channels, 1):
            stage = [_Block(width, channels, 1 if i == 1 else 2)]
            stage += [_Block(channels, channels, 1) for _ in range(self.blocks - 1)]
            layers[f"stage_{i}"] = nn.Sequential(*stage)
            width = channels
        # What is left is 4 × 4 at 32 pixels, which the paper's pool of 4 averages whole.
        layers["mean"] = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
        layers["readout"] = nn.Linear(width, 1)
        return nn.Sequential(layers)


class _Block(nn.Module):
    """relu(norm(conv(relu(norm(conv x)))) + shortcut x)."""

    def __init__(self, fan_in: int, fan_out: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Sequential(_conv(fan_in, fan_out, stride), nn.BatchNorm2d(fan_out), nn.ReLU())
        self.second = nn.Sequential(_conv(fan_out, fan_out, 1), nn.BatchNorm2d(fan_out))
        same = stride == 1 and fan_in == fan_out
        bend = nn.Sequential(nn.Conv2d(fan_in, fan_out, 1, stride, bias=False), nn.BatchNorm2d(fan_out))
        self.shortcut = nn.Identity() if same else bend

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.relu(self.second(self.first(x)) + self.shortcut(x))


def _conv(fan_in: int, fan_out: int, stride: int) -> nn.Conv2d:
    return nn.Conv2d(fan_in, fan_out, 3, stride, padding=1, bias=False)
