"""How often `check` names a column nobody named: one that explains nothing, and days, temperatures and drifts that act.

Planted tables of 3 factors, effects of standard deviation 1, noise 1, and columns beside: a day of 5, an operator of 3,
a date of one in three rows, a plate in the order of the rows, a batch that goes with a factor in 9 of 10 rows, a group
that a factor decides, an id for each row; and numbers and times that hardly recur: a temperature, a weight with a long
tail, an oven that follows a factor but for a little, the minute at which a row was begun (rows lie in its order), the
number of the run. One of them acts, or none: a shift of each day, a line in the temperature, a bend in it, a drift with
the minute; its standard deviation is so many times that of the noise.

Decided beforehand: any column is named in at most 5 % of the tables where nothing acts, whatever the noise (two
standard errors of the count allowed); the right one is named in two thirds of the tables where it shifts by as much as
the noise, and in 95 % where by three times as much. Of a drift the minute and the run are both right.

`--plates`: tables of 7 × 6 levels, a third of the combinations unseen, whose adding up is rejected: each combination
three times on one of 6 plates, noise 0.2 between repeats. Pairs act (at random, as a product, effects multiply, one
combination alone, with long tails, one level alone) and plates do not, which are allotted at random, as a Latin square,
or so that some are rare; or plates shift too, beside nothing or beside pairs of standard deviation 1. Decided
beforehand: where plates do nothing any column is named in at most 5 %.

    python benchmarks/unnamed.py [--tables 300] [--seed 1000] [--plates]
"""

from __future__ import annotations

import argparse
import datetime

import numpy as np

from recombine.checks.columns.unnamed import unnamed

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

FACTORS = ["f0", "f1", "f2"]
RIGHT = {"day": ("day",), "line": ("temperature",), "bend": ("temperature",), "drift": ("begun", "run", "plate")}
"""What acts, and the columns that may be named then."""


def planted(rows: int, noise: str, acts: str, size: float, seed: int) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    codes = GRID[rng.permutation(np.resize(rng.permutation(len(GRID)), rows))]
    day, run = rng.permutation(np.arange(rows) % 5), np.arange(rows)
    y = sum(rng.standard_normal(n)[codes[:, k]] for k, n in enumerate(SHAPE)) + NOISES[noise](codes, rng)
    warm = rng.standard_normal(rows)
    minutes = np.cumsum(rng.integers(1, 60, rows))
    start = datetime.datetime(2024, 3, 1)
    beside = {
        "day": day, "operator": rng.choice(["ann", "bo", "cy"], rows, p=[0.6, 0.3, 0.1]),
        "date": [f"2024-03-{d + 1:02}" for d in rng.permutation(np.arange(rows) // 3)], "plate": run // 8,
        "batch": np.where(rng.random(rows) < 0.1, rng.integers(0, 5, rows), codes[:, 0]), "group": codes[:, 1] // 2,
        "id": [f"r{i}" for i in run], "temperature": (20 + 3 * warm).round(2),
        "weight": np.exp(rng.standard_normal(rows)), "oven": 100 + 20 * codes[:, 0] + 3 * rng.standard_normal(rows),
        "run": run + 1, "begun": [str(start + datetime.timedelta(minutes=int(m))) for m in minutes],
    }  # fmt: skip
    effect = {"": 0 * warm, "day": rng.standard_normal(5)[day], "line": warm, "bend": (warm**2 - 1) / np.sqrt(2),
              "drift": (run / (rows - 1) - 0.5) * np.sqrt(12)}[acts]  # fmt: skip
    return {f"f{k}": codes[:, k].astype(str) for k in range(3)} | beside | {"y": y + size * effect}


PAIRS = {
    "nothing": lambda i, j, rng: 0.0 * i,
    "pairs": lambda i, j, rng: rng.standard_normal(len(i)),
    "a product": lambda i, j, rng: rng.standard_normal(7)[i] * rng.standard_normal(6)[j],
    "effects multiply": lambda i, j, rng: np.exp(rng.normal(0, 0.8, 7)[i] + rng.normal(0, 0.8, 6)[j]),
    "one combination": lambda i, j, rng: 4.0 * (np.arange(len(i)) == 0),
    "pairs, long tails": lambda i, j, rng: rng.standard_t(2, len(i)),
    "one level": lambda i, j, rng: 2 * (i == 0) * rng.standard_normal(6)[j],
}
ALLOTTED = {
    "at random": lambda i, j, rng: rng.integers(6, size=len(i)),
    "Latin square": lambda i, j, rng: (i + j) % 6,
    "some rare": lambda i, j, rng: np.minimum(rng.geometric(0.5, len(i)) - 1, 5),
}


def on_plates(acts: str, allotted: str, size: float, seed: int) -> dict[str, object]:
    """Each combination three times on one plate; ``size``: how far plates shift the answer."""
    rng = np.random.default_rng(seed)
    i, j = np.unravel_index(rng.permutation(42)[:28], (7, 6))
    plate, each = ALLOTTED[allotted](i, j, rng), np.repeat(np.arange(28), 3)
    y = 5 * rng.standard_normal(7)[i] + 5 * rng.standard_normal(6)[j] + PAIRS[acts](i, j, rng)
    y = (y + size * rng.standard_normal(6)[plate])[each] + 0.2 * rng.standard_normal(84)
    beside = {"plate": [f"P{k}" for k in plate[each]], "well": [f"w{k}" for k in rng.permutation(84) % 8]}
    return {"f0": i[each].astype(str), "f1": j[each].astype(str)} | beside | {"y": y}


def main_plates(tables: int, seed: int) -> None:
    print("| pairs act | plates | shift | tables | plate named | another |\n|---|---|---|---|---|---|")
    settings = [(acts, how, 0.0) for acts in PAIRS if acts != "nothing" for how in ALLOTTED]
    settings += [(acts, "at random", size) for acts in ("nothing", "pairs") for size in (0.5, 1.0, 2.0)]
    for acts, how, size in settings:
        found = [named(on_plates(acts, how, size, seed + k), ["f0", "f1"], True) for k in range(tables)]
        plate, none = found.count("plate"), found.count("")
        print(f"| {acts} | {how} | {size:g} | {tables} | {plate} | {tables - plate - none} |", flush=True)


def named(table: dict[str, object], factors: list[str], rejected: bool = False) -> str:
    """The column that a note names, or nothing."""
    notes = [n for n in unnamed(table, factors, (), 1, None, rejected, target="y") if "which is not named" in n]
    return notes[0].split()[1].rstrip(",") if notes else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--plates", action="store_true")
    asked = parser.parse_args()
    if asked.plates:
        main_plates(asked.tables, asked.seed)
        return
    print("| noise | rows | what acts | size | tables | the right one named | another |\n|---|---|---|---|---|---|---|")
    settings = [(noise, rows, "", 0.0) for noise in NOISES for rows in (36, 90)]
    settings += [("normal", rows, acts, s) for acts in RIGHT for s in (0.5, 1.0, 3.0) for rows in (36, 90)]
    for noise, rows, acts, size in settings:
        found = [named(planted(rows, noise, acts, size, asked.seed + i), FACTORS) for i in range(asked.tables)]
        right = sum(found.count(name) for name in RIGHT.get(acts, ()))
        other = asked.tables - right - found.count("")
        print(f"| {noise} | {rows} | {acts} | {size:g} | {asked.tables} | {right} | {other} |", flush=True)


if __name__ == "__main__":
    main()
