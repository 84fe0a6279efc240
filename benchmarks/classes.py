"""Is an additive log-odds rejected where it holds, and where it does not? Tables of planted classes.

    python benchmarks/classes.py [--tables 60] [--first 0]

A tenth of the combinations is not seen; the others have so many rows on average. Rare: all classes but the first have
log-odds 2.5 lower. "Does not add up": each combination's log-odds moves by a normal number of standard deviation .8.

`python benchmarks/classes.py visitors`: is adding up found to beat one answer for all? 6 × 6 combinations, 25 of them
seen by so many visitors, of whom one in eight buys.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import recombine as rc
from recombine.checks.forecasts.forecast import forecast
from recombine.checks.rules.seen_cells import Cells

SHAPES = ((8, 10), (8, 10, 5))
ROWS = (5, 20)
ASKED = 0.1
VISITORS, EFFECTS = (1000, 120, 40), {0.25: 30, 0.6: 30, 0.0: 120}
"""Rows of a combination, and of effects on the log-odds how large and how many tables."""


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


def beats(rows: int, effect: float, seed: int) -> bool:
    """Whether sums are said to beat one answer for all, of one table of visitors."""
    rng = np.random.default_rng([rows, round(100 * effect), seed])
    codes = rng.permutation(np.indices((6, 6)).reshape(2, -1).T)
    odds = sum(rng.normal(0, effect, 6)[c] for c in codes.T) - 2
    share = rng.binomial(rows, 1 / (1 + np.exp(-odds))) / rows
    cells = Cells(codes, (6, 6), np.full(36, float(rows)), np.stack([1 - share, share], axis=1), None)
    told = forecast(cells.take(np.arange(25)), codes[25:], seed=seed)
    return not isinstance(told, str) and bool(told.explains)


def main_visitors() -> None:
    heads = " | ".join(f"{rows:,} visitors" for rows in VISITORS)
    lines = [f"| effects | tables | {heads} |", f"|---|{'---:|' * (1 + len(VISITORS))}"]
    for effect, tables in EFFECTS.items():
        counts = [str(sum(beats(rows, effect, seed) for seed in range(tables))) for rows in VISITORS]
        lines.append(f"| {effect} | {tables} | {' | '.join(counts)} |")
        print(lines[-1], flush=True)
    about = "`python benchmarks/classes.py visitors`: see there what is planted; in how many tables sums beat it."
    text = "\n".join(["# Do sums beat one answer for all? Planted visitors", "", about, "", *lines, ""])
    (Path(__file__).parent / "results" / "visitors-cpu.md").write_text(text, encoding="utf-8")


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
    main_visitors() if sys.argv[1:] == ["visitors"] else main()
