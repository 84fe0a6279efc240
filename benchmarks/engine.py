"""Member-steps per second: one plain PyTorch loop a member against the engine, by kind of network.

    python benchmarks/engine.py [--device cpu|cuda] [--members 1 16 64 128 512] [--networks toy ...]
                                [--strategies auto captured ...] [--precisions float32 tf32 bfloat16] [--out FILE.md]

The loop is what one would write by hand: module, torch.optim, zero_grad, backward, step, on batches drawn beforehand.
The engine draws its batches as it goes. Both are timed in the steady state, after warming up; medians of three parts.
Where the engine chooses a loop, a member costs the same whatever their number, so it is timed with two.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path

import torch
from torch import nn

from recombine.models import ConvNet, Perceptron
from recombine.space import FactorSpace
from recombine.support import full
from recombine.tasks import FixedTask, Task, ToyTask, cross_entropy, squared_error
from recombine.training import SGD, Adam, Optimizer, plan_training, train
from recombine.training.engine import BLOCK_STEPS, FUSED_STEPS
from recombine.training.plan import FUSED_STEPS as LEAST_FUSED

MOST_STEPS = 2**20


@dataclass(frozen=True)
class Network:
    """A network to train, its task and its optimiser; ``plain`` is the same optimiser from torch.optim."""

    name: str
    model: Callable[[], nn.Module]
    task: Task
    batch: int
    optimizer: Optimizer
    plain: Callable[[nn.Module], torch.optim.Optimizer]


def fixed(shape: tuple[int, ...], outputs: int | tuple[int, ...], rows: int = 1024) -> FixedTask:
    """Random inputs; integer ``outputs`` is a number of classes, a tuple the shape of a target to regress on."""
    space = FactorSpace.of(a=4, b=4)
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(rows, *shape, generator=generator)
    codes = torch.randint(4, (rows, 2), generator=generator)
    if isinstance(outputs, int):
        targets = torch.randint(outputs, (rows,), generator=generator)
        return FixedTask(space, full(space), full(space), inputs, targets, codes, cross_entropy)
    return FixedTask(
        space, full(space), full(space), inputs, torch.randn(rows, *outputs, generator=generator), codes, squared_error
    )


def small_cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 25, 10),
    )  # fmt: skip


NETWORKS = (
    Network("toy 2-8-8-8-2", Perceptron(widths=(2, 8, 8, 8, 2)), ToyTask(), 10, SGD(lr=0.1),
            lambda m: torch.optim.SGD(m.parameters(), lr=0.1)),
    Network("one hidden layer of 1000", Perceptron(widths=(18, 1000, 1)), fixed((18,), (1,)), 32, SGD(lr=0.01),
            lambda m: torch.optim.SGD(m.parameters(), lr=0.01)),
    Network("perceptron 64-64-64", Perceptron(widths=(64, 64, 64)), fixed((64,), (64,)), 64, Adam(lr=1e-3),
            lambda m: torch.optim.Adam(m.parameters(), lr=1e-3)),
    Network("decoder 20-256-256-784", Perceptron(widths=(20, 256, 256, 784)), fixed((20,), (784,)), 64, Adam(lr=1e-3),
            lambda m: torch.optim.Adam(m.parameters(), lr=1e-3)),
    Network("small CNN 28x28", small_cnn, fixed((1, 28, 28), 10), 64, SGD(lr=0.01),
            lambda m: torch.optim.SGD(m.parameters(), lr=0.01)),
)  # fmt: skip
FOR_A_GPU = (
    Network("ConvNet 28x48", ConvNet(shape=(3, 28, 48)), fixed((3, 28, 48), (1,)), 128, SGD(lr=1e-4, momentum=0.9),
            lambda m: torch.optim.SGD(m.parameters(), lr=1e-4, momentum=0.9)),
)  # fmt: skip
"""Timed where they are named: a step of one takes seconds on a CPU."""


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def loop_rate(network: Network, device: torch.device, seconds: float) -> float:
    """Steps per second of one member in a plain loop."""
    from recombine.tasks import Draws

    module = network.model().to(device)
    optimizer = network.plain(module)
    inputs, targets = network.task.batch(Draws.of([0], range(8), 0, device), network.batch)
    assert isinstance(inputs, torch.Tensor)

    def run(steps: int) -> float:
        wait(device)
        started = time.perf_counter()
        for step in range(steps):
            optimizer.zero_grad()
            network.task.losses(module(inputs[step % 8, 0]), targets[step % 8, 0]).mean().backward()
            optimizer.step()
        wait(device)
        return time.perf_counter() - started

    run(10)
    steps = max(20, int(seconds * 20 / run(20)))
    return statistics.median(steps / run(steps) for _ in range(3))


def engine_rate(
    network: Network,
    members: int,
    device: torch.device,
    seconds: float,
    strategy: str,
    least: int = 0,
    precision: str = "float32",
) -> tuple[float, str, int]:
    """Member-steps per second of the engine in a training of at least so many steps, with the strategy and the stack it
    chose."""
    marks: list[tuple[float, int]] = []
    how = {"batch_size": network.batch, "optimizer": network.optimizer, "device": device, "strategy": strategy,
           "precision": precision}  # fmt: skip

    def run(members: int, steps: int) -> dict[str, object]:
        marks.clear()
        return train(network.model, network.task, members=members, steps=steps, **how,
                     progress=lambda done, total: marks.append((time.perf_counter(), done))).notes  # fmt: skip

    def rates(parts: int) -> list[float]:
        # The engine reports after each block of steps, when the device is done with it; the first pays for starting.
        cuts = [marks[(len(marks) - 1) * part // parts] for part in range(parts + 1)]
        return [(after - before) / (end - start) for (start, before), (end, after) in pairwise(cuts)]

    asked = members
    plan, _ = plan_training(network.model, network.task, members=members, steps=MOST_STEPS, **how)
    if plan.strategy == "loop":
        members = min(members, 2)
    block = FUSED_STEPS if plan.strategy == "fused" else BLOCK_STEPS
    few = min(members, 512)
    run(few, 4 * block)
    # Blocks of many members are shorter; eight are enough to time three parts.
    least = max(least, 8 * block * few // members, LEAST_FUSED if plan.strategy == "fused" else 4 * block)
    notes = run(members, max(least, min(MOST_STEPS, int(seconds * rates(1)[0] / members))))
    stack = asked if notes["strategy"] == "loop" else int(str(notes["stack"]))
    return statistics.median(rates(3)), str(notes["strategy"]), stack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--members", type=int, nargs="+", default=[1, 16, 64, 128, 512])
    parser.add_argument("--networks", nargs="+", default=[n.name.split()[0] for n in NETWORKS])
    parser.add_argument("--strategies", nargs="+", default=["auto"])
    parser.add_argument("--precisions", nargs="+", default=["float32"])
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds timed for each cell")
    parser.add_argument("--steps", type=int, default=0, help="steps of a training at the least: long ones are compiled")
    parser.add_argument("--out", type=Path, help="also write the table here")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    name = (
        torch.cuda.get_device_name()
        if device.type == "cuda"
        else f"{platform.machine()} CPU, {torch.get_num_threads()} threads"
    )
    lines = [
        f"Member-steps per second on {name}, torch {torch.__version__}: a plain loop per member against the engine.",
        "",
        "| network | members | loop | engine | ratio | strategy | stack |",
        "|---|---:|---:|---:|---:|---|---:|",
    ]
    print("\n".join(lines), flush=True)
    for network in NETWORKS + FOR_A_GPU:
        if network.name.split()[0] not in arguments.networks:
            continue
        loop = loop_rate(network, device, arguments.seconds)
        for members, asked, precision in product(arguments.members, arguments.strategies, arguments.precisions):
            rate, strategy, stack = engine_rate(
                network, members, device, arguments.seconds, asked, arguments.steps, precision
            )
            strategy += f", {precision}" * (precision != "float32")
            cells = (network.name, members, f"{loop:,.0f}", f"{rate:,.0f}", f"{rate / loop:.1f}×", strategy, stack)
            lines.append("| " + " | ".join(map(str, cells)) + " |")
            print(lines[-1], flush=True)
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
