"""One table from nothing: after so many cells, chosen in one way or another, how wrong is adding up on the rest?

*As few as can be*: as many cells as the plan L has, one for each number that adding up has to learn. *Half as many
again*: advice against cells at random, and against always taking the cell whose answer is the least certain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import polars as pl

from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Ints
from recombine.checks.plans.from_nothing import published
from recombine.checks.plans.planning import plan_rows
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.seen_cells import Cells
from recombine.runs import Context, Outcome, Run
from recombine.space import Factor, FactorSpace
from recombine.studies.real_tables.contest import SCHEMA
from recombine.studies.real_tables.holes import indicators
from recombine.studies.real_tables.registry import Source

FEW, MORE = "as few as can be", "half as many again"
ADVISED, RANDOM, ELL, STAIR, VARIANCE = "advised", "random", "L", "Stair", "largest variance"
LENT = 1e-2


class CollectingRun(Run):
    """Choose cells by every plan, ``draws`` times with the levels in another order, and fit them."""

    kind: ClassVar[str] = "real table collecting"
    version: ClassVar[int] = 2
    source: Source
    draws: int = 3

    def compute(self, context: Context) -> Outcome:
        cells = self.source.cells()
        wrong: dict[tuple[str, str], list[float]] = {}
        for draw in range(self.draws):
            context.progress(draw, self.draws, "orders of levels")
            for budget, plan, chosen in _plans(cells, np.random.default_rng([draw, 7])):
                wrong.setdefault((budget, plan), []).append(_left(cells, chosen))
        rows = [(*key, "log error", 0.5 * math.log(max(float(np.mean(some)), 1e-12))) for key, some in wrong.items()]
        return Outcome({"measured": pl.DataFrame(rows, SCHEMA, orient="row")}, {}, {"members": self.draws})


def _plans(cells: Cells, rng: np.random.Generator) -> Iterator[tuple[str, str, Ints]]:
    """Cells by number, the levels of every factor in a random order."""
    orders = [rng.permutation(n) for n in cells.shape]
    codes = np.stack([order[code] for order, code in zip(orders, cells.codes.T, strict=True)], axis=1)
    where = {tuple(row): i for i, row in enumerate(codes.tolist())}
    space = FactorSpace(tuple(Factor(f"factor {k}", tuple(range(n))) for k, n in enumerate(cells.shape)))
    ready = {name: [where[t] for row in plan.tolist() if (t := tuple(row)) in where]
             for name, plan in published(space).items()}  # fmt: skip
    rank = int(np.linalg.matrix_rank(indicators(cells)))
    for budget, count in ((FEW, rank), (MORE, min(round(1.5 * rank), len(codes) - 2))):
        if count < len(codes) - 1:
            yield budget, ADVISED, _advised(space, codes, where, count, rng)
            yield budget, RANDOM, rng.choice(len(codes), count, replace=False)
    if rank < len(codes) - 1:
        yield FEW, ELL, _filled(ready["L"], len(codes), rank, rng)
        yield FEW, STAIR, _filled(ready["stair"], len(codes), rank, rng)
        yield MORE, VARIANCE, _uncertain(indicators(cells), min(round(1.5 * rank), len(codes) - 2), rng)


def _advised(space: FactorSpace, codes: Ints, where: dict[tuple[int, ...], int], count: int,
             rng: np.random.Generator) -> Ints:  # fmt: skip
    nothing = Identifiability(np.zeros((0, len(space)), dtype=np.int64), space.shape, 1)
    none = np.zeros(0, dtype=np.int64)
    plan = plan_rows(nothing, space, none, None, codes, np.ones(len(codes)), budget=count)
    return _filled([where[tuple(row)] for row in plan.cells.tolist()], len(codes), count, rng)


def _filled(chosen: list[int], cells: int, count: int, rng: np.random.Generator) -> Ints:
    """Each cell once, and others at random in place of those that are not there or were named twice."""
    once = list(dict.fromkeys(chosen))[:count]
    rest = rng.permutation(np.setdiff1d(np.arange(cells), once))
    return np.concatenate([once, rest[: count - len(once)]]).astype(np.int64)


def _uncertain(x: np.ndarray, count: int, rng: np.random.Generator) -> Ints:
    """Always the cell whose answer has the largest variance, given those before it."""
    inverse, chosen = np.eye(x.shape[1]) / LENT, list[int]()
    ties = rng.random(len(x)) * 1e-9
    for _ in range(count):
        moved = x @ inverse
        variance = (moved * x).sum(axis=1) + ties
        variance[chosen] = -1.0
        best = int(np.argmax(variance))
        inverse -= np.outer(moved[best], moved[best]) / (1 + float(moved[best] @ x[best]))
        chosen.append(best)
    return np.array(chosen, dtype=np.int64)


def _left(cells: Cells, chosen: Ints) -> float:
    """Mean squared error of adding up on the cells that were not chosen, as a share of the variance of all cells."""
    out = np.ones(len(cells.codes), dtype=bool)
    out[chosen] = False
    seen, rest = cells.take(~out), cells.take(out)
    answers = Adding("additive", seen, 1).answer(rest.codes)
    return float(((rest.answers - answers) ** 2).mean()) / float(np.var(cells.answers))
