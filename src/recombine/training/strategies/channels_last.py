"""Convolutions of one member as a GPU wants them: channels last, and gradients by what is fastest.

Norms of the planes between them leave channels where they are: torch's own would bring planes together first. The
gradient of what goes into a convolution of stride one is a convolution too, with the kernel turned round, and runs as
fast as the way forwards; that of the weights has a program of its own where channels are few. The rest is cuDNN's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from recombine.tasks.draws import can_compile
from recombine.training.strategies.convolutions import Convolving

FEW, FEW_IN_FULL = 32, 4
"""Channels, in or out, up to which the weights' gradient is our program's where numbers have 16 bits; and those that
go in where they have 32, of which it is slower to turn a tile."""
Sizes = tuple[int, int]


class ChannelsLast(Convolving):
    """Convolutions with channels last, and norms of planes between them."""

    def convolved(self, pictures: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes, padding: Sizes) -> Tensor:
        pictures, weight = _last(_rounded(pictures)), _last(_rounded(weight))
        found: Tensor = _Convolution.apply(pictures, weight, stride, padding)  # type: ignore[no-untyped-call]
        return found if bias is None else found + _rounded(bias)[:, None, None]

    def other(self, func: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
        normed = _of_planes(*args, **named) if func in _NORMS else None
        return func(*args, **named) if normed is None else normed


_NORMS = (torch.nn.functional.layer_norm, torch.layer_norm)


def _of_planes(
    x: Tensor, over: Iterable[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
    *_: Any,
) -> Tensor | None:  # fmt: skip
    """The layer norm of the planes of pictures whose channels lie last; None where it is another."""
    if x.dim() != 4 or tuple(over) != x.shape[-2:] or weight is not None or bias is not None:
        return None
    if x.is_contiguous() or not x.is_contiguous(memory_format=torch.channels_last):
        return None
    wide = x.float() if x.dtype in (torch.bfloat16, torch.float16) else x
    variance, mean = torch.var_mean(wide, (-2, -1), correction=0, keepdim=True)
    return ((wide - mean) * torch.rsqrt(variance + eps)).to(x.dtype)


class _Convolution(torch.autograd.Function):
    @staticmethod
    def forward(pictures: Tensor, weight: Tensor, stride: Sizes, padding: Sizes) -> Tensor:
        return torch.conv2d(pictures, weight, None, stride, padding)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        pictures, weight, ctx.stride, ctx.padding = inputs
        ctx.save_for_backward(pictures, weight)

    @staticmethod
    @torch.no_grad()
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        pictures, weight = ctx.saved_tensors
        grad, asked = _last(grad), ctx.needs_input_grad
        to_pictures = _to_pictures(grad, pictures, weight, ctx.stride, ctx.padding) if asked[0] else None
        to_weight = _to_weight(grad, pictures, weight, ctx.stride, ctx.padding) if asked[1] else None
        return to_pictures, to_weight, None, None


def _to_pictures(grad: Tensor, pictures: Tensor, weight: Tensor, stride: Sizes, padding: Sizes) -> Tensor:
    same = stride == (1, 1) and all(2 * pad + 1 == size for pad, size in zip(padding, weight.shape[2:], strict=True))
    if not same:
        return _cudnns(grad, pictures, weight, stride, padding, 0)
    return torch.conv2d(grad, _last(weight.flip(2, 3).transpose(0, 1)), None, stride, padding)


def _to_weight(grad: Tensor, pictures: Tensor, weight: Tensor, stride: Sizes, padding: Sizes) -> Tensor:
    few = max(weight.shape[:2]) <= FEW and (pictures.dtype == torch.bfloat16 or weight.shape[1] <= FEW_IN_FULL)
    fits = weight.shape[2:] == (3, 3) and padding == (1, 1) and stride[0] == stride[1]
    if not (few and fits and pictures.is_cuda and pictures.dtype != torch.float64 and can_compile()):
        return _cudnns(grad, pictures, weight, stride, padding, 1)
    from recombine.training.strategies.few_channels import weights_gradient

    found: Tensor = weights_gradient(pictures, grad, stride[0])
    return found.to(weight.dtype)


def _cudnns(grad: Tensor, pictures: Tensor, weight: Tensor, stride: Sizes, padding: Sizes, which: int) -> Tensor:
    wanted = [place == which for place in range(3)]
    found: Tensor = torch.ops.aten.convolution_backward(
        grad, pictures, weight, None, stride, padding, (1, 1), False, (0, 0), 1, wanted
    )[which]
    return found


def _rounded(part: Tensor) -> Tensor:
    """As torch's autocast would round what goes into a convolution, so that its gradient is of the same type."""
    device = part.device.type
    return part.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else part


def _last(part: Tensor) -> Tensor:
    return part.contiguous(memory_format=torch.channels_last)
