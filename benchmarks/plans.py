"""What rows chosen by `check --budget` buy where effects do not add up, beside as many unseen rows drawn at random.

Planted tables; single effects of standard deviation 1, noise 0.5. After the rows are added, `check` answers every
combination that was asked at first. Printed: the ratio of the two root-mean-square errors (geometric mean over tables,
± 2 standard errors). Decided beforehand: a plan is better where that interval lies below 1.

    python benchmarks/plans.py
"""

from __future__ import annotations

import itertools

import numpy as np

from recombine.checks import Purpose, check

KINDS = {
    "one pair, single rows": ((4, 5, 3), 1, 0.4, 6, "one"),
    "one pair, two rows each": ((4, 5, 3), 2, 0.35, 6, "one"),
    "all pairs, single rows": ((4, 5, 3), 1, 0.5, 8, "all"),
    "two factors, two rows each": ((6, 5), 2, 0.6, 4, "one"),
}
"""Shape, rows of a combination, share seen, rows to collect, and which pairs act together: one with a standard
deviation of 3, or all with 1."""
NOISE = 0.5


def planted(shape, kind, rng):
    grid = np.array(list(itertools.product(*map(range, shape))))
    y = sum(rng.standard_normal(n)[grid[:, k]] for k, n in enumerate(shape))
    pairs = [(0, 1)] if kind == "one" else list(itertools.combinations(range(len(shape)), 2))
    for a, b in pairs:
        size = 3 if kind == "one" else 1
        y = y + size * rng.standard_normal((shape[a], shape[b]))[grid[:, a], grid[:, b]]
    return grid, y


def columns(codes):
    return {f"f{k}": column.astype(str) for k, column in enumerate(codes.T)}


def ratio(shape, rows, share, budget, kind, seed):
    rng = np.random.default_rng(seed)
    grid, y = planted(shape, kind, rng)
    x = np.concatenate([np.eye(n)[grid[:, k]] for k, n in enumerate(shape)], axis=1)
    while True:
        seen = rng.random(len(grid)) < share
        if np.linalg.matrix_rank(x[seen]) == np.linalg.matrix_rank(x):
            break
    trained = np.repeat(np.flatnonzero(seen), rows)
    told = y[trained] + NOISE * rng.standard_normal(len(trained))
    names = [f"f{k}" for k in range(len(shape))]
    table = columns(grid[trained]) | {"y": told}
    result = check(table, names, target="y", draws=9, purpose=Purpose(budget=budget))
    place = {tuple(map(str, row)): i for i, row in enumerate(grid.tolist())}
    chosen = [place[tuple(map(str, row.values()))] for row in result.space.decode(result.plan.cells)]
    drawn = np.random.default_rng(1000 + seed).permutation(np.flatnonzero(~seen))[:budget]
    errors = []
    for more in (chosen, drawn):
        new = y[more] + NOISE * np.random.default_rng(5000 + seed).standard_normal(budget)
        after = columns(grid[[*trained, *more]]) | {"y": [*told, *new]}
        asked = check(after, names, target="y", draws=9, test=columns(grid[~seen]))
        off = [q.prediction - y[place[tuple(map(str, asked.combination(q.codes).values()))]] for q in asked.queries]
        errors.append(float(np.sqrt(np.mean(np.square(off)))))
    return errors[0] / errors[1], result.doubt


def main(tables: int = 48) -> None:
    print("| planted | tables | adding up rejected | error after the plan / after random rows |\n|---|---|---|---|")
    for name, setting in KINDS.items():
        found = [ratio(*setting, seed) for seed in range(tables)]
        logs = np.log([r for r, _ in found])
        ends = np.exp(logs.mean() + np.array([0, -2, 2]) * logs.std(ddof=1) / np.sqrt(tables))
        rejected = sum(doubt == "rejected" for _, doubt in found)
        print(f"| {name} | {tables} | {rejected} | {ends[0]:.2f} [{ends[1]:.2f}, {ends[2]:.2f}] |", flush=True)


if __name__ == "__main__":
    main()
