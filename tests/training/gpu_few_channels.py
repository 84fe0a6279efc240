"""The gradient of the weights of convolutions of few channels beside torch's in float64.

    python tests/training/gpu_few_channels.py

On a GPU at the sizes of a search for masks too, in full, in TF32 and in half precision; without one a few small cases
in Triton's interpreter. One line per case: the norm of the difference over that of the gradient.
"""

from __future__ import annotations

import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported

from recombine.training.strategies import few_channels
from recombine.training.strategies.few_channels import weights_gradient

GPU = torch.cuda.is_available()
SMALL = [(3, 16, 8, 1, 2), (16, 16, 8, 2, 3), (16, 16, 8, 1, 2), (16, 32, 7, 2, 3), (5, 7, 6, 1, 3)]
LARGE = [(3, 16, 64, 1, 256), (16, 16, 64, 2, 256), (16, 16, 32, 1, 256), (16, 32, 32, 2, 256), (32, 32, 16, 1, 256)]
"""Channels in and out, side, stride, pictures."""
WITHIN = {("float32", False): 2e-6, ("float32", True): 2e-3, ("bfloat16", True): 4e-3}


def compared(ins: int, outs: int, side: int, stride: int, count: int, dtype: torch.dtype, tf32: bool) -> bool:
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = tf32
    device = "cuda" if GPU else "cpu"
    pictures = torch.randn(count, ins, side, side, device=device, dtype=dtype)
    weight = torch.zeros(outs, ins, 3, 3, device=device, dtype=torch.float64, requires_grad=True)
    made = torch.conv2d(pictures.double(), weight, None, stride, 1)
    back = torch.randn_like(made).to(dtype)
    (expected,) = torch.autograd.grad(made, weight, back.double())
    found = weights_gradient(pictures, back, stride)
    off = float((found.double() - expected).norm() / expected.norm())
    name = str(dtype).removeprefix("torch.")
    print(f"{ins:2d} → {outs:2d}, {side:2d} × {side:2d}, stride {stride}, {name}{', TF32' if tf32 else ''}: {off:.1e}")
    return off < WITHIN[name, tf32]


def main() -> int:
    few_channels.INSTANCES = few_channels.INSTANCES if GPU else 5
    right = [compared(*case, torch.float32, False) for case in SMALL]
    if GPU:
        for dtype, tf32 in ((torch.float32, False), (torch.float32, True), (torch.bfloat16, True)):
            right += [compared(*case, dtype, tf32) for case in LARGE]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
