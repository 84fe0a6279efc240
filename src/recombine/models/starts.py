"""How the weights of a layer are drawn before training, by name.

``"torch"`` is PyTorch's own way; ``"tensorflow"`` that of Keras, Glorot-uniform weights U(±√(6 / (fan_in + fan_out)))
and biases of zero; ``"playground"`` that of the TensorFlow playground, weights U[−½, ½] and biases of 0.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

from torch import Tensor, nn

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)
Start = Literal["torch", "tensorflow", "playground"]

STARTS: dict[Start, tuple[Callable[[Tensor], Tensor], float]] = {
    "tensorflow": (nn.init.xavier_uniform_, 0.0),
    "playground": (lambda weight: nn.init.uniform_(weight, -0.5, 0.5), 0.1),
}


def started(layer: Layer, start: Start) -> Layer:
    """A new layer, its weights drawn and its biases set as ``start`` has them."""
    if start != "torch":
        draw, bias = STARTS[start]
        draw(layer.weight)
        if layer.bias is not None:
            nn.init.constant_(layer.bias, bias)
    return layer
