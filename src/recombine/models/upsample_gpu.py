"""The doublings of the sprite decoder on a GPU: one program for each way, forwards and back. Needs Triton.

As products (`upsample.py`) a doubling writes and reads what lies between its three products, a dozen times what goes in
and comes out. Here each program instance walks along one row for some examples of one member: forwards along the cells
that an output row lies between, multiplying each once; backwards along the output rows that a row of cells reaches. So
only cells, outputs and their gradients go through memory.

Cells are handed on as ELU of what a doubling gave: that its slope is 1 above zero and a + 1 below is all that the way
back needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.models.rounding import products_in_tf32

TILES = {("forward", 8): (16, 1), ("forward", 32): (16, 2), ("forward", 64): (16, 4),
         ("back", 8): (16, 1), ("back", 32): (32, 4), ("back", 64): (16, 4)}  # fmt: skip
"""Examples and warps of one program instance, by how wide it is."""


@triton.jit  # type: ignore[untyped-decorator]
def _forward(  # type: ignore[no-untyped-def]
    cells, weight, bias, out, batch, SIDE: tl.constexpr, INS: tl.constexpr, OUTS: tl.constexpr, K: tl.constexpr,
    N: tl.constexpr, B: tl.constexpr, ELU: tl.constexpr, ROUNDED: tl.constexpr,
):  # fmt: skip
    last: tl.constexpr = 2 * SIDE - 1
    tiles = tl.cdiv(batch, B)
    p = tl.program_id(0) // tiles
    member = tl.program_id(1).to(tl.int64)
    example = (tl.program_id(0) % tiles) * B + tl.arange(0, B)
    k, n = tl.arange(0, K), tl.arange(0, N)
    goes_in = (example[:, None] < batch) & (k[None, :] < INS)
    goes_out = (example[:, None] < batch) & (n[None, :] < OUTS)
    cells += member * SIDE * SIDE * batch * INS + example[:, None] * INS + k[None, :]
    out += (member * 2 * SIDE + 2 * p) * 2 * SIDE * batch * OUTS + example[:, None] * OUTS + n[None, :]
    kernel = weight + member * INS * 4 * OUTS + k[:, None] * 4 * OUTS
    if N == 8:  # few outputs: the kernel's two columns take turns in one product
        pair = tl.arange(0, 16)[None, :]
        real = (k[:, None] < INS) & (pair // 2 < OUTS)
        w00 = tl.load(kernel + pair % 2 * OUTS + pair // 2, mask=real, other=0.0)
        w10 = tl.load(kernel + (2 + pair % 2) * OUTS + pair // 2, mask=real, other=0.0)
        w01, w11 = w00, w10
    else:
        real = (k[:, None] < INS) & (n[None, :] < OUTS)
        w00 = tl.load(kernel + n[None, :], mask=real, other=0.0)
        w01 = tl.load(kernel + OUTS + n[None, :], mask=real, other=0.0)
        w10 = tl.load(kernel + 2 * OUTS + n[None, :], mask=real, other=0.0)
        w11 = tl.load(kernel + 3 * OUTS + n[None, :], mask=real, other=0.0)
    b = tl.load(bias + member * OUTS + n, mask=n < OUTS, other=0.0)[None, :]
    # The doubled rows 2p, 2p + 1 and 2p + 2 lie between the rows p - 1, p and p + 1; the last of all is zero.
    h0, h1 = p * (1.0 / last), (SIDE - 1 - p) * (1.0 / last)
    h2 = tl.where(p < SIDE - 1, (p + 1) * (1.0 / last), 0.0)
    h3 = tl.where(p < SIDE - 1, 1.0 - h2, 0.0)
    line, next_row = SIDE * batch * INS, 2 * SIDE * batch * OUTS
    above, below = goes_in & (p > 0), goes_in & (p < SIDE - 1)
    zero = tl.zeros((B, N), tl.float32)
    left00, left01, left10, left11, before0, before1 = zero, zero, zero, zero, zero, zero
    for q in range(SIDE + 1):
        at = cells + p * line + q * batch * INS
        there = q < SIDE
        c0 = tl.load(at - line, mask=above & there, other=0.0)
        c1 = tl.load(at, mask=goes_in & there, other=0.0)
        c2 = tl.load(at + line, mask=below & there, other=0.0)
        u0 = h0 * c0 + (1.0 - h0) * c1
        u1 = (1.0 - h1) * c1 + h1 * c2
        u2 = h2 * c1 + h3 * c2
        one = tl.dot(u1, w10, tl.dot(u0, w00, input_precision=ROUNDED), input_precision=ROUNDED)
        two = tl.dot(u2, w10, tl.dot(u1, w00, input_precision=ROUNDED), input_precision=ROUNDED)
        if N == 8:
            right00, right01 = tl.split(tl.reshape(one, (B, 8, 2)))
            right10, right11 = tl.split(tl.reshape(two, (B, 8, 2)))
        else:
            right00, right10 = one, two
            right01 = tl.dot(u1, w11, tl.dot(u0, w01, input_precision=ROUNDED), input_precision=ROUNDED)
            right11 = tl.dot(u2, w11, tl.dot(u1, w01, input_precision=ROUNDED), input_precision=ROUNDED)
        # So do the doubled columns 2q - 1 and 2q between the columns q - 1 and q.
        f = (SIDE - q) * (1.0 / last)
        e = tl.where(there, q * (1.0 / last), 0.0)
        column = out + (2 * q - 2) * batch * OUTS
        seen = goes_out & (q > 0)
        _put(column, before0 + (1.0 - f) * left01 + f * right01 + b, seen, ELU)
        _put(column + next_row, before1 + (1.0 - f) * left11 + f * right11 + b, seen, ELU)
        column += batch * OUTS
        _put(column, (1.0 - f) * left00 + f * right00 + e * left01 + (1.0 - e) * right01 + b, seen, ELU)
        _put(column + next_row, (1.0 - f) * left10 + f * right10 + e * left11 + (1.0 - e) * right11 + b, seen, ELU)
        before0 = e * left00 + (1.0 - e) * right00
        before1 = e * left10 + (1.0 - e) * right10
        left00, left01, left10, left11 = right00, right01, right10, right11


@triton.jit  # type: ignore[untyped-decorator]
def _put(at, value, mask, ELU: tl.constexpr):  # type: ignore[no-untyped-def]
    if ELU:
        value = tl.where(value > 0, value, tl.exp(value) - 1.0)
    tl.store(at, value, mask=mask)


@triton.jit  # type: ignore[untyped-decorator]
def _backward(  # type: ignore[no-untyped-def]
    cells, weight, grad, to_cells, to_weight, to_bias, batch, SIDE: tl.constexpr, INS: tl.constexpr,
    OUTS: tl.constexpr, K: tl.constexpr, N: tl.constexpr, B: tl.constexpr, ROUNDED: tl.constexpr,
):  # fmt: skip
    last: tl.constexpr = 2 * SIDE - 1
    # Wider networks take two halves: of 64 rows Triton would make a product that it cannot lay out (3.6).
    half: tl.constexpr = K // 2 if K > 32 else K
    tiles = tl.cdiv(batch, B)
    row = tl.program_id(0) // tiles
    member = tl.program_id(1).to(tl.int64)
    example = (tl.program_id(0) % tiles) * B + tl.arange(0, B)
    k, n, all4 = tl.arange(0, half), tl.arange(0, N), tl.arange(0, 4 * N)
    goes_in = (example[:, None] < batch) & (k[None, :] < INS)
    goes_in2 = (example[:, None] < batch) & (k[None, :] + half < INS)
    goes_out = (example[:, None] < batch) & (n[None, :] < OUTS)
    at_row = (member * SIDE + row) * SIDE * batch * INS + example[:, None] * INS + k[None, :]
    cells += at_row
    to_cells += at_row
    grad += member * 4 * SIDE * SIDE * batch * OUTS + example[:, None] * OUTS + n[None, :]
    # As tl.join puts them: the output, then the kernel's column, then its row.
    offset, real = (all4 % 2 * 2 + all4 // 2 % 2) * OUTS + all4 // 4, all4 // 4 < OUTS
    kernel = weight + member * INS * 4 * OUTS + k[None, :] * 4 * OUTS + offset[:, None]
    w = tl.load(kernel, mask=(k[None, :] < INS) & real[:, None], other=0.0)
    found = tl.zeros((half, 4 * N), tl.float32)
    if K > 32:
        w2 = tl.load(kernel + half * 4 * OUTS, mask=(k[None, :] + half < INS) & real[:, None], other=0.0)
        found2 = tl.zeros((half, 4 * N), tl.float32)
    # A row of cells reaches the doubled rows 2r - 1 to 2r + 2, one less where the kernel's second row takes them.
    h0, h1, h2 = (SIDE - row) * (1.0 / last), 1.0 - row * (1.0 / last), (SIDE + row) * (1.0 / last)
    h3 = tl.where(row < SIDE - 1, (row + 1) * (1.0 / last), 0.0)
    line = 2 * SIDE * batch * OUTS
    grad += 2 * row * line
    above, below = row > 0, row < SIDE - 1
    zero = tl.zeros((B, N), tl.float32)
    # what the columns 2q - 2, 2q - 1 and 2q give for either row of the kernel
    x00, x01, x10, x11, total = zero, zero, zero, zero, zero
    x20, x21 = _rows(grad, line, goes_out, above, below, h0, h1, h2, h3)
    total += x20
    for q in range(SIDE):
        g0, g1 = (SIDE - q) * (1.0 / last), 1.0 - q * (1.0 / last)
        g2 = (SIDE + q) * (1.0 / last)
        more = q < SIDE - 1
        g3 = tl.where(more, (q + 1) * (1.0 / last), 0.0)
        column = grad + (2 * q + 1) * batch * OUTS
        x30, x31 = _rows(column, line, goes_out, above, below, h0, h1, h2, h3)
        column += batch * OUTS
        x40, x41 = _rows(column, line, goes_out & more, above, below, h0, h1, h2, h3)
        total += x30 + x40
        g00 = g0 * x10 + g1 * x20 + g2 * x30 + g3 * x40
        g10 = g0 * x11 + g1 * x21 + g2 * x31 + g3 * x41
        g01 = g0 * x00 + g1 * x10 + g2 * x20 + g3 * x30
        g11 = g0 * x01 + g1 * x11 + g2 * x21 + g3 * x31
        g = tl.reshape(tl.join(tl.join(g00, g01), tl.join(g10, g11)), (B, 4 * N))
        a = tl.load(cells + q * batch * INS, mask=goes_in, other=0.0)
        to_a = tl.dot(g, w, input_precision=ROUNDED) * tl.where(a > 0, 1.0, a + 1.0)
        tl.store(to_cells + q * batch * INS, to_a, mask=goes_in)
        found = tl.dot(tl.trans(a), g, found, input_precision=ROUNDED)
        if K > 32:
            a2 = tl.load(cells + q * batch * INS + half, mask=goes_in2, other=0.0)
            to_a2 = tl.dot(g, w2, input_precision=ROUNDED) * tl.where(a2 > 0, 1.0, a2 + 1.0)
            tl.store(to_cells + q * batch * INS + half, to_a2, mask=goes_in2)
            found2 = tl.dot(tl.trans(a2), g, found2, input_precision=ROUNDED)
        x00, x01, x10, x11, x20, x21 = x20, x21, x30, x31, x40, x41
    part = member * tl.num_programs(0) + tl.program_id(0)
    to_weight += part * INS * 4 * OUTS + k[:, None] * 4 * OUTS + offset[None, :]
    tl.store(to_weight, found, mask=(k[:, None] < INS) & real[None, :])
    if K > 32:
        tl.store(to_weight + half * 4 * OUTS, found2, mask=(k[:, None] + half < INS) & real[None, :])
    # The hats of all cells at a place add up to one.
    tl.store(to_bias + part * OUTS + n, tl.sum(total, 0), mask=n < OUTS)


@triton.jit
def _rows(at, line, here, above, below, h0, h1, h2, h3):  # type: ignore[no-untyped-def]
    """One column of the outputs' gradient, its five rows weighed for either row of the kernel."""
    r0 = tl.load(at - 2 * line, mask=here & above, other=0.0)
    r1 = tl.load(at - line, mask=here & above, other=0.0)
    r2 = tl.load(at, mask=here, other=0.0)
    r3 = tl.load(at + line, mask=here, other=0.0)
    r4 = tl.load(at + 2 * line, mask=here & below, other=0.0)
    return h0 * r1 + h1 * r2 + h2 * r3 + h3 * r4, h0 * r0 + h1 * r1 + h2 * r2 + h3 * r3


