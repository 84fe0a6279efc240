"""Plain convolutions computed in another way: those of stacked members as matrix products.

``vmap`` turns the convolutions of many members into one with many groups, which cuDNN runs group by group. The same
numbers as a product of patches and weights are one batched matrix product, and the copying around it is fused away
where the step is compiled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

_NAMES = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")


class Convolving(TorchFunctionMode, ABC):
    """While it is active, plain two-dimensional convolutions are computed in another way; ``count`` says how many."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        given = plain(func, args, kwargs or {})
        if given is None:
            return self.other(func, *args, **(kwargs or {}))
        self.count += 1
        stride, padding = two(given.get("stride", 1)), two(given.get("padding", 0))
        return self.convolved(given["input"], given["weight"], given.get("bias"), stride, padding)

    @abstractmethod
    def convolved(
        self, pictures: Tensor, weight: Tensor, bias: Tensor | None, stride: tuple[int, int], padding: tuple[int, int]
    ) -> Tensor: ...

    def other(self, func: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
        """What any other call gives."""
        return func(*args, **named)


class AsProducts(Convolving):
    """Convolutions as products."""

    def convolved(self, *given: Any) -> Tensor:
        return convolve(*given)


def convolve(
    pictures: Tensor, weight: Tensor, bias: Tensor | None, stride: tuple[int, int], padding: tuple[int, int]
) -> Tensor:
    """What ``conv2d`` gives: pictures (batch × channels × height × width), weight (out × channels × rows × columns)."""
    out, _, rows, columns = weight.shape
    last = F.pad(pictures.permute(0, 2, 3, 1), (0, 0, padding[1], padding[1], padding[0], padding[0]))
    height, width = (last.shape[1] - rows) // stride[0] + 1, (last.shape[2] - columns) // stride[1] + 1
    patches = torch.cat(
        [
            last[:, i : i + (height - 1) * stride[0] + 1 : stride[0], j : j + (width - 1) * stride[1] + 1 : stride[1]]
            for i in range(rows)
            for j in range(columns)
        ],
        dim=-1,
    )
    found = patches.reshape(len(last) * height * width, -1) @ weight.permute(2, 3, 1, 0).reshape(-1, out)
    if bias is not None:
        found = found + bias
    return found.reshape(len(last), height, width, out).permute(0, 3, 1, 2)


def plain(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments by name of a call that convolves a batch without groups, dilation or a padding given by name."""
    if func is not torch.conv2d:
        return None
    given = dict(zip(_NAMES, args, strict=False)) | kwargs
    fits = given["input"].dim() == 4 and given.get("groups", 1) == 1 and two(given.get("dilation", 1)) == (1, 1)
    return given if fits and not isinstance(given.get("padding", 0), str) else None


def two(value: Any) -> tuple[int, int]:
    if isinstance(value, int):
        return value, value
    first, *rest = value
    return int(first), int(rest[0] if rest else first)
