"""Numbers by address on a GPU in one pass: what ``draws.py`` computes in fifteen, to the same bits. Needs Triton."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 1024


@triton.jit(do_not_specialize=["count", "total"])  # type: ignore[untyped-decorator]
def _hashed(keys, out, count, total, BITS: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    here = at < total
    z = tl.load(keys + at // count, mask=here, other=0).to(tl.uint64)
    z += (at % count + 1).to(tl.uint64) * 0x9E3779B97F4A7C15
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    z = z ^ (z >> 31)
    if BITS == 64:
        tl.store(out + at, z.to(tl.int64, bitcast=True), mask=here)
    else:
        # As many bits as the type holds: neither rounded here nor by the power of two.
        number = (z >> (64 - BITS)).to(tl.int64).to(out.dtype.element_ty)
        tl.store(out + at, number * (1.0 / (1 << BITS)), mask=here)


def hashed(keys: Tensor, count: int, dtype: torch.dtype, bits: int) -> Tensor:
    """``count`` numbers of each key: 64-bit integers, or uniform on [0, 1) from so many bits."""
    out = torch.empty(*keys.shape, count, dtype=dtype, device=keys.device)
    if out.numel():
        with torch.cuda.device_of(keys):
            _hashed[(triton.cdiv(out.numel(), BLOCK),)](keys.contiguous(), out, count, out.numel(), bits, BLOCK)
    return out
