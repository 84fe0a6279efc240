"""Convolutions of few channels and their gradients beside torch's in float64.

    python tests/training/gpu_convolution.py

On a GPU at the sizes of the paper's ConvNets too; without one a few small cases in Triton's interpreter. One line per
case: the norm of the difference over that of what is right, for what comes out and both gradients.
"""

from __future__ import annotations

import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported

from recombine.training.strategies.convolution_gpu import convolved, weights_back

GPU = torch.cuda.is_available()
SMALL = [(3, 32, 5, 0, 9, 11, 2), (2, 32, 5, 0, 8, 9, 2), (32, 64, 5, 0, 7, 8, 2), (64, 64, 5, 0, 6, 7, 1),
         (3, 16, 3, 1, 6, 7, 2), (16, 32, 3, 1, 5, 6, 2), (5, 7, 3, 1, 6, 5, 3), (64, 10, 1, 0, 3, 4, 2)]  # fmt: skip
LARGE = [(3, 32, 5, 0, 28, 48, 128), (32, 32, 5, 0, 24, 44, 128), (32, 64, 5, 0, 20, 40, 128),
         (64, 64, 5, 0, 16, 36, 128), (16, 16, 3, 1, 64, 64, 256), (32, 32, 3, 1, 16, 16, 256)]  # fmt: skip
"""Channels in and out, side and padding of the kernel, height, width, pictures."""
WITHIN = 5e-6


def compared(ins: int, outs: int, side: int, pad: int, height: int, width: int, count: int) -> bool:
    torch.manual_seed(0)
    device = "cuda" if GPU else "cpu"
    x = torch.randn(count, ins, height, width, device=device).half()
    w = torch.randn(outs, ins, side, side, device=device).half()
    exact = x.double().requires_grad_(), w.double().requires_grad_()
    made = torch.conv2d(*exact, padding=pad)
    g = torch.randn_like(made).half()
    right = made, *torch.autograd.grad(made, exact, g.double())
    x, g, w = x.permute(0, 2, 3, 1), g.permute(0, 2, 3, 1), w.permute(2, 3, 1, 0)
    turned = w.flip(0, 1).transpose(2, 3)
    found = (convolved(x, w, pad).permute(0, 3, 1, 2), convolved(g, turned, side - 1 - pad).permute(0, 3, 1, 2),
             weights_back(x, g, side, pad).permute(3, 2, 0, 1))  # fmt: skip
    off = [float(((f.double() - r).norm() / r.norm()).detach()) for f, r in zip(found, right, strict=True)]
    print(f"{ins:2d} → {outs:2d}, kernel {side}, padding {pad}, {height} × {width}:", *(f"{o:.1e}" for o in off))
    return max(off) < WITHIN


def main() -> int:
    right = [compared(*case) for case in SMALL + (LARGE if GPU else [])]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
