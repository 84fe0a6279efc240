"""Convolutions of few channels as two programs that never write down a patch. Needs Triton.

Forwards, a program instance takes some places of what comes out and multiplies, row by row of the kernel, the numbers
that lie together in what goes in; so does the way back to what went in, a convolution with the kernel turned round.
The gradient of the weights is a sum over all places: each instance takes some of them for a run of a row's weights.

Numbers may have 16 bits; sums have 32. Pictures are (n × height × width × channels), kernels (side × side × in × out).
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

TOGETHER = 16
"""Numbers of a row of the kernel that are one run, where they are no more: of a convolution of very few channels."""
WIDE = 64
"""Numbers that a run may have where more than one place's fit, for the gradient of weights."""
INSTANCES = 528
"""Program instances that share the places of a gradient of weights, four for each processor of an H200."""
PLACES, PLACES_BACK = 128, 64
"""Places at a time, forwards and for the gradient of weights. On an H200, 64 to 256 were tried with 28 × 48 pixels."""


@triton.jit  # type: ignore[untyped-decorator]
def _forward(  # type: ignore[no-untyped-def]
    pictures, kernel, out, places, H: tl.constexpr, W: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr,
    INS: tl.constexpr, OUTS: tl.constexpr, SIDE: tl.constexpr, PAD: tl.constexpr, RUN: tl.constexpr,
    RUNS: tl.constexpr, K: tl.constexpr, N: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * B + tl.arange(0, B)
    column, row, picture = at % WO, at // WO % HO, at // (WO * HO)
    k, n = tl.arange(0, K), tl.arange(0, N)
    first = ((picture * H + row - PAD) * W + column - PAD) * INS
    total = tl.zeros((B, N), tl.float32)
    for step in range(SIDE * RUNS):
        i, run = step // RUNS, step % RUNS * RUN
        mine = run + k < SIDE * INS
        if RUN != K:
            mine = mine & (k < RUN)
        real = (at < places)[:, None] & mine[None, :]
        if PAD:
            across = column[:, None] + ((run + k) // INS)[None, :] - PAD
            real = real & (row + i >= PAD)[:, None] & (row + i < H + PAD)[:, None] & (across >= 0) & (across < W)
        x = tl.load(pictures + first[:, None] + (i * W * INS + run) + k[None, :], mask=real, other=0.0)
        at_weight = kernel + (i * SIDE * INS + run + k)[:, None] * OUTS + n[None, :]
        w = tl.load(at_weight, mask=mine[:, None] & (n < OUTS)[None, :], other=0.0)
        total = tl.dot(x, w, total, input_precision="ieee")
    tl.store(out + at[:, None] * OUTS + n[None, :], total, mask=(at < places)[:, None] & (n < OUTS)[None, :])


@triton.jit  # type: ignore[untyped-decorator]
def _weights(  # type: ignore[no-untyped-def]
    pictures, grad, out, places, H: tl.constexpr, W: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr,
    INS: tl.constexpr, OUTS: tl.constexpr, SIDE: tl.constexpr, PAD: tl.constexpr, RUN: tl.constexpr,
    RUNS: tl.constexpr, EACH: tl.constexpr, K: tl.constexpr, N: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    i, run = tl.program_id(1) // RUNS, tl.program_id(1) % RUNS * RUN
    k, n = tl.arange(0, K), tl.arange(0, N)
    mine = (run + k < SIDE * INS) & (k < RUN)
    total = tl.zeros((K, N), tl.float32)
    for start in range(0, EACH, B):
        at = tl.program_id(0) * EACH + start + tl.arange(0, B)
        column, row, picture = at % WO, at // WO % HO + i - PAD, at // (WO * HO)
        real = (at < places)[:, None] & mine[None, :]
        if PAD:
            across = column[:, None] + ((run + k) // INS)[None, :] - PAD
            real = real & (row >= 0)[:, None] & (row < H)[:, None] & (across >= 0) & (across < W)
        first = ((picture * H + row) * W + column - PAD) * INS + run
        x = tl.load(pictures + first[:, None] + k[None, :], mask=real, other=0.0)
        came_back = (at < places)[:, None] & (n < OUTS)[None, :]
        g = tl.load(grad + at[:, None] * OUTS + n[None, :], mask=came_back, other=0.0)
        total = tl.dot(tl.trans(x), g, total, input_precision="ieee")
    at = out + ((tl.program_id(0) * SIDE + i) * SIDE * INS + run + k)[:, None] * OUTS + n[None, :]
    tl.store(at, total, mask=mine[:, None] & (n < OUTS)[None, :])


@torch.library.custom_op("recombine::convolved", mutates_args=(), schema="(Tensor x, Tensor w, int pad) -> Tensor")
def convolved(pictures: Tensor, kernel: Tensor, pad: int) -> Tensor:
    """What comes out, in float32, with so many rows and columns of zeros around what goes in."""
    found = _empty(pictures, kernel, pad)
    places = found.numel() // found.shape[-1]
    sizes = _sizes(pictures.shape, found.shape, kernel.shape[0], pad, 0)
    _forward[(triton.cdiv(places, PLACES),)](pictures.contiguous(), kernel.contiguous(), found, places, **sizes,
                                             B=PLACES, num_warps=4, num_stages=3)  # fmt: skip
    return found


@convolved.register_fake
def _(pictures: Tensor, kernel: Tensor, pad: int) -> Tensor:
    return _empty(pictures, kernel, pad)


@torch.library.custom_op("recombine::weights_back", mutates_args=(),
                         schema="(Tensor x, Tensor g, int side, int pad) -> Tensor")  # fmt: skip
def weights_back(pictures: Tensor, grad: Tensor, side: int, pad: int) -> Tensor:
    """The gradient of the kernel, in float32, of what went in and what came back."""
    places = grad.numel() // grad.shape[-1]
    sizes = _sizes(pictures.shape, grad.shape, side, pad, WIDE)
    runs = side * sizes["RUNS"]
    each = triton.cdiv(triton.cdiv(places, max(1, INSTANCES // runs)), PLACES_BACK) * PLACES_BACK
    parts = triton.cdiv(places, each)
    found = grad.new_empty(parts, side, side, pictures.shape[-1], grad.shape[-1], dtype=torch.float32)
    _weights[(parts, runs)](pictures.contiguous(), grad.contiguous(), found, places, **sizes, EACH=each,
                            B=PLACES_BACK, num_warps=4, num_stages=3)  # fmt: skip
    return found.sum(0)


@weights_back.register_fake
def _(pictures: Tensor, grad: Tensor, side: int, pad: int) -> Tensor:
    return grad.new_empty(side, side, pictures.shape[-1], grad.shape[-1], dtype=torch.float32)


def _empty(pictures: Tensor, kernel: Tensor, pad: int) -> Tensor:
    count, height, width, _ = pictures.shape
    smaller = kernel.shape[0] - 1 - 2 * pad
    return pictures.new_empty(count, height - smaller, width - smaller, kernel.shape[-1], dtype=torch.float32)


def _sizes(went_in: torch.Size, came_out: torch.Size, side: int, pad: int, wide: int) -> dict[str, Any]:
    """``wide``: how many numbers a run may have where more than one place's fit."""
    ins, outs = went_in[-1], came_out[-1]
    run = side * ins if side * ins <= TOGETHER else max(ins, wide // ins * ins)
    return {
        "H": went_in[1], "W": went_in[2], "HO": came_out[1], "WO": came_out[2], "INS": ins, "OUTS": outs, "SIDE": side,
        "PAD": pad, "RUN": run, "RUNS": triton.cdiv(side * ins, run), "K": max(16, triton.next_power_of_2(run)),
        "N": max(16, triton.next_power_of_2(outs)),
    }  # fmt: skip
