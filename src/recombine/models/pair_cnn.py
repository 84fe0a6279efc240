"""The convolutional network for two digits side by side (Li et al. 2020, appendix A), and the one its text
describes."""

from __future__ import annotations

from collections import OrderedDict
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError


class PairCNN(Description):
    """conv 3×3 (32), pool 2, conv 3×3 (64), dense 64, ten outputs: the appendix. ``convolutions=3`` adds pool and
    another conv 3×3 (64), as section 5.1 counts them, and ``convolutions=0`` leaves a perceptron with one hidden
    layer of 64. The layer before the output is called ``dense``.

    ``by="patches"`` computes a convolution as a matrix product over 3×3 patches: the same function and the same
    start, stackable on a CPU, and faster where images are small."""

    kind: ClassVar[str] = "pair-cnn"

    shape: tuple[int, int, int] = (1, 28, 56)
    """Channels, height and width of the input."""
    convolutions: Literal[0, 2, 3] = 2
    filters: int = Field(default=32, ge=1)
    outputs: int = Field(default=10, ge=1)
    by: Literal["convolution", "patches"] = "convolution"

    def __call__(self) -> nn.Module:
        channels, height, width = self.shape
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        for i, filters in enumerate((self.filters, *[2 * self.filters] * 2)[: self.convolutions], 1):
            if i > 1:
                layers[f"pool_{i - 1}"] = nn.MaxPool2d(2) if self.by == "convolution" else _Halves()
                height, width = height // 2, width // 2
            convolution = nn.Conv2d(channels, filters, 3)
            layers[f"conv_{i}"] = convolution if self.by == "convolution" else _Patches(convolution)
            layers[f"relu_{i}"] = nn.ReLU()
            channels, height, width = filters, height - 2, width - 2
            if min(height, width) < 1:
                raise InputError(f"images of {self.shape[1]} × {self.shape[2]} are too small for {i} convolutions.")
        layers["flat"] = nn.Flatten()
        layers["hidden"], layers["dense"] = nn.Linear(channels * height * width, 64), nn.ReLU()
        layers["readout"] = nn.Linear(64, self.outputs)
        return nn.Sequential(layers)


class _Patches(nn.Module):
    """A 3×3 convolution without padding as a matrix product; weights are those of a ``Conv2d``."""

    def __init__(self, like: nn.Conv2d) -> None:
        super().__init__()
        assert like.bias is not None
        self.weight, self.bias = nn.Parameter(like.weight.detach().clone()), nn.Parameter(like.bias.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        height, width = x.shape[-2] - 2, x.shape[-1] - 2
        shifted = [x[..., i : i + height, j : j + width] for i in range(3) for j in range(3)]
        patches = torch.stack(shifted, 2).flatten(3).flatten(1, 2)
        found: Tensor = self.weight.flatten(1) @ patches + self.bias[:, None]
        return found.reshape(*found.shape[:-1], height, width)


class _Halves(nn.Module):
    """2×2 max-pooling by taking the larger of neighbours."""

    def forward(self, x: Tensor) -> Tensor:
        x = x[..., : x.shape[-2] // 2 * 2, : x.shape[-1] // 2 * 2]
        x = torch.maximum(x[..., 0::2, :], x[..., 1::2, :])
        return torch.maximum(x[..., 0::2], x[..., 1::2])
