"""How often `check` names a column nobody named: one that explains nothing, and days that shift the answer.

Planted tables of 3 factors, effects of standard deviation 1, noise 1, and columns beside: a day of 5, an operator of 3,
a date of one in three rows, a plate in the order of the rows, a batch that goes with a factor in 9 of 10 rows, a group
that a factor decides, an id for each row. *Nothing*: none of them acts. *Days*: the day shifts the answer by so many
times the noise.

Decided beforehand: any column is named in at most 5 % of the tables where nothing acts, whatever the noise (two
standard errors of the count allowed); day is the one named in two thirds of the tables where it shifts by as much as
the noise, and in 95 % where by three times as much.

    python benchmarks/unnamed.py
"""

from __future__ import annotations

import numpy as np

from recombine.checks.unnamed import unnamed

SHAPE = (5, 4, 3)
GRID = np.stack(np.meshgrid(*map(np.arange, SHAPE), indexing="ij"), axis=-1).reshape(-1, len(SHAPE))
WIDE = np.array([0.3, 1, 1, 1, 3])
NOISES = {
    "normal": lambda codes, rng: rng.standard_normal(len(codes)),
    "skewed": lambda codes, rng: np.exp(1.2 * rng.standard_normal(len(codes))),
    "heavy tails": lambda codes, rng: rng.standard_t(2, len(codes)),
    "larger at some levels": lambda codes, rng: rng.standard_normal(len(codes)) * WIDE[codes[:, 0]],
    "pairs act together": lambda codes, rng: (
        rng.standard_normal((5, 4))[codes[:, 0], codes[:, 1]] + 0.3 * rng.standard_normal(len(codes))
    ),
}


def planted(rows: int, noise: str, shift: float, seed: int) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    codes = GRID[rng.permutation(np.resize(rng.permutation(len(GRID)), rows))]
    day = rng.permutation(np.arange(rows) % 5)
    y = sum(rng.standard_normal(n)[codes[:, k]] for k, n in enumerate(SHAPE)) + NOISES[noise](codes, rng)
    beside = {
        "day": day, "operator": rng.choice(["ann", "bo", "cy"], rows, p=[0.6, 0.3, 0.1]),
        "date": [f"2024-03-{d + 1:02}" for d in rng.permutation(np.arange(rows) // 3)], "plate": np.arange(rows) // 8,
        "batch": np.where(rng.random(rows) < 0.1, rng.integers(0, 5, rows), codes[:, 0]), "group": codes[:, 1] // 2,
        "id": [f"r{i}" for i in range(rows)],
    }  # fmt: skip
    shifts = shift * rng.standard_normal(5)
    return {f"f{k}": codes[:, k].astype(str) for k in range(3)} | beside | {"y": y + shifts[day]}


def named(table: dict[str, object]) -> str:
    """The column that a note names, or nothing."""
    notes = unnamed(table, ["f0", "f1", "f2"], (), 1, None, False, target="y")
    return notes[0].split()[1].rstrip(",") if notes else ""


def main(tables: int = 300) -> None:
    print("| noise | rows | shifts | tables | day named | another |\n|---|---|---|---|---|---|", flush=True)
    settings = [(noise, rows, 0.0) for noise in NOISES for rows in (36, 90)]
    for noise, rows, shift in [*settings, *[("normal", rows, s) for s in (0.5, 1.0, 3.0) for rows in (36, 90)]]:
        found = [named(planted(rows, noise, shift, seed)) for seed in range(1000, 1000 + tables)]
        days = found.count("day")
        print(f"| {noise} | {rows} | {shift:g} | {tables} | {days} | {tables - days - found.count('')} |", flush=True)


if __name__ == "__main__":
    main()
