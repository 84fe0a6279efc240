"""Are the errors that `check --until-error E` plans rows for kept, where effects add up on the answer's own scale and on
others?

Planted tables of single rows and of two each: effects add up on a scale and so does normal noise, and E is 0.6 or 0.3
times the largest error there is, in the answer's units. The rows of the plan are collected. *Kept*: no combination's true
error is above E, the root mean square over what noise does to a least-squares fit on the planted scale, brought back to
the answer's own (computed from the design). *Rows*: of the plans that promise something, over those of a plan that is
told the noise and how large answers are (medians).

Decided beforehand: of the plans that promise E, at least 0.9 keep it in every line (they are planned on the most that
the noise may be, 95 %).

    python benchmarks/plans_kept.py
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.special import expit, ndtri

from recombine.checks import Purpose, check
from recombine.checks.plans.optimal import until

SHAPES = ((6, 5), (8, 6), (4, 4, 3))
SHARES = (0.6, 0.3)
"""Of the largest error there is, that are asked for."""
NODES = ndtri((np.arange(101) + 0.5) / 101)
KINDS = {
    "plain": (lambda z: z, 1.0, 0.5, 0.0),
    "plain, nothing acts": (lambda z: z, 0.0, 0.5, 0.0),
    "log, answers some times as large as others": (np.exp, 0.6, 0.15, 0.0),
    "log, hundreds of times as large": (np.exp, 1.5, 0.3, 0.0),
    "log, noisy": (np.exp, 1.0, 0.6, 0.0),
    "log, a level is not tied to the others": (np.exp, 1.0, 0.3, 1.0),
    "log, nothing acts": (np.exp, 0.0, 0.5, 0.0),
    "log-odds": (expit, 1.0, 0.3, 0.0),
    "log-odds, nearly all or nothing": (expit, 2.5, 0.4, 0.0),
    "ranks": (lambda z: np.sinh(1.5 * z), 1.0, 0.15, 0.0),
}
"""The way back to the answer's scale, the standard deviations of effects and of noise, and whether a level was seen in
nothing."""


def planted(shape, kind, rows, seed):
    """The table, what each combination has on its scale, and the way back to the mean of very many rows."""
    back, effect, noise, untied = KINDS[kind]
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, len(shape))
    x = np.concatenate([np.eye(n)[grid[:, k]] for k, n in enumerate(shape)], axis=1)
    z = x @ (effect * rng.standard_normal(x.shape[1]))
    rank = np.linalg.matrix_rank(x)
    while True:
        seen = np.flatnonzero(rng.random(len(grid)) < 0.6)
        if untied:  # one level of the first factor stands with one of the second alone
            one = (grid[:, 0] == 0) & (grid[:, 1] == 0)
            seen = seen[((grid[seen, 0] != 0) & (grid[seen, 1] != 0)) | one[seen]]
        if np.linalg.matrix_rank(x[seen]) == rank - bool(untied) and len(np.unique(grid[seen, 0])) == shape[0]:
            break
    trained = np.repeat(seen, rows)
    y = back(z[trained] + noise * rng.standard_normal(len(trained)))
    table = {f"f{k}": grid[trained, k].astype(str) for k in range(len(shape))} | {"y": y}
    return grid, x, z, trained, table


def errors(x, z, rows, back, noise):
    """How far each combination's answer is off by the noise of these rows, as a root mean square."""
    inverse = np.linalg.pinv(x[rows].T @ x[rows])
    off = noise * np.sqrt(((x @ inverse) * x).sum(axis=1))

    def mean(place):
        return back(place[..., None] + noise * NODES).mean(axis=-1)

    return np.sqrt(((mean(z[:, None] + off[:, None] * NODES) - mean(z)[:, None]) ** 2).mean(axis=1))


def tried(kind, shape, rows, share, seed):
    """Whether E is promised, whether it is kept, and the rows planned."""
    back, _, noise, _ = KINDS[kind]
    grid, x, z, trained, table = planted(shape, kind, rows, seed)
    tied = np.linalg.matrix_rank(x[trained]) == np.linalg.matrix_rank(x)
    largest = errors(x, z, trained, back, noise) if tied else back(z)
    wanted = share * float(largest.max())
    names = [f"f{k}" for k in range(len(shape))]
    result = check(table, names, target="y", draws=9, seed=0, purpose=Purpose(error=wanted))
    plan = result.plan
    at = {tuple(map(str, cell)): i for i, cell in enumerate(grid.tolist())}
    more = [at[tuple(map(str, row.values()))] for row in result.space.decode(plan.cells)]
    promised = plan.enough and not plan.doubted and not plan.untold and plan.floor is None
    after = errors(x, z, [*trained, *more], back, noise) if plan.enough else np.array([np.inf])
    return bool(promised), bool(after.max() <= wanted), len(more), result.scale or "plain", float(after.max()/wanted)

def main(tables: int = 30, first: int = 0) -> None:
    for kind in KINDS:
        found = [
            tried(kind, shape, rows, share, first + seed)
            for shape in SHAPES for rows in (1, 2) for share in SHARES for seed in range(tables)
        ]
        from collections import Counter
        print(kind, len(found), "promised", sum(f[0] for f in found), Counter((f[3]) for f in found if f[0]), flush=True)
        for s in sorted({f[3] for f in found}):
            p = [f for f in found if f[0] and f[3] == s]
            if p: print("   ", s, len(p), "kept %.2f" % np.mean([f[1] for f in p]), "rows", np.median([f[2] for f in p]), "ratio quantiles", np.round(np.quantile([f[4] for f in p], [.1,.5,.9]), 2), flush=True)

if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
