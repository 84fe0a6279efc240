"""Does `check` find a drift that nobody named, and is its forecast right then? Planted tables of 8 × 6 levels, 36 seen.

Effects of standard deviation 0.7 each, noise 1, 300 rows; prices are exp (4 + sums / 2) with a noise of 20 %, classes
(1 500 rows) have the sums as log-odds. A drift is a line from the first row to the last, so many times the noise. Rows
of one level follow those of another strictly, roughly (R² of .84) or half so (.5), all are in random order, or sorted
by combination; a column of ten dates tells the order, one that numbers the runs, or that of the rows alone. *Without a
word*: “determined”, and no note speaks of a drift or of the column. *Held*: the forecast's interval held the error, of
means of as many rows as seen combinations have, run at any of the times. *Ranges*: of single combinations, that held
their answer.

Decided beforehand: without a drift it is found in at most 5 % of the tables of any kind, whatever the noise.

`--still`: no drift, other noise, pairs that act, rows sorted by their answers or by another outcome.

    python benchmarks/drifts.py [--tables 40] [--seed 400] [--still]
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl

from recombine.checks import CheckResult, check

FACTORS, SHAPE, SEEN, DAYS = ["a", "b"], (8, 6), 36, 10
ORDERS = {
    "random": lambda i, j, rng: rng.random(len(i)),
    "half": lambda i, j, rng: i + rng.normal(0, 2.3, len(i)),
    "roughly": lambda i, j, rng: i + rng.normal(0, 1, len(i)),
    "strictly": lambda i, j, rng: i + 0.999 * rng.random(len(i)),
    "by combination": lambda i, j, rng: i * SHAPE[1] + j + 0.999 * rng.random(len(i)),
}
NOISES = {
    "normal": lambda i, rng: rng.standard_normal(len(i)),
    "long tails": lambda i, rng: rng.standard_t(2, len(i)),
    "skewed": lambda i, rng: np.exp(1.2 * rng.standard_normal(len(i))),
    "larger at some levels": lambda i, rng: rng.standard_normal(len(i)) * np.array([0.3, 1, 1, 1, 1, 1, 1, 3])[i],
}


class Planted:
    """A table, what each combination would be without a drift, and what the drift adds to each row."""

    def __init__(
        self, seed: int, drift: float = 0.0, order: str = "random", along: str = "rows", kind: str = "number",
        rows: int = 300, noise: str = "normal", pairs: float = 0.0,
    ) -> None:  # fmt: skip
        self.kind, rng = kind, np.random.default_rng([seed, 5])
        seen = rng.permutation(SHAPE[0] * SHAPE[1])[:SEEN]
        i, j = np.divmod(np.concatenate([seen, rng.choice(seen, rows - SEEN)]), SHAPE[1])
        place = np.argsort(np.argsort(ORDERS[order](i, j, rng)))
        day = place * DAYS // rows
        self.sums = rng.normal(0, 0.7, (8, 1)) + rng.normal(0, 0.7, 6) + pairs * rng.standard_normal(SHAPE)
        self.off = drift * (day / (DAYS - 1) if along == "day" else place / (rows - 1))
        self.off -= self.off.mean()
        y = self.answers(self.sums[i, j] + self.off, NOISES[noise](i, rng), rng)
        columns = {"day": {"day": [f"2026-03-{d + 1:02d}" for d in day]}, "run": {"run": place + 1}, "rows": {}}[along]
        beside = {"a": [f"a{v}" for v in i], "b": [f"b{v}" for v in j]} | columns
        self.table = pl.DataFrame(beside | {"y": y})[np.argsort(place) if along == "rows" else rng.permutation(rows)]

    def answers(self, sums: np.ndarray, noise: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if self.kind == "price":
            return np.exp(4 + sums / 2 + 0.2 * noise)
        return sums + noise if self.kind == "number" else (rng.random(len(sums)) < 1 / (1 + np.exp(-sums))).astype(str)

    def held(self, result: CheckResult, seed: int) -> tuple[bool, float]:
        """Whether the interval holds the error that comes, and the share of ranges that do."""
        codes = np.array([q.codes for q in result.queries if q.status == "determined"], dtype=np.int64)
        rng, told = np.random.default_rng([seed, 77]), result.forecast
        places = [np.array([int(str(v)[1:]) for v in f.levels or ()]) for f in result.space.factors]
        sums, said = self.sums[places[0][codes[:, 0]], places[1][codes[:, 1]]], told.estimate(codes)
        if self.kind == "class":
            chance = (1 / (1 + np.exp(-sums[:, None] - self.off))).mean(axis=1)
            p = np.clip(said.answers[:, list(result.answers.classes).index("True")], 1e-9, 1 - 1e-9)
            error = float(-(chance * np.log(p) + (1 - chance) * np.log(1 - p)).mean())
            return told.low <= error <= told.high, np.nan
        drawn = [
            (v, rng.choice(self.off, n)) for v, n in zip(sums, rng.choice(result.row_counts, len(sums)), strict=True)
        ]
        came = np.array([self.answers(v + d, rng.standard_normal(len(d)), rng).mean() for v, d in drawn])
        error = float(np.sqrt(np.mean((said.answers - came) ** 2)))
        ranges = np.nan if said.low is None else float(((said.low <= came) & (came <= said.high)).mean())
        return told.low <= error <= told.high, ranges


def line(name: str, seeds: range, **how: object) -> None:
    found, silent, determined, kept, ranges = 0, 0, 0, [], []
    for seed in seeds:
        planted = Planted(seed, **how)
        result = check(planted.table, FACTORS, target="y", draws=9)
        told = result.verdict.startswith("determined")
        determined += told
        found += result.forecast is not None and result.forecast.drift is not None
        silent += told and not any("drift" in n or "which is not named" in n for n in result.notes)
        if result.forecast is not None:
            held, share = planted.held(result, seed)
            kept.append(held)
            ranges.append(share)
    mean = "" if np.isnan(ranges).all() else f"{np.nanmean(ranges):.2f}"
    many = f"{len(seeds)} | {found} | {determined} | {silent} | {sum(kept)} of {len(kept)} | {mean}"
    print(f"| {name} | {many} |", flush=True)


def sorted_by(what: str, planted: Planted, seed: int) -> pl.DataFrame:
    """The table sorted by its answers, by these within a level, or by another outcome, which is kept or left out."""
    noise, table = np.random.default_rng([seed, 3]).standard_normal(len(planted.table)), planted.table
    if what.startswith("answers"):
        return table.sort(["a", "y"] if "within" in what else "y")
    table = table.with_columns(other=table["y"] + pl.Series(noise)).sort("other")
    return table if what == "another outcome, kept" else table.drop("other")


def still(seeds: range) -> None:
    print("| no drift | order | tables | found | verdict changed |\n|---|---|---|---|---|")
    cases = [({"noise": n}, n, o) for n in NOISES for o in ORDERS]
    cases += [({"pairs": 0.5}, "pairs act, half the noise", o) for o in ORDERS]
    cases += [({"rows": SEEN}, "a row each", o) for o in ("random", "roughly", "by combination")]
    cases += [({"kind": "class"}, "classes, 300 rows", o) for o in ("random", "roughly")]
    for how, name, order in cases:
        results = [check(Planted(s, order=order, **how).table, FACTORS, target="y", draws=9) for s in seeds]
        told = [r.forecast for r in results if r.forecast is not None and r.forecast.drift is not None]
        changed = sum(forecast.drifts for forecast in told)
        print(f"| {name} | {order} | {len(results)} | {len(told)} | {changed} |", flush=True)
    for what in ("answers", "answers within levels", "another outcome, kept", "another outcome, left out"):
        tables = [sorted_by(what, Planted(s), s) for s in seeds]
        told = [check(table, FACTORS, target="y", draws=9).forecast for table in tables]
        told = [forecast for forecast in told if forecast is not None and forecast.drift is not None]
        print(f"| normal | by {what} | {len(seeds)} | {len(told)} | {sum(f.drifts for f in told)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--seed", type=int, default=400)
    parser.add_argument("--still", action="store_true")
    asked = parser.parse_args()
    seeds = range(asked.seed, asked.seed + asked.tables)
    if asked.still:
        still(seeds)
        return
    print("| answers | along | order | drift | tables | found | determined | without a word | held | ranges |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    cases = [
        ("number", along, order, d) for along in ("day", "run", "rows") for order in ORDERS for d in (4.0, 2.0, 0.0)
    ]
    cases += [
        (kind, along, "roughly", d) for kind in ("price", "class") for along in ("day", "rows") for d in (3.0, 0.0)
    ]
    for kind, along, order, d in cases:
        rows = 1500 if kind == "class" else 300
        line(f"{kind} | {along} | {order} | {d:g}", seeds, kind=kind, along=along, order=order, drift=d, rows=rows)


if __name__ == "__main__":
    main()
