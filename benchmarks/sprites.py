"""Pictures per second: two sprites composed by hard occlusion, ours against Pillow drawing one sprite at a time.

    python benchmarks/sprites.py [--device cpu|cuda] [--batch 512] [--side 64] [--rounds 9] [--out FILE.md]

Both make float32 pictures (batch × side × side × 3) of the same latents. Pillow gets what a plain loop does: an 8-bit
canvas a sprite, ``ImageDraw.polygon``, flipped, divided by 255, then composed a batch at a time. Latents are drawn
beforehand; "with latents" also draws them, as training does; "into one buffer" writes each batch over the last, as a
data loader may. On a CPU one core is used and both wall and CPU time are given, because a shared machine lengthens the
first; the device's pictures are compared with Pillow's before timing.
"""

from __future__ import annotations

import argparse
import colorsys
import math
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, __version__ as pillow_version

from recombine.tasks import Draws, SpriteTask
from recombine.tasks.sprites import HardOcclusion
from recombine.tasks.sprites.shapes import PAPER_SHAPES, polygon


def one_sprite(sprite: list[float], corners: np.ndarray, side: int) -> np.ndarray:
    """A sprite drawn by Pillow: (side × side × 3) bytes, y upwards."""
    x, y, _, scale, hue = sprite
    image = Image.new("RGB", (side, side))
    outline = side * (scale * corners + np.array([x, y]))
    colour = tuple(int(255 * level) for level in colorsys.hsv_to_rgb(hue, 1.0, 1.0))
    ImageDraw.Draw(image).polygon([tuple(corner) for corner in outline.tolist()], fill=colour)
    return np.flipud(np.asarray(image))


def with_pillow(sprites: torch.Tensor, side: int) -> torch.Tensor:
    """Pictures (batch × cells × 3) of sprites (batch × K × 5), one at a time."""
    corners = [polygon(n).t().numpy() for n in PAPER_SHAPES]
    drawn = np.stack([
        np.stack([one_sprite(s, corners[int(s[2])], side) for s in row]) for row in sprites.double().tolist()
    ])  # fmt: skip
    parts = torch.from_numpy(drawn.astype(np.float32) / 255).flatten(2, 3)
    return HardOcclusion()(parts)


@dataclass(frozen=True)
class Row:
    """One way to make ``pictures`` pictures."""

    name: str
    pictures: int
    make: Callable[[], object]
    wait: Callable[[], None] = lambda: None

    def seconds(self) -> tuple[float, float]:
        """Wall and CPU seconds per picture, over a third of a second or more."""
        # The first call of a turn meets the memory that another row left, and is not timed.
        self.make()
        self.wait()
        rounds, wall, cpu = 0, time.perf_counter(), time.process_time()
        while not rounds or time.process_time() - cpu < 0.3:
            self.make()
            # Each picture set is waited for: a GPU's queue would else hold minutes of work by the time the CPU stops.
            self.wait()
            rounds += 1
        made = rounds * self.pictures
        return (time.perf_counter() - wall) / made, (time.process_time() - cpu) / made


def captured(make: Callable[[], object]) -> Callable[[], object]:
    """The same work as one CUDA graph."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            make()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        make()
    return graph.replay


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--batch", type=int, nargs="+", default=None, help="default: 512, and 32768 on a GPU")
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=9, help="how often each row is timed")
    parser.add_argument("--out", type=Path, help="also write the table here")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    device = torch.device(arguments.device)
    gpu = device.type == "cuda"
    wait: Callable[[], None] = torch.cuda.synchronize if gpu else lambda: None
    task = SpriteTask(side=arguments.side, support="random", samples=None)
    name = torch.cuda.get_device_name() if gpu else f"one core of a {platform.machine()} CPU"
    sprites = task.latents.scaled(task.points("all", 512, 0))
    drawn = with_pillow(sprites, arguments.side)
    differing = int((task.pictures(task.points("all", 512, 0).to(device)).cpu() != drawn).any(-1).sum())
    rows = [Row("Pillow, one sprite at a time", 512, lambda: with_pillow(sprites, arguments.side))]
    for batch in arguments.batch or ([512, 32768] if gpu else [512]):
        points = task.points("all", batch, 1).to(device)
        draws = Draws.of([0], range(1), 0, device)
        ours = {
            "ours": partial(task.pictures, points),
            "ours, into one buffer": partial(task.pictures, points, out=torch.empty_like(task.pictures(points))),
            "ours, with latents": partial(task.batch, draws, batch),
        }
        rows += [Row(row, batch, make, wait) for row, make in ours.items()]
        if gpu:
            rows += [Row(f"{row}, captured", batch, captured(make), wait) for row, make in ours.items()]
    # Rows take turns, so that a neighbour on a shared machine slows all of them.
    for row in rows:
        row.seconds()
    taken = np.array([[row.seconds() for row in rows] for _ in range(arguments.rounds)])
    rates = 1 / np.median(taken, axis=0)
    clock = 0 if gpu else 1
    ratios = np.median(taken[:, :1, clock] / taken[:, :, clock], axis=0)
    lines = [
        f"Pictures per second, {arguments.side}×{arguments.side}×3 float32, two sprites composed, on {name}, torch "
        f"{torch.__version__}, Pillow {pillow_version} on one core; {differing} of {math.prod(drawn.shape[:2])} pixels "
        f"differ from Pillow's. Medians of {arguments.rounds}.",
        "",
        f"| what | batch | wall | CPU | × Pillow ({'wall' if gpu else 'CPU'}) |",
        "|---|---:|---:|---:|---:|",
    ]
    for row, (wall, cpu), ratio in zip(rows, rates, ratios, strict=True):
        lines.append(f"| {row.name} | {row.pictures} | {wall:,.0f} | {cpu:,.0f} | {ratio:,.1f}× |")
    print("\n".join(lines))
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
