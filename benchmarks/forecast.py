"""Is the forecast of `check` right? Cells of real tables are held out and forecast: `python benchmarks/forecast.py`.

200 random and 200 structured hold-outs of each table that comes with the package (random: a tenth, a third or half of
the cells; structured: a tenth to a third of the pairs of levels of two factors, whole; of two factors a block of a
third of the levels of each). Printed are the median of forecast over realised error, how often the 90 % interval holds
the realised error (with its 95 % interval: of 50 hold-outs 44 and 50 were not told apart), with and without what the
asked levels make of it (`checks/forecasts/harder.py`), how often the 90 % interval of a cell holds its answer, and the
realised errors of the recommended rule, of a forest and of ordinary least squares, with the coverage of its textbook
90 % intervals. Only hold-outs that training determines.

`python benchmarks/forecast.py planted`: is a forest that joins the contest (`--rules forest`) tried fairly? Its error
in the contest over that on hidden cells, of planted tables.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import numpy as np

from recombine.checks.forecasts.forecast import forecast
from recombine.checks.forecasts.losses import losses_of
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.learners import Learner
from recombine.checks.rules.seen_cells import Cells
from recombine.statistics import share_interval
from recombine.support.table import read_tables
from recombine.tables import TABLES, RealTable

SPLITS = 200
SHAPES = ((6, 5, 3), (8, 8), (4, 4, 3), (3, 3, 2, 2, 2))
"""Of planted tables."""


def cells_of(table: RealTable) -> Cells:
    read = read_tables([table.path], table.factors, target=table.target)[0]
    return Cells.of(read.codes, read.space.shape, read.target)


def design(cells: Cells) -> np.ndarray:
    return np.concatenate([np.eye(n)[cells.codes[:, k]] for k, n in enumerate(cells.shape)], axis=1)


def hold_out(cells: Cells, structured: bool, rng: np.random.Generator) -> np.ndarray:
    """Which cells are asked about; all of them are determined by the others."""
    x = design(cells)
    rank = np.linalg.matrix_rank(x)
    while True:
        if not structured:
            out = rng.random(len(x)) < rng.choice([0.1, 1 / 3, 0.5])
        elif len(cells.shape) == 2:
            chosen = [rng.choice(n, max(2, n // 3), replace=False) for n in cells.shape]
            out = np.isin(cells.codes[:, 0], chosen[0]) & np.isin(cells.codes[:, 1], chosen[1])
        else:
            j, k = rng.choice(len(cells.shape), 2, replace=False)
            pair = cells.codes[:, j] * cells.shape[k] + cells.codes[:, k]
            every = np.unique(pair)
            out = np.isin(
                pair, rng.choice(every, max(1, round(len(every) * rng.choice([0.1, 0.2, 1 / 3]))), replace=False)
            )
        if out.sum() > 1 and (~out).sum() > 7 and np.linalg.matrix_rank(x[~out]) == rank:
            return out


def least_squares(seen: Cells, asked: Cells) -> tuple[float, float]:
    """Error and coverage of textbook prediction intervals."""
    from scipy.stats import t

    x, new = design(seen), design(asked)
    inverse = np.linalg.pinv(x.T @ x)
    beta = inverse @ x.T @ seen.answers
    freedom = len(x) - np.linalg.matrix_rank(x)
    noise = float(((seen.answers - x @ beta) ** 2).sum()) / freedom
    half = t.ppf(0.95, freedom) * np.sqrt(noise * (1 + np.einsum("ij,jk,ik->i", new, inverse, new)))
    error = asked.answers - new @ beta
    return float(np.sqrt((error**2).mean())), float((np.abs(error) <= half).mean())


def one(cells: Cells, structured: bool, seed: int) -> dict[str, float]:
    out = hold_out(cells, structured, np.random.default_rng([seed, structured]))
    seen, asked = cells.take(~out), cells.take(out)
    found = forecast(seen, asked.codes, seed=seed)
    if isinstance(found, str):
        return {}
    shown = np.sqrt if found.metric == "rmse" else float
    said = found.estimate(asked.codes)
    real = float(shown(losses_of(asked.answers, said.answers.reshape(len(asked.codes), -1), found.metric).mean()))
    row = {
        "ratio": found.error / real if real else 1.0,
        "covers": float(found.low <= real <= found.high),
        "plain": float(found.low <= real * found.levels <= found.high),
        "ours": real,
    }
    forest = Learner("forest", seen, seed).answer(asked.codes).reshape(len(asked.codes), -1)
    row["forest"] = float(shown(losses_of(asked.answers, forest, found.metric).mean()))
    if said.low is not None and said.high is not None:
        row["cells"] = float(((said.low <= asked.answers) & (asked.answers <= said.high)).mean())
        row["ols"], row["ols_cells"] = least_squares(seen, asked)
    return row


def planted(kind: str, seed: int) -> dict[str, float]:
    """Forecast over realised error of rules, on a table of which a third is hidden."""
    rng, shape = np.random.default_rng(seed), SHAPES[seed % len(SHAPES)]
    codes = np.stack(np.unravel_index(rng.permutation(np.prod(shape)), shape), axis=1)
    answers = sum(rng.normal(0, 6, n)[codes[:, k]] for k, n in enumerate(shape)) + rng.normal(0, 1.5, len(codes))
    if kind == "interacting":
        answers += rng.normal(0, 6, shape[:2])[codes[:, 0], codes[:, 1]]
    out = np.arange(len(codes)) < len(codes) // 3
    cells = Cells(codes, shape, np.ones(len(codes)), answers, None)
    seen, asked = cells.take(~out), cells.take(out)
    found = forecast(seen, asked.codes, more=["forest"])
    if isinstance(found, str):
        return {}
    rules = {"forest": Learner("forest", seen, 0), "additive": Adding("additive", seen, 1)}
    real = {name: np.sqrt(((rule.answer(asked.codes) - asked.answers) ** 2).mean()) for name, rule in rules.items()}
    return {told.rule: told.error / real[told.rule] for told in found.rules if told.rule in real}


def main_planted() -> None:
    shapes = ", ".join("×".join(map(str, shape)) for shape in SHAPES)
    lines = ["| tables | forest: forecast / realised, median | quartiles | additive: median | quartiles |"]
    lines.append("|---|---:|---:|---:|---:|")
    for kind in ("additive", "interacting"):
        rows = [row for row in (planted(kind, seed) for seed in range(20)) if row]
        parts = [f"{len(rows)} {kind}"]
        for name in ("forest", "additive"):
            low, middle, high = np.quantile([row[name] for row in rows], [0.25, 0.5, 0.75])
            parts += [f"{middle:.2f}", f"{low:.2f} to {high:.2f}"]
        lines.append(f"| {' | '.join(parts)} |")
        print(lines[-1], flush=True)
    about = f"`python benchmarks/forecast.py planted`: {shapes} in turn, a third of the cells hidden, seeds 0 to 19."
    text = "\n".join(["# A forest in the contest, on planted tables", "", about, "", *lines, ""])
    (Path(__file__).parent / "results" / "forecast-planted-cpu.md").write_text(text, encoding="utf-8")


def main() -> None:
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else SPLITS
    lines = [
        "| table | hold-outs | forecast / realised | interval holds | without levels | cell intervals hold | ours | "
        "forest | least squares | its intervals |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for table in TABLES.values():
        cells = cells_of(table)
        for structured in (False, True):
            rows = [row for row in (one(cells, structured, seed) for seed in range(splits)) if row]

            def middle(name: str, how=np.median, rows=rows) -> str:
                values = [row[name] for row in rows if name in row]
                return f"{how(values):.3g}" if values else ""

            held = share_interval([row["covers"] for row in rows])
            lines.append(
                f"| {table.name} | {len(rows)} {'structured' if structured else 'random'} | {middle('ratio')} | "
                f"{held.mean:.3g} [{held.low:.2f}, {held.high:.2f}] | {middle('plain', np.mean)} | "
                f"{middle('cells', np.mean)} | {middle('ours')} | {middle('forest')} | {middle('ols')} | "
                f"{middle('ols_cells', np.mean)} |"
            )
            print(lines[-1], flush=True)
    about = f"{splits} hold-outs of each kind, seeds 0 to {splits - 1}, on a CPU; errors are medians."
    text = "\n".join(["# Forecasts on real tables", "", "`python benchmarks/forecast.py`: " + about, "", *lines, ""])
    (Path(__file__).parent / "results" / "forecast-cpu.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main_planted() if sys.argv[1:] == ["planted"] else main()
