"""The doublings of the sprite decoder on a GPU: one program for each way, forwards and back. Needs Triton.

As products (`upsample.py`) a doubling writes and reads what lies between its three products, a dozen times what goes in
and comes out. Here each program instance walks along one row for some examples of one member: forwards along the cells
that an output row lies between, multiplying each once; backwards along the output rows that a row of cells reaches. So
only cells, outputs and their gradients go through memory.

Cells are handed on as ELU of what a doubling gave: that it is 1 + a below zero and 1 above is all that the way back needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

EXAMPLES = 32
"""Of one program instance."""


@triton.jit  # type: ignore[untyped-decorator]
def _hat(u, cell, SIDE: tl.constexpr):  # type: ignore[no-untyped-def]
    """What cell ``cell`` weighs at place ``u`` of twice as many."""
    last: tl.constexpr = 2 * SIDE - 1
    away = tl.abs((u * (SIDE - 1) - cell * last).to(tl.float32)) / last
    return tl.where((u >= 0) & (u <= last), tl.maximum(1.0 - away, 0.0), 0.0)


@triton.jit  # type: ignore[untyped-decorator]
def _forward(  # type: ignore[no-untyped-def]
    cells, weight, bias, out, batch, SIDE: tl.constexpr, INS: tl.constexpr, OUTS: tl.constexpr, K: tl.constexpr,
    N: tl.constexpr, B: tl.constexpr, ELU: tl.constexpr, ROUNDED: tl.constexpr,
):  # fmt: skip
    last: tl.constexpr = 2 * SIDE - 1
    tiles = tl.cdiv(batch, B)
    row = tl.program_id(0) // tiles
    member = tl.program_id(1).to(tl.int64)
    example = (tl.program_id(0) % tiles) * B + tl.arange(0, B)
    k, n = tl.arange(0, K), tl.arange(0, N)
    goes_in = (example[:, None] < batch) & (k[None, :] < INS)
    goes_out = (example[:, None] < batch) & (n[None, :] < OUTS)
    cells += member * SIDE * SIDE * batch * INS + example[:, None] * INS + k[None, :]
    out += (member * 2 * SIDE + row) * 2 * SIDE * batch * OUTS + example[:, None] * OUTS + n[None, :]
    kernel = weight + member * INS * 4 * OUTS + k[:, None] * 4 * OUTS + n[None, :]
    real = (k[:, None] < INS) & (n[None, :] < OUTS)
    w00 = tl.load(kernel, mask=real, other=0.0)
    w01 = tl.load(kernel + OUTS, mask=real, other=0.0)
    w10 = tl.load(kernel + 2 * OUTS, mask=real, other=0.0)
    w11 = tl.load(kernel + 3 * OUTS, mask=real, other=0.0)
    b = tl.load(bias + member * OUTS + n, mask=n < OUTS, other=0.0)
    # An output row is made of three rows of cells at most.
    first = row * (SIDE - 1) // last
    h00, h01, h02 = _hat(row, first, SIDE), _hat(row, first + 1, SIDE), _hat(row, first + 2, SIDE)
    h10, h11, h12 = _hat(row + 1, first, SIDE), _hat(row + 1, first + 1, SIDE), _hat(row + 1, first + 2, SIDE)
    line = SIDE * batch * INS
    cells += first * line
    below, below2 = goes_in & (first + 1 < SIDE), goes_in & (first + 2 < SIDE) & ((row + 1) * (SIDE - 1) // last > first)
    left0 = tl.zeros((B, N), tl.float32)
    left1 = tl.zeros((B, N), tl.float32)
    before = tl.zeros((B, N), tl.float32)
    for number in range(SIDE + 1):
        q = number - 1
        # the cell on the right, both rows of the kernel applied
        at = cells + (q + 1) * batch * INS
        there = q + 1 < SIDE
        c0 = tl.load(at, mask=goes_in & there, other=0.0)
        c1 = tl.load(at + line, mask=below & there, other=0.0)
        c2 = tl.load(at + 2 * line, mask=below2 & there, other=0.0)
        upper = h00 * c0 + h01 * c1 + h02 * c2
        lower = h10 * c0 + h11 * c1 + h12 * c2
        right0 = tl.dot(upper, w00, input_precision=ROUNDED)
        right0 = tl.dot(lower, w10, right0, input_precision=ROUNDED)
        right1 = tl.dot(upper, w01, input_precision=ROUNDED)
        right1 = tl.dot(lower, w11, right1, input_precision=ROUNDED)
        start = (q * last + SIDE - 2) // (SIDE - 1)
        for d in tl.static_range(3):
            v = start + d
            f = (v * (SIDE - 1) - q * last).to(tl.float32) / last
            here = (q >= 0) & (v * (SIDE - 1) < (q + 1) * last) & (v <= last)
            f = tl.where(here, f, 0.0)
            y = before + (1.0 - f) * left1 + f * right1 + b[None, :]
            if ELU:
                y = tl.where(y > 0, y, tl.exp(y) - 1.0)
            tl.store(out + (v - 1) * batch * OUTS, y, mask=goes_out & here & (v > 0))
            before = tl.where(here, (1.0 - f) * left0 + f * right0, before)
        left0 = right0
        left1 = right1
    y = before + b[None, :]
    if ELU:
        y = tl.where(y > 0, y, tl.exp(y) - 1.0)
    tl.store(out + last * batch * OUTS, y, mask=goes_out)


@triton.jit  # type: ignore[untyped-decorator]
def _backward(  # type: ignore[no-untyped-def]
    cells, weight, grad, to_cells, to_weight, to_bias, batch, SIDE: tl.constexpr, INS: tl.constexpr,
    OUTS: tl.constexpr, K: tl.constexpr, N: tl.constexpr, B: tl.constexpr, ROUNDED: tl.constexpr,
):  # fmt: skip
    last: tl.constexpr = 2 * SIDE - 1
    tiles = tl.cdiv(batch, B)
    row = tl.program_id(0) // tiles
    member = tl.program_id(1).to(tl.int64)
    example = (tl.program_id(0) % tiles) * B + tl.arange(0, B)
    k, n = tl.arange(0, K), tl.arange(0, N)
    goes_in = (example[:, None] < batch) & (k[None, :] < INS)
    goes_out = (example[:, None] < batch) & (n[None, :] < OUTS)
    at_row = (member * SIDE + row) * SIDE * batch * INS + example[:, None] * INS + k[None, :]
    cells += at_row
    to_cells += at_row
    grad += member * 4 * SIDE * SIDE * batch * OUTS + example[:, None] * OUTS + n[None, :]
    kernel = weight + member * INS * 4 * OUTS + k[None, :] * 4 * OUTS + n[:, None]
    real = (k[None, :] < INS) & (n[:, None] < OUTS)
    w00 = tl.load(kernel, mask=real, other=0.0)
    w01 = tl.load(kernel + OUTS, mask=real, other=0.0)
    w10 = tl.load(kernel + 2 * OUTS, mask=real, other=0.0)
    w11 = tl.load(kernel + 3 * OUTS, mask=real, other=0.0)
    # Six output rows at most have to do with a row of cells.
    first = tl.where(row > 0, (row - 1) * last // (SIDE - 1), -1)
    line = 2 * SIDE * batch * OUTS
    zero = tl.zeros((B, N), tl.float32)
    g00, g01, g10, g11, n00, n01, n10, n11 = zero, zero, zero, zero, zero, zero, zero, zero
    before0, before1, ones = zero, zero, zero
    s00 = tl.zeros((K, N), tl.float32)
    s01 = tl.zeros((K, N), tl.float32)
    s10 = tl.zeros((K, N), tl.float32)
    s11 = tl.zeros((K, N), tl.float32)
    for q in range(SIDE):
        start = (q * last + SIDE - 2) // (SIDE - 1)
        for d in tl.static_range(3):
            v = start + d
            f = (v * (SIDE - 1) - q * last).to(tl.float32) / last
            here = (v * (SIDE - 1) < (q + 1) * last) & (v <= last)
            t0 = zero
            t1 = zero
            for e in tl.static_range(6):
                i = first + e
                of0, of1 = _hat(i, row, SIDE), _hat(i + 1, row, SIDE)
                inside = here & (i >= 0) & (i <= last)
                g = tl.load(grad + i * line + v * batch * OUTS, mask=goes_out & inside, other=0.0)
                t0 += of0 * g
                t1 += of1 * g
                ones += tl.where(i // 2 == row, 1.0, 0.0) * g
            f = tl.where(here, f, 0.0)
            mine = tl.where(here, 1.0 - f, 0.0)
            g00 += mine * t0
            g10 += mine * t1
            g01 += mine * before0
            g11 += mine * before1
            n00 += f * t0
            n10 += f * t1
            n01 += f * before0
            n11 += f * before1
            before0 = tl.where(here, t0, before0)
            before1 = tl.where(here, t1, before1)
        a = tl.load(cells + q * batch * INS, mask=goes_in, other=0.0)
        d_a = tl.dot(g00, w00, input_precision=ROUNDED)
        d_a = tl.dot(g01, w01, d_a, input_precision=ROUNDED)
        d_a = tl.dot(g10, w10, d_a, input_precision=ROUNDED)
        d_a = tl.dot(g11, w11, d_a, input_precision=ROUNDED)
        tl.store(to_cells + q * batch * INS, d_a * tl.where(a > 0, 1.0, a + 1.0), mask=goes_in)
        turned = tl.trans(a)
        s00 = tl.dot(turned, g00, s00, input_precision=ROUNDED)
        s01 = tl.dot(turned, g01, s01, input_precision=ROUNDED)
        s10 = tl.dot(turned, g10, s10, input_precision=ROUNDED)
        s11 = tl.dot(turned, g11, s11, input_precision=ROUNDED)
        g00, g01, g10, g11 = n00, n01, n10, n11
        n00, n01, n10, n11 = zero, zero, zero, zero
    part = member * tl.num_programs(0) + tl.program_id(0)
    found = to_weight + part * INS * 4 * OUTS + k[:, None] * 4 * OUTS + n[None, :]
    real = (k[:, None] < INS) & (n[None, :] < OUTS)
    tl.store(found, s00, mask=real)
    tl.store(found + OUTS, s01, mask=real)
    tl.store(found + 2 * OUTS, s10, mask=real)
    tl.store(found + 3 * OUTS, s11, mask=real)
    tl.store(to_bias + part * OUTS + n, tl.sum(ones, 0), mask=n < OUTS)


def _sizes(cells: Tensor, weight: Tensor) -> dict[str, Any]:
    ins, outs = weight.shape[-2], weight.shape[-1] // 4
    return {
        "batch": cells.shape[-2], "SIDE": cells.shape[-3], "INS": ins, "OUTS": outs, "B": EXAMPLES,
        "K": max(16, triton.next_power_of_2(ins)), "N": max(16, triton.next_power_of_2(outs)),
        "ROUNDED": "tf32" if torch.backends.cuda.matmul.allow_tf32 else "ieee",
    }  # fmt: skip


@torch.library.custom_op("recombine::double", mutates_args=(), schema="(Tensor c, Tensor w, Tensor b, bool elu) -> Tensor")
def _double(cells: Tensor, weight: Tensor, bias: Tensor, elu: bool) -> Tensor:
    members, side, _, batch, _ = cells.shape
    sizes = _sizes(cells, weight)
    out = cells.new_empty(members, 2 * side, 2 * side, batch, sizes["OUTS"])
    grid = (2 * side * triton.cdiv(batch, EXAMPLES), members)
    _forward[grid](cells.contiguous(), weight.contiguous(), bias.contiguous(), out, ELU=elu, **sizes)
    return out


@_double.register_fake
def _(cells: Tensor, weight: Tensor, bias: Tensor, elu: bool) -> Tensor:
    members, side, _, batch, _ = cells.shape
    return cells.new_empty(members, 2 * side, 2 * side, batch, bias.shape[-1])


@torch.library.custom_op(
    "recombine::double_back", mutates_args=(), schema="(Tensor c, Tensor w, Tensor g) -> (Tensor, Tensor, Tensor)"
)
def _double_back(cells: Tensor, weight: Tensor, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    members, side, _, batch, _ = cells.shape
    sizes = _sizes(cells, weight)
    programs = side * triton.cdiv(batch, EXAMPLES)
    to_weight = cells.new_empty(members, programs, *weight.shape[1:])
    to_bias = cells.new_empty(members, programs, sizes["OUTS"])
    cells, to_cells = cells.contiguous(), torch.empty_like(cells, memory_format=torch.contiguous_format)
    _backward[(programs, members)](
        cells, weight.contiguous(), grad.contiguous(), to_cells, to_weight, to_bias, **sizes
    )
    return to_cells, to_weight.sum(1), to_bias.sum(1)


@_double_back.register_fake
def _(cells: Tensor, weight: Tensor, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return cells.new_empty(cells.shape), torch.empty_like(weight), weight.new_empty(len(weight), weight.shape[-1] // 4)


def _as_members(info: Any, dims: Sequence[Any], *given: Any) -> list[Any]:
    """Under vmap: what is vmapped are more members."""
    several = []
    for part, dim in zip(given, dims, strict=True):
        if isinstance(part, Tensor):
            part = part.expand(info.batch_size, *part.shape) if dim is None else part.movedim(dim, 0)
            part = part.flatten(0, 1)
        several.append(part)
    return several


@_double.register_vmap
def _(info: Any, dims: Sequence[Any], *given: Any) -> tuple[Tensor, int]:
    return _double(*_as_members(info, dims, *given)).unflatten(0, (info.batch_size, -1)), 0


@_double_back.register_vmap
def _(info: Any, dims: Sequence[Any], *given: Any) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
    found = _double_back(*_as_members(info, dims, *given))
    return tuple(part.unflatten(0, (info.batch_size, -1)) for part in found), (0, 0, 0)


class _Doublings(torch.autograd.Function):
    """All doublings of a decoder: ELU before each of them, nothing after the last."""

    generate_vmap_rule = True

    @staticmethod
    @torch.no_grad()
    def forward(seed: Tensor, *parameters: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        cells = [torch.nn.functional.elu(seed)[None]]
        for i in range(0, len(parameters), 2):
            weight, bias = parameters[i : i + 2]
            cells.append(_double(cells[-1], weight[None], bias[None], i + 2 < len(parameters)))
        return cells[-1][0], *cells[:-1]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*output[1:], *inputs[1::2])

    @staticmethod
    @torch.no_grad()
    def backward(ctx: Any, grad: Tensor, *_: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        saved = ctx.saved_tensors
        cells, weights = saved[: len(saved) // 2], saved[len(saved) // 2 :]
        grad, found = grad[None], []
        for a, weight in zip(reversed(cells), reversed(weights), strict=True):
            grad, to_weight, to_bias = _double_back(a, weight[None], grad)
            found += [to_bias[0], to_weight[0]]
        return grad[0], *reversed(found)


def doublings(seed: Tensor, parameters: Sequence[Tensor]) -> Tensor:
    """(4 × 4 × batch × channels) → (side × side × batch × outputs); ``parameters``: weight and bias of each doubling."""
    out: Tensor = _Doublings.apply(seed, *parameters)[0]
    return out
