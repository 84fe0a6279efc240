"""One step of residual networks with our instance norm, beside the same networks with torch's.

    python benchmarks/norms.py [--device cpu|cuda] [--out FILE.md]

Forward, backward and Adam on 128 pictures of 64×64 (16 of 32×32 on a CPU), both norms taking turns, the best of five
rounds. On a GPU a step is captured as a graph, so that launches do not count.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from recombine.models import ResNet, resnet_50
from recombine.models.resnet import _InstanceNorm

ROUNDS = 5


class TorchsNorm(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.instance_norm(x)


def with_torchs(module: nn.Module) -> nn.Module:
    """The network, its norms replaced by torch's."""
    for parent in module.modules():
        for name, child in parent.named_children():
            if isinstance(child, _InstanceNorm):
                setattr(parent, name, TorchsNorm())
    return module


def networks(device: str) -> dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]]:
    def small(side: int, width: int) -> ResNet:
        channels = (width, 2 * width, 4 * width, 8 * width)
        return ResNet(shape=(3, side, side), channels=channels, blocks=2, norm="instance", outputs=64)

    if device == "cpu":
        return {"18 layers, 16 × 32 px": (small(32, 16), (16, 3, 32, 32))}
    return {
        "18 layers, 128 × 64 px": (small(64, 16), (128, 3, 64, 64)),
        "ResNet-50, 128 × 64 px": (resnet_50(64, stem="cifar", halve_first=True), (128, 3, 64, 64)),
    }


def stepping(module: nn.Module, shape: tuple[int, ...], device: str) -> Callable[[], None]:
    module, pictures = module.to(device), torch.randn(shape, device=device)
    optimizer = torch.optim.Adam(module.parameters(), capturable=device == "cuda")

    def step() -> None:
        optimizer.zero_grad(set_to_none=False)
        module(pictures).square().mean().backward()
        optimizer.step()

    if device == "cpu":
        return step
    aside = torch.cuda.Stream()
    with torch.cuda.stream(aside):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()

    def replay(holding: object = step) -> None:
        """A graph writes to what its step holds, which must outlive it."""
        graph.replay()

    return replay


def milliseconds(step: Callable[[], None], times: int, device: str) -> float:
    started = time.perf_counter()
    for _ in range(times):
        step()
    if device == "cuda":
        torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - started) / times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    where = torch.cuda.get_device_name() if chosen.device == "cuda" else f"one core of {platform.machine()}"
    lines = [
        f"Instance norms on {where}, torch {torch.__version__}; wall milliseconds per step.",
        "",
        "| network | torch's | ours | ratio |",
        "|---|---:|---:|---:|",
    ]
    for name, (build, shape) in networks(chosen.device).items():
        steps = [stepping(made, shape, chosen.device) for made in (with_torchs(build()), build())]
        rounds = [[milliseconds(step, 5, chosen.device) for step in steps] for _ in range(ROUNDS + 1)][1:]
        theirs, ours = (min(column) for column in zip(*rounds, strict=True))
        lines.append(f"| {name} | {theirs:.2f} | {ours:.2f} | {theirs / ours:.2f}× |")
    text = "\n".join(lines)
    print(text)
    if chosen.out is not None:
        chosen.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
