"""The programs of the sprite decoder beside its products: outputs and every gradient, one network and several.

    python tests/models/gpu_upsample.py

On a GPU at the size of the paper too, in full and in TF32; without one a few small cases in Triton's interpreter, which
takes a minute. One line per case: the largest difference relative to the tensor it is in.
"""

from __future__ import annotations

import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported

import numpy as np
import triton.runtime.interpreter as interpreter
from torch import Tensor
from torch.func import functional_call, grad, vmap

from recombine.models import Upsampler
from recombine.models.upsample_gpu import doublings
from recombine.training.precision import rounding

GPU = torch.cuda.is_available()


def _splat(self: object, to: object, number: interpreter.TensorHandle) -> interpreter.TensorHandle:
    """Triton 3.9's interpreter makes an int32 of a comparison of numbers where it is spread over a tile."""
    return interpreter.TensorHandle(np.full(to.shape, number.data.ravel()[0]), number.dtype.scalar)  # type: ignore[attr-defined]


interpreter.InterpreterBuilder.create_splat = _splat

SMALL = [(8, 4, 3, 5), (16, 3, 4, 5), (8, 9, 12, 3), (8, 40, 3, 2)]
LARGE = [(64, 32, 3, 512), (64, 32, 4, 500), (64, 64, 3, 512)]
"""Side, channels, outputs, examples."""


def compared(side: int, channels: int, outputs: int, batch: int, tf32: bool = False) -> tuple[bool, str]:
    torch.manual_seed(0)
    device = "cuda" if GPU else "cpu"
    module = Upsampler(inputs=5, outputs=outputs, side=side, hidden=8, channels=channels)().to(device).doublings
    named = dict(module.named_parameters())  # type: ignore[union-attr]
    members = 2
    weights = {name: torch.stack([p.detach() * (1 + m / 4) for m in range(members)]) for name, p in named.items()}
    seed = torch.randn(members, 4, 4, batch, channels, device=device)
    weighed = torch.randn(side, side, batch, outputs, device=device)

    def plain(seed: Tensor, weights: dict[str, Tensor]) -> Tensor:
        return functional_call(module, weights, (seed,))  # type: ignore[arg-type]

    def programs(seed: Tensor, weights: dict[str, Tensor]) -> Tensor:
        return doublings(seed, list(weights.values()))

    def gradients(of: object) -> list[Tensor]:
        found = vmap(grad(lambda *given: (of(*given) * weighed).sum(), argnums=(0, 1)))(seed, weights)  # type: ignore[operator]
        return [found[0], *found[1].values()]

    one = (seed[0], {name: value[0] for name, value in weights.items()})
    wanted = [plain(*one), *gradients(plain)]
    with rounding("tf32" if tf32 else "float32"):
        found = [programs(*one), *gradients(programs)]
    apart = max(((a - b).abs().max() / a.abs().max()).item() for a, b in zip(wanted, found, strict=True))
    return apart < (1e-2 if tf32 else 3e-6), f"{'TF32' if tf32 else 'full'} {apart:.1e}"


if __name__ == "__main__":
    wrong = 0
    for case in SMALL + LARGE if GPU else SMALL:
        for tf32 in (False, True) if GPU else (False,):
            right, told = compared(*case, tf32)
            wrong += not right
            print("same" if right else "DIFFERENT", *case, told, flush=True)
    sys.exit(wrong > 0)
