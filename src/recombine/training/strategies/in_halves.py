"""Convolutions of float32 with factors of 16 bits, as exact as TF32's and faster.

TF32 keeps ten bits after the point, and so does float16, which has fewer powers of two. So each factor is first
multiplied by the power of two that brings its largest number near 2¹⁴; what is smaller than 2⁻²⁸ of that loses bits,
and adds no more to a sum than 2⁻³⁹ of the largest. Products are added up in float32, and the powers taken back.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from recombine.tasks.draws import can_compile
from recombine.training.strategies.channels_last import ChannelsLast, Sizes
from recombine.training.strategies.convolutions import two

LARGEST = 14
"""The power of two that no scaled number exceeds by more than its rounding; float16 ends just below the sixteenth."""
MOST = 64
"""Channels, in or out, beyond which a convolution is cuDNN's."""


CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)


class InHalves(ChannelsLast):
    """Convolutions of few channels in halves where cuDNN would round to TF32; any other with channels last."""

    def convolved(self, pictures: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes, padding: Sizes) -> Tensor:
        fits = _fits(weight.shape, stride, padding) and pictures.dtype == weight.dtype == torch.float32
        device = pictures.device.type
        if not fits or torch.is_autocast_enabled(device) or not torch.backends.cudnn.allow_tf32:
            return super().convolved(pictures, weight, bias, stride, padding)
        last, *_ = _Convolution.apply(pictures, weight, padding[0])  # type: ignore[no-untyped-call]
        found: Tensor = last.permute(0, 3, 1, 2)
        return found if bias is None else found + bias[:, None, None]


def of_few_channels(module: nn.Module) -> bool:
    """Whether every convolution of the module is one that is done in halves."""
    found = [part for part in module.modules() if isinstance(part, CONVOLUTIONS)]
    return bool(found) and all(type(part) is nn.Conv2d and _plain(part) for part in found)


def _plain(part: nn.Conv2d) -> bool:
    whole = part.groups == 1 and part.dilation == (1, 1) and part.padding_mode == "zeros"
    return whole and not isinstance(part.padding, str) and _fits(part.weight.shape, two(part.stride), two(part.padding))


def _fits(shape: torch.Size, stride: Sizes, padding: Sizes) -> bool:
    rows, columns = shape[2:]
    return max(shape[:2]) <= MOST and rows == columns and stride == (1, 1) and padding[0] == padding[1] < rows


def in_halves(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """The numbers as 16 bits, and what they have to be multiplied by again: a power of two."""
    largest = numbers.abs().amax().clamp_min(torch.finfo(torch.float32).tiny)
    power = (LARGEST - torch.log2(largest)).floor().clamp_max(126)
    return (numbers * torch.exp2(power)).half(), torch.exp2(-power)


class _Convolution(torch.autograd.Function):
    """Gives what the way back needs, too: what was rounded is not rounded again."""

    @staticmethod
    def forward(pictures: Tensor, weight: Tensor, padding: int) -> tuple[Tensor, ...]:
        x, of_x = in_halves(pictures.permute(0, 2, 3, 1))
        w, of_w = in_halves(weight.permute(2, 3, 1, 0))
        x, w = x.contiguous(), w.contiguous()
        return _convolved(x, w, padding) * of_x * of_w, x, w, of_x, of_w

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        _, *rounded = output
        ctx.padding = inputs[2]
        ctx.mark_non_differentiable(*rounded)
        ctx.save_for_backward(*rounded)
        ctx.set_materialize_grads(False)

    @staticmethod
    @torch.no_grad()
    def backward(ctx: Any, grad: Tensor, *_: Tensor | None) -> tuple[Tensor | None, ...]:
        (x, w, of_x, of_w), asked = ctx.saved_tensors, ctx.needs_input_grad
        side, padding = w.shape[0], ctx.padding
        g, of_g = in_halves(grad)
        g = g.contiguous()
        to_pictures = to_weight = None
        if asked[0]:
            turned = w.flip(0, 1).transpose(2, 3).contiguous()
            to_pictures = (_convolved(g, turned, side - 1 - padding) * of_g * of_w).permute(0, 3, 1, 2)
        if asked[1]:
            to_weight = (_weights(x, g, side, padding) * of_g * of_x).permute(3, 2, 0, 1)
        return to_pictures, to_weight, None


def _convolved(pictures: Tensor, kernel: Tensor, padding: int) -> Tensor:
    if pictures.is_cuda and can_compile():
        from recombine.training.strategies.convolution_gpu import convolved

        made: Tensor = convolved(pictures, kernel, padding)
        return made
    x, w = pictures.float().permute(0, 3, 1, 2), kernel.float().permute(3, 2, 0, 1)
    return torch.conv2d(x, w, padding=padding).permute(0, 2, 3, 1)


def _weights(pictures: Tensor, grad: Tensor, side: int, padding: int) -> Tensor:
    if pictures.is_cuda and can_compile():
        from recombine.training.strategies.convolution_gpu import weights_back

        made: Tensor = weights_back(pictures, grad, side, padding)
        return made
    # Pictures and channels change places: the sum over pictures is one over channels then.
    x, g = pictures.float().permute(3, 0, 1, 2), grad.float().permute(3, 0, 1, 2)
    return torch.conv2d(x, g, padding=padding).permute(2, 3, 0, 1)
