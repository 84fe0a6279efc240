"""Decoders with no idea of composition: a perceptron onto pixels, and transposed convolutions (Liang et al. 2025).

They take the codes of all factors in one row (batch × numbers) and give pictures (batch × side × side). The perceptron
is `Perceptron` with side² outputs; its flat pictures are welcome to a `BumpTask`.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import ClassVar

from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError


class TransposedCNN(Description):
    """Code → ConvT onto side/4 × side/4 → ``depth`` ConvT of ``channels``: twice doubling, then 3×3 → ConvT to 1
    channel.

    The paper's decoder: 7×7 at side 28, kernel 4 stride 2 while doubling, ReLU between. Layers are called ``seed``,
    ``up_1`` … and ``readout``, each activation ``relu_0`` …."""

    kind: ClassVar[str] = "transposed-cnn"

    inputs: int = Field(ge=1)
    side: int = Field(default=28, ge=4)
    channels: int = Field(default=64, ge=1)
    depth: int = Field(default=4, ge=2)

    def __call__(self) -> nn.Module:
        if self.side % 4:
            raise InputError(f"two doublings give pictures of a multiple of 4, not {self.side}.")
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        layers["seed"], layers["relu_0"] = _Seed(self.inputs, self.channels, self.side // 4), nn.ReLU()
        for i in range(1, self.depth + 1):
            kernel, stride = (4, 2) if i <= 2 else (3, 1)
            layers[f"up_{i}"] = nn.ConvTranspose2d(self.channels, self.channels, kernel, stride, padding=1)
            layers[f"relu_{i}"] = nn.ReLU()
        layers["readout"] = nn.ConvTranspose2d(self.channels, 1, 3, padding=1)
        layers["picture"] = nn.Flatten(1, 2)
        return nn.Sequential(layers)


class _Seed(nn.Module):
    """A transposed convolution of a single pixel is a linear map onto a small picture; as one it is faster."""

    def __init__(self, inputs: int, channels: int, side: int) -> None:
        super().__init__()
        self.shape = (channels, side, side)
        like = nn.ConvTranspose2d(inputs, channels, side)
        self.weight = nn.Parameter(like.weight.detach().flatten(1))
        self.bias = nn.Parameter(like.bias.detach())  # type: ignore[union-attr]

    def forward(self, codes: Tensor) -> Tensor:
        pictures: Tensor = (codes @ self.weight).unflatten(-1, self.shape)
        return pictures + self.bias[:, None, None]
