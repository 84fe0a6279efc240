"""Small convolutional networks on a CPU: one after another (loop), or as groups of one convolution (stacked)?

    python benchmarks/convolutions.py [--members 16] [--threads 1] [--out FILE.md]

One step of every member, forward, backward and update, in seconds of CPU time (so that other work on the machine counts
little), medians of three. ``touched`` is what the plan sees: bytes of one member's step.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from pathlib import Path

import torch
from torch import nn

from engine import fixed
from recombine.training import SGD
from recombine.training.plan import step_bytes
from recombine.training.stack import Objective, stack_members
from recombine.training.strategies import strategy_for

STEPS = 2


def network(channels: int, side: int) -> nn.Module:
    small = side // 4
    return nn.Sequential(
        nn.Conv2d(3, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(channels, 2 * channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(2 * channels * small * small, 10),
    )  # fmt: skip


def seconds(strategy: str, channels: int, side: int, batch: int, members: int) -> tuple[float, int]:
    """CPU seconds of a step of one member, and the bytes it touches."""
    task = fixed((3, side, side), 10, rows=64)
    objective = Objective(task)
    stack = stack_members(
        lambda: network(channels, side), range(members), optimizer=SGD(0.01), seed=0, device=torch.device("cpu"),
        dtype=None,
    )  # fmt: skip
    x = torch.randn(STEPS, members, batch, 3, side, side)
    y = torch.randint(10, (STEPS, members, batch))
    hyper = SGD(0.01).hyper(range(STEPS))
    run = strategy_for(strategy, stack, objective, shared=False)
    run.advance((x,), y, hyper, 0)
    times = []
    for _ in range(3):
        start = time.process_time()
        run.advance((x,), y, hyper, 0)
        times.append((time.process_time() - start) / STEPS / members)
    touched = step_bytes(network(channels, side), objective, ((x[0, 0].clone(),), y[0, 0]), 0)
    return statistics.median(times), touched


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--members", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    lines = [
        f"{asked.members} members, {asked.threads} thread(s), torch {torch.__version__}", "",
        "| channels | side | batch | touched (MB) | loop (ms) | stacked (ms) | loop / stacked |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]  # fmt: skip
    print("\n".join(lines))
    for channels, side, batch in itertools.product((4, 16, 32), (8, 16, 28), (4, 32)):
        loop, touched = seconds("loop", channels, side, batch, asked.members)
        stacked, _ = seconds("stacked", channels, side, batch, asked.members)
        found = f"{touched / 2**20:.2f} | {1e3 * loop:.2f} | {1e3 * stacked:.2f} | {loop / stacked:.2f}"
        lines.append(f"| {channels} | {side} | {batch} | {found} |")
        print(lines[-1], flush=True)
    if asked.out:
        asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
