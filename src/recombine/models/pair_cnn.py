"""The convolutional network for two digits side by side (Li et al. 2020, appendix A), and the one its text
describes."""

from __future__ import annotations

from collections import OrderedDict
from typing import ClassVar, Literal

from pydantic import Field
from torch import nn

from recombine.description import Description
from recombine.errors import InputError
from recombine.models.starts import started


class PairCNN(Description):
    """conv 3×3 (32), pool 2, conv 3×3 (64), dense 64, ten outputs: the appendix. ``convolutions=3`` adds pool and
    another conv 3×3 (64), as section 5.1 counts them, and ``convolutions=0`` leaves a perceptron with one hidden
    layer of 64. The layer before the output is called ``dense``. The paper trained in TensorFlow: its ``start``."""

    kind: ClassVar[str] = "pair-cnn"

    shape: tuple[int, int, int] = (1, 28, 56)
    """Channels, height and width of the input."""
    convolutions: Literal[0, 2, 3] = 2
    filters: int = Field(default=32, ge=1)
    outputs: int = Field(default=10, ge=1)
    start: Literal["torch", "tensorflow"] = "torch"

    def __call__(self) -> nn.Module:
        channels, height, width = self.shape
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        for i, filters in enumerate((self.filters, *[2 * self.filters] * 2)[: self.convolutions], 1):
            if i > 1:
                layers[f"pool_{i - 1}"] = nn.MaxPool2d(2)
                height, width = height // 2, width // 2
            layers[f"conv_{i}"] = started(nn.Conv2d(channels, filters, 3), self.start)
            layers[f"relu_{i}"] = nn.ReLU()
            channels, height, width = filters, height - 2, width - 2
            if min(height, width) < 1:
                raise InputError(f"images of {self.shape[1]} × {self.shape[2]} are too small for {i} convolutions.")
        layers["flat"] = nn.Flatten()
        layers["hidden"] = started(nn.Linear(channels * height * width, 64), self.start)
        layers["dense"] = nn.ReLU()
        layers["readout"] = started(nn.Linear(64, self.outputs), self.start)
        return nn.Sequential(layers)