def _sizes(way: str, cells: Tensor, weight: Tensor) -> dict[str, Any]:
    ins, outs = weight.shape[-2], weight.shape[-1] // 4
    n = 8 if outs <= 8 else max(16, triton.next_power_of_2(outs))
    examples, warps = TILES[way, 8 if n == 8 else 32 if n <= 32 else 64]
    return {
        "batch": cells.shape[-2], "SIDE": cells.shape[-3], "INS": ins, "OUTS": outs, "B": examples,
        "K": max(16, triton.next_power_of_2(ins)), "N": n, "num_warps": warps, "num_stages": 1,
        "ROUNDED": "tf32" if products_in_tf32() else "ieee",
    }  # fmt: skip


@torch.library.custom_op(
    "recombine::double", mutates_args=(), schema="(Tensor c, Tensor w, Tensor b, bool elu) -> Tensor"
)
def _double(cells: Tensor, weight: Tensor, bias: Tensor, elu: bool) -> Tensor:
    members, side, _, batch, _ = cells.shape
    sizes = _sizes("forward", cells, weight)
    out = cells.new_empty(members, 2 * side, 2 * side, batch, sizes["OUTS"])
    grid = (side * triton.cdiv(batch, sizes["B"]), members)
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
    sizes = _sizes("back", cells, weight)
    programs = side * triton.cdiv(batch, sizes["B"])
    to_weight = cells.new_empty(members, programs, *weight.shape[1:])
    to_bias = cells.new_empty(members, programs, sizes["OUTS"])
    cells, to_cells = cells.contiguous(), torch.empty_like(cells, memory_format=torch.contiguous_format)
    _backward[(programs, members)](cells, weight.contiguous(), grad.contiguous(), to_cells, to_weight, to_bias, **sizes)
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
    def forward(seed: Tensor, *parameters: Tensor) -> tuple[Tensor, ...]:
        cells = [torch.nn.functional.elu(seed).contiguous()[None]]
        for i in range(0, len(parameters), 2):
            weight, bias = (part.contiguous()[None] for part in parameters[i : i + 2])
            cells.append(_double(cells[-1], weight, bias, i + 2 < len(parameters)))
        return cells[-1][0], *cells[:-1]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*output[1:], *inputs[1::2])

    @staticmethod
    @torch.no_grad()
    def backward(ctx: Any, grad: Tensor, *_: Tensor) -> tuple[Tensor, ...]:
        saved = ctx.saved_tensors
        cells, weights = saved[: len(saved) // 2], saved[len(saved) // 2 :]
        grad, found = grad.contiguous()[None], []
        for a, weight in zip(reversed(cells), reversed(weights), strict=True):
            grad, to_weight, to_bias = _double_back(a, weight.contiguous()[None], grad)
            found += [to_bias[0], to_weight[0]]
        return grad[0], *reversed(found)


def doublings(seed: Tensor, parameters: Sequence[Tensor]) -> Tensor:
    """(4 × 4 × batch × channels) → (side × side × batch × outputs), given weight and bias of each doubling."""
    out: Tensor = _Doublings.apply(seed, *parameters)[0]  # type: ignore[no-untyped-call]
    return out
