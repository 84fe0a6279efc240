"""How far half precision turns the gradient of a mask, beside how far one batch turns it.

    python benchmarks/rounding.py [--out FILE.md]

The mean loss of 64 problems of contours with soft-masked weights of the trained network that comes with the package, at
the start of a search and for random masks half-way and late in it. Off by: the norm of the difference to float32 over
that of the gradient. Between batches: the same for four other batches of 64, the median. Rounding is torch's autocast
on a CPU; float16 with the loss times 4096, since its gradients are too small for it otherwise.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import Tensor
from torch.func import functional_call, grad

from recombine.structure import subroutines_of
from recombine.studies.break_it_down.dissection import read_bases
from recombine.studies.break_it_down.settings import FILE, HASH, SMALL_RESNET
from recombine.tasks import Contours, cross_entropy

SCALE = 4096.0
HALVES = {"bfloat16": (torch.bfloat16, 1.0), "float16": (torch.float16, SCALE)}
STAGES = {"start": (1.0, 0.0), "half-way": (14.0, 0.3), "late": (100.0, 0.3)}
"""Temperature, and how far the numbers of a mask lie apart."""


def rows() -> list[str]:
    model = read_bases(FILE, HASH, lambda: SMALL_RESNET()).member(0).eval()
    weights = {name: weight.detach() for name, weight in model.named_parameters()}
    found = []
    for part in subroutines_of(Contours(side=32), problems=320, asked=8, seed=1):
        batches = [(part.train.inputs[at : at + 64], part.train.targets[at : at + 64]) for at in range(0, 320, 64)]
        for stage, (beta, spread) in STAGES.items():
            drawn = torch.Generator().manual_seed(0)
            numbers = {name: 0.05 + spread * torch.randn(weight.shape, generator=drawn)
                       for name, weight in weights.items() if weight.dim() > 1}  # fmt: skip

            def loss(numbers: dict[str, Tensor], shown: Tensor, said: Tensor, scale: float, beta: float) -> Tensor:
                masked = {name: weights[name] * torch.sigmoid(beta * number) for name, number in numbers.items()}
                out = functional_call(model, weights | masked, (shown,)).float()
                return scale * cross_entropy(out, said).mean()

            def of(batch: tuple[Tensor, Tensor], scale: float = 1.0, beta: float = beta) -> Tensor:
                each = grad(loss)(numbers, *batch, scale, beta)  # noqa: B023 - called here and now
                return torch.cat([each[name].flatten() for name in sorted(each)]) / scale

            exact = of(batches[0])

            def off(other: Tensor, exact: Tensor = exact) -> float:
                return float((other - exact).norm() / exact.norm())

            rounded = []
            for dtype, scale in HALVES.values():
                with torch.autocast("cpu", dtype, cache_enabled=False):
                    rounded.append(off(of(batches[0], scale)))
            between = float(torch.tensor([off(of(batch)) for batch in batches[1:]]).median())
            found.append(f"| {part.name} | {stage} | {rounded[0]:.4f} | {rounded[1]:.4f} | {between:.2f} |")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    head = ["| rule | mask | bfloat16 | float16 | between batches |", "|---|---|---:|---:|---:|"]
    text = "\n".join(head + rows())
    print(text)
    if chosen.out is not None:
        chosen.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
