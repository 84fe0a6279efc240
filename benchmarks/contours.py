"""Milliseconds of one core to draw an odd-one-out problem of contours, beside what the paper's generator takes.

    python benchmarks/contours.py [--sides 32 64 128] [--problems 1024] [--out FILE.md]

Process time of one thread, the best of three sets of fresh problems of the composition. The paper's generator draws at
128 pixels, one problem after the other; its times were measured on one Neoverse-N1 thread.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch

from recombine.tasks.odd_one_out import Contours, Family, build

FAMILIES = {
    ("inside", "contact"): "26–38",
    ("inside", "number"): "56–59",
    ("number", "contact"): "19–24",
    ("inside", "contact", "number"): "–",
}


def milliseconds(source: Contours, problems: int) -> float:
    build(source, Family(), 16)
    best = float("inf")
    for seed in range(3):
        started = time.process_time()
        build(source, Family(), problems, seed=seed)
        best = min(best, time.process_time() - started)
    return 1000 * best / problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", type=int, nargs="+", default=[32, 64, 128])
    parser.add_argument("--problems", type=int, default=1024)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    lines = [
        "| rules | the paper's, 128 px | " + " | ".join(f"{side} px" for side in chosen.sides) + " |",
        "|---|---|" + "---|" * len(chosen.sides),
    ]
    for rules, paper in FAMILIES.items():
        cells = []
        for side in chosen.sides:
            too_small = {"inside", "number"} <= set(rules) and side < 48
            took = "–" if too_small else f"{milliseconds(Contours(side=side, obeyed=rules), chosen.problems):.2f}"
            cells.append(took)
        lines.append(f"| {' ∧ '.join(rules)} | {paper} | " + " | ".join(cells) + " |")
    text = "\n".join(lines)
    print(text)
    if chosen.out is not None:
        chosen.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
