"""What do weights do for rates and means over few and many cases? And for tables where they should do nothing?

    python benchmarks/weights.py [--tables 20] [--seed 0] [--kinds plain …]

Planted tables of three factors, a fifth of the combinations asked about, each with the answer that came. Of each kind,
without `weights` and with them: the error of answers against the truth (median over tables), the share of single
answers that lie in their range, of those over fewer and over more cases than the median, the share of tables whose
forecast interval holds the error that came, and the share for which adding up is rejected, on its scale too.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

import recombine as rc

FACTORS = ["channel", "region", "device"]


@dataclass(frozen=True)
class Kind:
    """How answers are made: rates of n cases, or means of n normal ones with ``noise`` each (0: rates)."""

    middle: float
    effects: float
    odds: bool = False
    noise: float = 0.0
    cases: tuple[float, float] = (20, 20_000)
    scatter: float = 0.0
    """Standard deviation of each combination around the sum, whatever its cases."""
    together: float = 0.0
    """The same of what a pair of levels does together."""
    shape: tuple[int, int, int] = (4, 5, 3)
    times: int = 1
    """Rows of each combination, of different cases."""
    told: bool = True
    """Whether asked combinations say how many cases they have."""
    dealt: bool = False
    """Whether the weights are those of other rows."""
    days: float = 0.0
    """Standard deviation of shifts of four days."""


KINDS = {
    "rates": Kind(0.4, 0.05),
    "rates, log-odds": Kind(-1.4, 0.6, odds=True),
    "rates, low": Kind(-3.2, 0.4, odds=True, cases=(100, 50_000)),
    "means": Kind(10.0, 1.0, noise=8.0, cases=(1, 60)),
    "24 combinations": Kind(0.4, 0.05, shape=(3, 4, 2)),
    "asked cases not told": Kind(0.4, 0.05, told=False),
    "scatter besides": Kind(0.4, 0.05, scatter=0.03),
    "mostly scatter": Kind(0.4, 0.05, scatter=0.1),
    "two rows each": Kind(10.0, 1.0, noise=8.0, cases=(1, 60), times=2),
    "two rows, scatter": Kind(10.0, 1.0, noise=8.0, cases=(1, 60), times=2, scatter=1.0),
    "days": Kind(10.0, 1.0, noise=8.0, cases=(1, 60), days=2.0),
    "a pair acts": Kind(0.4, 0.05, together=0.06),
    "nothing acts": Kind(0.4, 0.0),
    "nothing acts, scatter": Kind(0.4, 0.0, scatter=0.03),
    "cases nearly alike": Kind(0.4, 0.05, cases=(900, 1_100)),
    "weights of other rows": Kind(0.4, 0.05, cases=(300, 300), dealt=True),
}


def planted(kind: Kind, seed: int) -> tuple[dict[str, list[object]], dict[tuple[str, ...], tuple[float, float]]]:
    """The table, and the truth and cases of each asked combination."""
    rng = np.random.default_rng([seed, 5])
    codes = np.stack(np.unravel_index(np.arange(np.prod(kind.shape)), kind.shape), axis=1)
    truth = kind.middle + sum(kind.effects * rng.normal(size=k)[codes[:, i]] for i, k in enumerate(kind.shape))
    truth = truth + kind.together * rng.normal(size=kind.shape[:2])[codes[:, 0], codes[:, 1]]
    truth = truth + kind.scatter * rng.normal(size=len(codes))
    truth = 1 / (1 + np.exp(-truth)) if kind.odds else truth if kind.noise else truth.clip(0.01, 0.99)
    asked, shifts = rng.random(len(codes)) < 0.2, kind.days * rng.normal(size=4)
    row = np.concatenate([np.repeat(np.flatnonzero(~asked), kind.times), np.flatnonzero(asked)])
    n = np.exp(rng.uniform(*np.log(kind.cases), len(row))).round()
    day = rng.integers(4, size=len(row))
    answers = truth[row] + kind.noise / np.sqrt(n) * rng.normal(size=len(row))
    answers = answers if kind.noise else rng.binomial(n.astype(int), truth[row]) / n
    weights = np.exp(rng.uniform(np.log(20), np.log(20_000), len(n))).round() if kind.dealt else n
    names = [[f"{f[0]}{c}" for c in codes[row, i]] for i, f in enumerate(FACTORS)]
    said = weights.astype(int).tolist()
    table: dict[str, list[object]] = dict(zip(FACTORS, names, strict=True))
    table |= {
        "cases": [None if asked[r] and not kind.told else w for r, w in zip(row, said, strict=True)],
        "rate": (answers + np.where(asked[row], 0.0, shifts[day] - shifts.mean())).tolist(),
        "day": [f"d{d}" for d in day],
        "part": ["asked" if asked[r] else "seen" for r in row],
    }
    where = {
        tuple(f"{f[0]}{c}" for f, c in zip(FACTORS, codes[r], strict=True)): i for i, r in enumerate(row) if asked[r]
    }
    return table, {cell: (float(truth[row[i]]), float(n[i])) for cell, i in where.items()}


def tried(kind: Kind, weights: str | None, seeds: range) -> list[str]:
    errors, ranges, held, rejected = list[float](), list[tuple[float, bool]](), list[bool](), 0
    for seed in seeds:
        table, truth = planted(kind, seed)
        days = "day" if kind.days else ()
        result = rc.check(table, FACTORS, target="rate", split="part=asked", blocks=days, weights=weights)
        rejected += result.doubt == "rejected"
        came = {c: y for c, y, p in zip(zip(*(table[f] for f in FACTORS), strict=True), table["rate"], table["part"],
                                        strict=True) if p == "asked"}  # fmt: skip
        told = [(tuple(result.combination(q.codes).values()), q) for q in result.queries if q.status == "determined"]
        told = [(cell, q) for cell, q in told if q.low is not None]
        if not told:
            continue
        errors.append(float(np.sqrt(np.mean([(q.prediction - truth[cell][0]) ** 2 for cell, q in told]))))
        ranges += [(truth[cell][1], q.low <= came[cell] <= q.high) for cell, q in told]
        if result.forecast is not None and result.forecast.realised is not None:
            held.append(result.forecast.low <= result.forecast.realised["error"] <= result.forecast.high)
    n, inside = np.array([n for n, _ in ranges]), np.array([ok for _, ok in ranges])
    few = n < np.median(n) if np.ptp(n) else np.ones(len(n), dtype=bool)
    shares = [inside.mean(), inside[few].mean(), inside[~few].mean() if (~few).any() else np.nan, np.mean(held)]
    return [f"{np.median(errors):.3g}", *(f"{share:.2f}" for share in shares), f"{rejected / len(seeds):.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    asked = parser.parse_args()
    seeds = range(asked.seed, asked.seed + asked.tables)
    print(f"{asked.tables} tables each, from seed {asked.seed} on\n")
    print("| kind | weights | error | in range | of few cases | of many | forecast held | rejected |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for name in asked.kinds:
        for weights in (None, "cases"):
            print(
                f"| {name} | {'yes' if weights else 'no'} | {' | '.join(tried(KINDS[name], weights, seeds))} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
