"""One step of Adam over a stack on one CPU core: in one go, in pieces that stay in the caches, and torch's own.

    python benchmarks/optimisers.py [--out FILE.md]

All start from the same numbers and take turns; the best of fifteen rounds. torch's has one learning rate for all.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from pathlib import Path

import torch

from recombine.training import Adam

ROUNDS = 15
STACKS = ((256, 150), (32, 60_000), (1, 350_000), (8, 350_000), (4, 700_000), (1, 5_000_000))


def steps(members: int, numbers: int) -> dict[str, Callable[[], None]]:
    optimizer, grad = Adam(lr=1e-3), torch.randn(members, numbers)
    rate, hyper = torch.full((members, 1), 1e-3), [1.0, 0.1, 0.03]

    def ours(update: Callable[..., None]) -> Callable[[], None]:
        flat = torch.randn(members, numbers)
        state = optimizer.start(flat)
        return lambda: update(flat, grad, state, rate, None, hyper)

    def torchs() -> Callable[[], None]:
        flat = torch.randn(members, numbers).requires_grad_()
        flat.grad = grad
        return torch.optim.Adam([flat], lr=1e-3).step

    return {"one go": ours(optimizer.update), "pieces": ours(optimizer.update_in_pieces), "torch": torchs()}


def milliseconds(step: Callable[[], None]) -> float:
    started = time.perf_counter()
    step()
    return 1000 * (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    lines = [
        f"A step of Adam on one core of {platform.machine()}, torch {torch.__version__}; milliseconds.",
        "",
        "| members × numbers | in one go | in pieces | torch.optim.Adam | one go / pieces | torch / pieces |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for members, numbers in STACKS:
        each = steps(members, numbers)
        rounds = [[milliseconds(step) for step in each.values()] for _ in range(ROUNDS + 1)][1:]
        whole, pieces, theirs = (min(column) for column in zip(*rounds, strict=True))
        shown = f"{whole:.2f} | {pieces:.2f} | {theirs:.2f} | {whole / pieces:.2f}× | {theirs / pieces:.2f}×"
        lines.append(f"| {members} × {numbers:,} | {shown} |".replace(",", " "))
    text = "\n".join(lines)
    print(text)
    if chosen.out is not None:
        chosen.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
