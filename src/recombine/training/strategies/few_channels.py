"""The gradient of the weights of a 3 × 3 convolution of few channels, as one program. Needs Triton.

W'_ijco = Σ X_{n, sh+i−1, sw+j−1, c} G_nhwo over pictures n and places (h, w), s the stride: a sum over a million places
for a few thousand weights. cuDNN's programs for it are made for many channels and take four times as long as reading
pictures and gradient does. Here each program instance takes some places, reads their gradient once and three rows of
pictures, whose three places beside each other lie together, and adds up all nine offsets.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.models.rounding import products_in_tf32

INSTANCES, PLACES = 528, 64
"""Program instances, four for each processor of an H200; places that one multiplies at a time."""


@triton.jit  # type: ignore[untyped-decorator]
def _weights(  # type: ignore[no-untyped-def]
    pictures, grad, out, places, H, W, HO, WO, EACH: tl.constexpr, STRIDE: tl.constexpr, INS: tl.constexpr,
    OUTS: tl.constexpr, K: tl.constexpr, N: tl.constexpr, B: tl.constexpr, ROUNDED: tl.constexpr,
):  # fmt: skip
    k, n = tl.arange(0, K), tl.arange(0, N)
    beside = (k // INS)[None, :]
    above = tl.zeros((K, N), tl.float32)
    here, below = above, above
    for start in range(0, EACH, B):
        at = tl.program_id(0) * EACH + start + tl.arange(0, B)
        real = at < places
        column, row = at % WO * STRIDE - 1, at // WO % HO * STRIDE - 1
        inside = real[:, None] & (k < 3 * INS)[None, :] & (column[:, None] + beside >= 0)
        inside = inside & (column[:, None] + beside < W)
        g = tl.load(grad + at[:, None] * OUTS + n[None, :], mask=real[:, None] & (n < OUTS)[None, :], other=0.0)
        # Three places of a row, each with its channels, are 3 · INS numbers one after another.
        x = pictures + ((at // (WO * HO) * H + row) * W + column)[:, None] * INS + k[None, :]
        up = tl.load(x, mask=inside & (row >= 0)[:, None], other=0.0)
        above = tl.dot(tl.trans(up), g, above, input_precision=ROUNDED)
        level = tl.load(x + W * INS, mask=inside, other=0.0)
        here = tl.dot(tl.trans(level), g, here, input_precision=ROUNDED)
        down = tl.load(x + 2 * W * INS, mask=inside & (row + 2 < H)[:, None], other=0.0)
        below = tl.dot(tl.trans(down), g, below, input_precision=ROUNDED)
    at = out + (tl.program_id(0) * 9 * INS + k[:, None]) * OUTS + n[None, :]
    real = (k < 3 * INS)[:, None] & (n < OUTS)[None, :]
    tl.store(at, above, mask=real)
    tl.store(at + 3 * INS * OUTS, here, mask=real)
    tl.store(at + 6 * INS * OUTS, below, mask=real)


@torch.library.custom_op(
    "recombine::few_channels_back", mutates_args=(), schema="(Tensor x, Tensor g, int stride) -> Tensor"
)
def weights_gradient(pictures: Tensor, grad: Tensor, stride: int) -> Tensor:
    """(outputs × inputs × 3 × 3), of pictures (n × inputs × height × width) and what came back for their convolution
    with one row and column of zeros around."""
    outs, high, across = grad.shape[1:]
    ins, height, width = pictures.shape[1:]
    places = len(grad) * high * across
    each = triton.cdiv(triton.cdiv(places, INSTANCES), PLACES) * PLACES
    instances = triton.cdiv(places, each)
    found = grad.new_empty(instances, 3, 3, ins, outs, dtype=torch.float32)
    wide = max(16, triton.next_power_of_2(3 * ins))
    sizes: dict[str, Any] = {
        "EACH": each, "STRIDE": stride, "INS": ins, "OUTS": outs, "K": wide,
        "N": max(16, triton.next_power_of_2(outs)), "B": PLACES, "num_warps": 4, "num_stages": 2 if wide <= 64 else 1,
        "ROUNDED": "tf32" if torch.backends.cudnn.allow_tf32 or products_in_tf32() else "ieee",
    }  # fmt: skip
    _weights[(instances,)](_last(pictures), _last(grad), found, places, height, width, high, across, **sizes)
    return found.sum(0).permute(3, 2, 0, 1)


@weights_gradient.register_fake
def _(pictures: Tensor, grad: Tensor, stride: int) -> Tensor:
    return grad.new_empty(3, 3, pictures.shape[1], grad.shape[1], dtype=torch.float32).permute(3, 2, 0, 1)


def _last(part: Tensor) -> Tensor:
    return part.contiguous(memory_format=torch.channels_last)
