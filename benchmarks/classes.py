"""Is an additive log-odds rejected where it holds, and where it does not? Tables of planted classes.

    python benchmarks/classes.py [--tables 60] [--first 0]

A tenth of the combinations is not seen; the others have so many rows on average. Rare: all classes but the first have
log-odds 2.5 lower. "Does not add up": each combination's log-odds moves by a normal number of standard deviation .8.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import recombine as rc

SHAPES = ((8, 10), (8, 10, 5))
ROWS = (5, 20)
ASKED = 0.1


def rejected(shape: tuple[int, ...], rows: int, classes: int, rare: bool, moved: float, seed: int) -> bool:
    """Of one table."""
    rng = np.random.default_rng([*shape, rows, classes, rare, seed])
    codes = np.indices(shape).reshape(len(shape), -1)
    effects = [rng.standard_normal((n, classes - 1)) for n in shape]
    odds = sum(e[c] for e, c in zip(effects, codes, strict=True)) - 2.5 * rare
    odds = odds + moved * rng.standard_normal(odds.shape)
    chances = np.exp(np.hstack([np.zeros((codes.shape[1], 1)), odds]))
    chances /= chances.sum(axis=1, keepdims=True)
    often = np.where(rng.random(codes.shape[1]) < ASKED, 0, np.maximum(rng.poisson(rows, codes.shape[1]), 1))
    of = np.repeat(np.arange(len(often)), often)
    y = (chances[of].cumsum(axis=1) < rng.random((len(of), 1))).sum(axis=1)
    names = "abc"[: len(shape)]
    table = {name: codes[k][of].astype(str) for k, name in enumerate(names)} | {"y": [f"class {c}" for c in y]}
    found = rc.check(table, list(names), target="y", draws=9).additivity
    return bool(found is not None and found.rejected)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    lines = ["| factors | rows | classes | rejected where it adds up | where it does not |", "|---|---:|---|---:|---:|"]
    for shape in SHAPES:
        for rows in ROWS:
            for classes in (2, 3):
                for rare in (False, True):
                    counts = []
                    for moved, tables in ((0.0, given.tables), (0.8, given.tables // 3)):
                        seeds = range(given.first, given.first + tables)
                        count = sum(rejected(shape, rows, classes, rare, moved, seed) for seed in seeds)
                        counts.append(f"{count} of {tables}")
                    what = f"{classes}{', rare' * rare}"
                    lines.append(f"| {' × '.join(map(str, shape))} | {rows} | {what} | {' | '.join(counts)} |")
                    print(lines[-1], flush=True)
    last = given.first + given.tables - 1
    about = (
        f"`python benchmarks/classes.py --tables {given.tables} --first {given.first}`: tables whose log-odds add up "
    )
    about += f"or do not, seeds {given.first} to {last}; at .01."
    text = "\n".join(["# Do log-odds add up? Planted classes", "", about, "", *lines, ""])
    (Path(__file__).parent / "results" / "classes-cpu.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
