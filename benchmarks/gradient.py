"""Digit pairs and SCAN: ten runs as one would write them by hand against the engine.

    python benchmarks/gradient.py [--device cpu|cuda] [--source digits|mnist] [--only pairs|scan] [--strategies …]

By hand is a plain loop on one core (or on the GPU): module, torch.optim, zero_grad, backward, step, one run after the
other, on batches drawn beforehand. The engine draws its batches as it goes, on all cores, or stacked on the GPU. Both
are timed in the steady state and scaled to the paper's runs: 200 steps for pairs of digits, 2 000 for SCAN; what the
engine takes until its first block of steps is done (tracing, compiling) stands in a column of its own.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import torch
from torch import nn

from recombine.models import PairCNN, Seq2Seq
from recombine.tasks import DigitPairs, Draws, ScanTask, Task
from recombine.training import Adam, train
from recombine.training.stack import positional

RUNS = {"cpu": (10,), "cuda": (10, 64)}


@dataclass(frozen=True)
class Case:
    name: str
    model: Callable[[], nn.Module]
    task: Task
    batch: int
    steps: int


def cases(source: str, only: str | None, device: str) -> list[Case]:
    task = DigitPairs(source=source)  # type: ignore[arg-type]
    found = [Case(f"pairs of digits ({source})", PairCNN(shape=task.shape), task, 64, 200)]
    whole = device == "cuda"
    scan = ScanTask() if whole else ScanTask(longest=8, pairs=False)
    found.append(Case("SCAN" if whole else "SCAN, 76 commands", Seq2Seq(), scan, 256 if whole else 16, 2000))
    return [case for case in found if only is None or (only == "scan") == case.name.startswith("SCAN")]


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def by_hand(case: Case, device: torch.device, seconds: float) -> float:
    """Seconds a step of one run in a plain loop; on a CPU with one thread."""
    threads = torch.get_num_threads()
    if device.type == "cpu":
        torch.set_num_threads(1)
    module = case.model().to(device)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
    inputs, targets = case.task.batch(Draws.of([0], range(4), 0, device), case.batch)
    parts = positional(inputs)

    def run(steps: int) -> float:
        wait(device)
        started = time.perf_counter()
        for step in range(steps):
            optimizer.zero_grad()
            outputs = module(*(part[step % 4, 0] for part in parts))
            case.task.losses(outputs, targets[step % 4, 0]).mean().backward()
            optimizer.step()
        wait(device)
        return (time.perf_counter() - started) / steps

    run(3)
    each = min(run(max(3, int(seconds / 3 / run(3)))) for _ in range(3))
    torch.set_num_threads(threads)
    return each


def engine(case: Case, members: int, device: torch.device, strategy: str, seconds: float) -> tuple[float, float]:
    """Seconds a step of all members together once training is under way, and seconds until its first block was done.

    The first block of steps holds the starting costs: drawing weights, tracing, compiling, capture."""
    stamps: list[tuple[float, int]] = []

    def stamp(done: int, total: int) -> None:
        wait(device)
        stamps.append((time.perf_counter(), done))
        if len(stamps) > 2 and stamps[-1][0] - stamps[0][0] > seconds:
            raise Enough

    started = time.perf_counter()
    with suppress(Enough):
        train(case.model, case.task, members=members, steps=20 * case.steps, batch_size=case.batch, device=device,
              optimizer=Adam(lr=1e-3), strategy=strategy, progress=stamp)  # fmt: skip
    (first, before), (last, done) = stamps[0], stamps[-1]
    return (last - first) / (done - before) * members, first - started


class Enough(Exception):
    """Long enough to tell how fast it is."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--source", default="digits", choices=("digits", "mnist"))
    parser.add_argument("--only", choices=("pairs", "scan"))
    parser.add_argument("--strategies", default="auto", help="auto, or several of the engine's, with commas")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    device = torch.device(options.device)
    cores = f"{platform.machine()}, {torch.get_num_threads()} threads"
    where = torch.cuda.get_device_name() if device.type == "cuda" else cores
    lines = [
        f"torch {torch.__version__}, {where}", "",
        "| task | runs | by hand, s | engine, s | strategy | ratio | start, s |", "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for case in cases(options.source, options.only, options.device):
        plain = by_hand(case, device, options.seconds)
        for members, strategy in product(RUNS[options.device], options.strategies.split(",")):
            each, start = engine(case, members, device, strategy, options.seconds)
            hand, ours = plain * case.steps * members, each * case.steps
            ratio = f"{hand / ours:.1f} | {start:.1f}"
            lines.append(f"| {case.name} | {members} | {hand:.1f} | {ours:.1f} | {strategy} | {ratio} |")
            print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
