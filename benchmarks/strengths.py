"""At which strength of a planted failure does `measure` say what? Answers to unseen combinations lose a share of what
is known of seen ones, a few of them more of it.

    python benchmarks/strengths.py [--seeds 20] [--first 0]

Printed for each share that is lost on average, (unseen − seen) / (always the same answer − seen) in squares: how often
each verdict is given. More than half lost is a failure.
"""

from __future__ import annotations

import argparse
import collections
import sys
import warnings

import numpy as np

from planted_grid import Grid, numbers

LOST = (0.0, 0.1, 0.3, 0.5)
FEW, MOST = 0.2, 9.0
"""The share of unseen combinations that are off by much, and how many times as much as the others."""
VERDICTS = ("composes", "unclear", "partly", "fails")


def run(lost: float, seed: int) -> str:
    rng = np.random.default_rng([seed, int(100 * lost)])
    grid = Grid.of(rng, 8)
    mean = numbers(rng, grid, 2.0)
    y = mean + 0.1 * mean.std() * rng.normal(size=len(mean))
    size = rng.normal(size=(20, 20))
    far = rng.random((20, 20)) < FEW
    size = np.sign(size) * np.where(far, np.sqrt(MOST), 1.0) * (1 + 0.2 * rng.normal(size=size.shape))
    off = size[grid.a, grid.b] * grid.unseen
    off *= np.sqrt(lost / max(float(np.square(off[grid.unseen]).mean()), 1e-9)) * mean.std()
    return grid.measured(y, mean + off).verdict


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"| lost | {' | '.join(VERDICTS)} | other |")
    print("|---:|" + "---:|" * (len(VERDICTS) + 1))
    for lost in LOST:
        said = collections.Counter(run(lost, seed) for seed in range(given.first, given.first + given.seeds))
        counts = [said[v] for v in VERDICTS]
        print(f"| {lost:.2f} | {' | '.join(map(str, counts))} | {given.seeds - sum(counts)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
