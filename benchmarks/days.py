"""What a plan promises of rows on a new day (`check --block day --budget N`), beside what comes.

Planted additive tables of about 28 single rows on five days, effects of standard deviation 1, noise 1. The rows of the
plan are collected on a sixth day and all days refitted by plain least squares. *Answers*: the standard error promised,
over the root-mean-square error of the answers of an average of the six days. *A row*: the same of one row on a seventh.

Decided beforehand: both ratios (root mean squares over the tables) between 0.9 and 1.1 in every line.

    python benchmarks/days.py
"""

from __future__ import annotations

import numpy as np

from recombine.checks import Purpose, check

SHAPE, DAYS, SHARE, NOISE, AGAIN = (5, 4, 2), 5, 0.7, 1.0, 40
SHIFTS, BUDGETS = (0.0, 0.5, 3.0), (4, 12)
GRID = np.stack(np.meshgrid(*map(np.arange, SHAPE), indexing="ij"), axis=-1).reshape(-1, len(SHAPE))
X = np.concatenate([np.eye(n)[GRID[:, k]] for k, n in enumerate(SHAPE)], axis=1)
NAMES = [f"f{k}" for k in range(len(SHAPE))]


def squares(spread: float, budget: int, seed: int) -> list[float]:
    """Promised and realised squares: of answers, of a row on a new day."""
    rng = np.random.default_rng(seed)
    truth = X @ rng.standard_normal(X.shape[1])
    while True:
        seen, day = np.flatnonzero(rng.random(len(GRID)) < SHARE), rng.integers(0, DAYS, len(GRID))
        x = np.hstack([X[seen], np.eye(DAYS)[day[seen]]])
        if np.linalg.matrix_rank(x) == X.shape[1] + DAYS - len(SHAPE) and np.bincount(day[seen]).min() > 1:
            break
    shift = spread * rng.standard_normal(DAYS + 1)
    y = truth[seen] + shift[day[seen]] + NOISE * rng.standard_normal(len(seen))
    table = {name: GRID[seen, k].astype(str) for k, name in enumerate(NAMES)} | {"day": day[seen], "y": y}
    plan = check(table, NAMES, target="y", blocks="day", draws=9, purpose=Purpose(budget=budget)).plan
    rows = np.concatenate([seen, [int(np.flatnonzero((cell == GRID).all(axis=1))[0]) for cell in plan.cells]])
    days = np.concatenate([day[seen], np.full(budget, DAYS)])
    x = np.hstack([X[rows], np.eye(DAYS + 1)[days]])
    told = (truth[rows] + shift[days])[:, None] + NOISE * rng.standard_normal((len(rows), AGAIN))
    beta = np.linalg.lstsq(x, told, rcond=None)[0]
    said = X @ beta[: X.shape[1]] + beta[X.shape[1] :].mean(axis=0)
    off = said - truth[:, None]
    answers, row = np.mean((off - shift.mean()) ** 2), np.mean(off**2) + spread**2 + NOISE**2
    return [plan.after**2, float(answers), plan.new_row["after"] ** 2, float(row)]


def main(tables: int = 40) -> None:
    print("| shifts | rows | tables | promised / realised, answers | a row on a new day |\n|---|---|---|---|---|")
    for spread in SHIFTS:
        for budget in BUDGETS:
            found = np.sqrt(np.mean([squares(spread, budget, seed) for seed in range(tables)], axis=0))
            ratios = f"{found[0] / found[1]:.2f} | {found[2] / found[3]:.2f}"
            print(f"| {spread:g} | {budget} | {tables} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
