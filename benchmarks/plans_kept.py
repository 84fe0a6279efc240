"""Are the errors kept that `check --until-error E` plans rows for, where effects add up on the answer's own scale and
where they do on others?

Planted tables: effects and normal noise add up on a scale, 0.65 of the combinations are seen, in a single row or
in two each. E is 0.6 or 0.3 times the largest error that there is, in the answer's units. The rows of the plan are then
collected. *Promised*: the plan is to reach E. *Kept*: of these, no combination's true error is above E, the root mean
square over what noise does to a least-squares fit on the planted scale, brought back to the answer's own (from the
design, for the mean of very many rows). *Largest error / E*: of these plans, the median and what nine of ten do not
exceed. *Of these otherwise*: plans told on another scale than the planted one. *Rows*: of the plans that promise E, in
the median.

Of classes effects add up on the log-odds of each class against the first, a combination is seen in 10 or 20 rows, E is
0.7 or 0.5 times the largest error there is of the chance of any class, and the true error is that of the likeliest
log-odds of all classes (from the design and the planted chances).

Decided beforehand: of plans that promise E at least 0.9 keep it, in every line of ten or more. They are planned on the
most that the noise may be (95 %), and on every scale that the seen answers do not tell apart.

    python benchmarks/plans_kept.py
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri, softmax

from recombine.checks import Purpose, check

SHAPES, ROWS, SHARES, SEEN = ((6, 5), (8, 6), (4, 4, 3)), (1, 2), (0.6, 0.3), 0.65
ROWS_OF_CLASSES, SHARES_OF_CLASSES = (10, 20), (0.7, 0.5)
NODES = ndtri((np.arange(101) + 0.5) / 101)


@dataclass(frozen=True)
class Kind:
    """What is planted: the scale and the way back from it, standard deviations of effects and of noise there, and
    whether two levels were seen with each other alone."""

    scale: str | None
    back: Callable
    effects: float
    noise: float
    apart: bool = False
    grows: bool = False
    """Whether the noise is a share of the answer, which is .5 or more."""
    classes: int = 0
    """How many the answers are; 0: numbers. Then ``noise`` is how much lower log-odds of all but the first are."""


def plain(z):
    return z


def above_zero(z):
    return np.maximum(10 + 2 * z, 0.1)


def bent(z):
    return np.sinh(1.5 * z)


KINDS = {
    "plain": Kind(None, plain, 1.0, 0.5),
    "plain, above zero": Kind(None, above_zero, 1.0, 0.5),
    "plain, nothing acts": Kind(None, plain, 0.0, 0.5),
    "log, answers some times as large as others": Kind("log", np.exp, 0.6, 0.15),
    "log, hundreds of times as large": Kind("log", np.exp, 1.5, 0.3),
    "log, noisy": Kind("log", np.exp, 1.0, 0.6),
    "log, nothing acts": Kind("log", np.exp, 0.0, 0.5),
    "log, a level apart": Kind("log", np.exp, 1.0, 0.3, apart=True),
    "log-odds": Kind("log-odds", expit, 1.0, 0.3),
    "log-odds, nearly all or nothing": Kind("log-odds", expit, 2.5, 0.4),
    "ranks": Kind("rank", bent, 1.0, 0.15),
    "two classes": Kind(None, plain, 0.8, 0.0, classes=2),
    "two classes, one rare": Kind(None, plain, 0.8, 2.0, classes=2),
    "three classes": Kind(None, plain, 0.8, 0.0, classes=3),
    "three classes, two rare": Kind(None, plain, 0.8, 2.0, classes=3),
    "four classes": Kind(None, plain, 0.8, 0.0, classes=4),
    "plain, noise of 15 % of the answer": Kind(None, plain, 1.0, 0.15, grows=True),
}


def planted(shape, kind, rows, seed):
    """The grid, its features, what each combination has on the scale, and the rows of the table with their answers."""
    rng = np.random.default_rng([seed, list(KINDS.values()).index(kind)])
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, len(shape))
    x = np.concatenate([np.eye(n)[grid[:, k]] for k, n in enumerate(shape)], axis=1)
    z = x @ (kind.effects * rng.standard_normal((x.shape[1], max(kind.classes - 1, 1))))
    z = z - kind.noise if kind.classes else z[:, 0]
    z = z - z.min() + 0.5 if kind.grows else z
    there = (grid[:, 0] == 0) == (grid[:, 1] == 0) if kind.apart else np.ones(len(grid), dtype=bool)
    while True:
        seen = np.flatnonzero((rng.random(len(grid)) < SEEN) & there)
        if np.linalg.matrix_rank(x[seen]) == np.linalg.matrix_rank(x) - kind.apart:
            break
    trained = np.repeat(seen, rows)
    if kind.classes:
        drawn = (chances(z)[trained].cumsum(axis=1) < rng.random((len(trained), 1))).sum(axis=1)
        return grid, x, z, trained, np.array([f"class {c}" for c in range(kind.classes)])[drawn]
    noise = kind.noise * (z[trained] if kind.grows else 1.0)
    return grid, x, z, trained, kind.back(z[trained] + noise * rng.standard_normal(len(trained)))


def chances(z):
    return softmax(np.hstack([np.zeros((len(z), 1)), z]), axis=1)


def errors(x, z, rows, kind):
    """How far noise moves the answer to each combination, as a root mean square; infinite where rows do not tell it."""
    if kind.classes:
        return errors_of_chances(x, z, rows)
    inverse = np.linalg.pinv(x[rows].T @ x[rows])
    if kind.grows:
        return np.sqrt(((x @ inverse @ x[rows].T * kind.noise * z[rows]) ** 2).sum(axis=1))
    off = kind.noise * np.sqrt(np.maximum(((x @ inverse) * x).sum(axis=1), 0.0))

    def mean(place):
        return kind.back(place[..., None] + kind.noise * NODES).mean(axis=-1)

    found = np.sqrt(((mean(z[:, None] + off[:, None] * NODES) - mean(z)[:, None]) ** 2).mean(axis=1))
    return np.where(np.abs(x - x @ inverse @ (x[rows].T @ x[rows])).max(axis=1) < 1e-6, found, np.inf)


def errors_of_chances(x, z, rows):
    """The largest standard error of the chance of any class, by the information of the multinomial logit."""
    p = chances(z)
    slopes = np.einsum("ic,cd->icd", p, np.eye(p.shape[1])) - p[:, :, None] * p[:, None, :]  # of chances by log-odds
    known = np.einsum("ie,if,icd->ecfd", x[rows], x[rows], slopes[rows][:, 1:, 1:])
    inverse = np.linalg.pinv(known.reshape(x.shape[1] * z.shape[1], -1), rcond=1e-9, hermitian=True)
    moves = np.einsum("ie,icd->iced", x, slopes[:, :, 1:]).reshape(len(x), p.shape[1], -1)
    return np.sqrt(np.einsum("ice,ef,icf->ic", moves, inverse, moves).max(axis=1))


def tried(kind, shape, rows, share, seed):
    """The scale of a plan that promises E, its largest true error over E, and its rows; None where nothing is
    promised."""
    grid, x, z, trained, y = planted(shape, kind, rows, seed)
    now = errors(x, z, trained, kind)
    wanted = share * float(now[np.isfinite(now)].max())
    table = {f"f{k}": grid[trained, k].astype(str) for k in range(len(shape))} | {"y": y}
    names = [name for name in table if name != "y"]
    result = check(table, names, target="y", draws=9, purpose=Purpose(error=wanted))
    plan = result.plan
    if plan.doubted or not plan.enough or plan.units not in ("answer", "chance"):
        return None
    place = {tuple(map(str, cell)): i for i, cell in enumerate(grid.tolist())}
    more = [place[tuple(map(str, levels.values()))] for levels in result.space.decode(plan.cells)]
    return plan.scale, float(errors(x, z, [*trained, *more], kind).max()) / wanted, len(more)


def line(name, first, tables):
    kind = KINDS[name]
    rows, shares = (ROWS_OF_CLASSES, SHARES_OF_CLASSES) if kind.classes else (ROWS, SHARES)
    found = [tried(kind, *how) for how in itertools.product(SHAPES, rows, shares, range(first, first + tables))]
    told = [one for one in found if one is not None]
    ratios, other = np.array([r for _, r, _ in told]), [r for scale, r, _ in told if scale != kind.scale]
    ends = [f"{end:.2f}" for end in np.quantile(ratios, [0.5, 0.9])] if told else ["–", "–"]
    rows_of = f"{np.median([rows for *_, rows in told]):.0f}" if told else "–"
    parts = [name, len(found), len(told), int((ratios <= 1).sum()), *ends, len(other), sum(r <= 1 for r in other)]
    return f"| {' | '.join(map(str, [*parts, rows_of]))} |"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    arguments.add_argument("--tables", type=int, default=5, help="of each of twelve layouts and errors")
    arguments.add_argument("--first", type=int, default=7000, help="seed of the first table")
    arguments.add_argument("kinds", nargs="*", default=list(KINDS))
    asked = arguments.parse_args()
    print("| planted | plans | promised | kept | largest error / E | nine of ten | of these otherwise | kept | rows |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in asked.kinds:
        print(line(name, asked.first, asked.tables), flush=True)


if __name__ == "__main__":
    main()
