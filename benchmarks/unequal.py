"""How often is adding up rejected where it is true, and some rows are noisier than others? And what does the guard
against that cost?

    python benchmarks/unequal.py [--tables 200] [--seed 0]

Planted tables of added effects, without and with a pair that acts together; noise alike, growing with the mean, five
times as large in one level, or of each combination its own (log-normal, .8). “by F” is without the guard of
`recombine.checks.adds_up.unequal`, “stands” what `check` says.
"""

from __future__ import annotations

import argparse
import math
from unittest.mock import patch

import numpy as np

from recombine.checks.adds_up import additivity as module
from recombine.checks.adds_up.additivity import additivity
from recombine.checks.exact.identifiability import Identifiability
from recombine.support.answers import Target

SHAPES: tuple[tuple[tuple[int, ...], int], ...] = (((6, 5), 3), ((8, 6), 2), ((4, 4, 3), 2), ((5, 4), 5))
"""Levels, and rows in each combination."""
NOISES = ("alike", "as the mean", "one level × 5", "each its own")


def planted(
    shape: tuple[int, ...], rows: int, noise: str, together: float, rng: np.random.Generator
) -> tuple[np.ndarray, Target]:
    """Means and sums of squares of four fifths of the combinations."""
    effects = [rng.normal(size=n) for n in shape]
    codes = np.stack(np.unravel_index(rng.permutation(math.prod(shape))[: int(0.8 * math.prod(shape))], shape), axis=1)
    truth = np.sum([effect[codes[:, k]] for k, effect in enumerate(effects)], axis=0)
    truth = truth + together * rng.normal(size=shape[:2])[codes[:, 0], codes[:, 1]]
    sizes = {"alike": np.ones(len(codes)), "as the mean": np.abs(truth + 4) / 4,
             "one level × 5": np.where(codes[:, 0] == 0, 5.0, 1.0),
             "each its own": np.exp(0.8 * rng.normal(size=len(codes)))}  # fmt: skip
    answers = truth[:, None] + 0.5 * sizes[noise][:, None] * rng.normal(size=(len(codes), rows))
    mean = answers.mean(axis=1)
    spread = ((answers - mean[:, None]) ** 2).sum(axis=1)
    return codes, Target("y", None, np.full(len(codes), rows), mean, spread)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print(f"{asked.tables} tables each, seed {asked.seed}: share rejected\n")
    print("| levels, rows | noise | added effects: by F | stands | a pair acts together: by F | stands |")
    print("|---|---|---:|---:|---:|---:|")
    for at, (shape, rows) in enumerate(SHAPES):
        for noise in NOISES:
            shares = []
            for together in (0.0, 0.5):
                found = np.zeros((asked.tables, 2), dtype=bool)
                for i in range(asked.tables):
                    rng = np.random.default_rng([asked.seed, at, i])
                    codes, target = planted(shape, rows, noise, together, rng)
                    known = Identifiability(codes, shape, 1)
                    names = tuple("abc"[: len(shape)])
                    with patch.object(module, "unequal", lambda *_: 0.0):
                        found[i, 0] = bool(additivity(known, target, names).rejected)
                    found[i, 1] = bool(additivity(known, target, names).rejected)
                shares += [f"{share:.3f}" for share in found.mean(axis=0)]
            print(f"| {' × '.join(map(str, shape))}, {rows} | {noise} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
