"""A plan before there is any table, beside the plans that are published."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recombine.checks.as_read import per_cent
from recombine.checks.asked.cells import cells_with
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.plans.optimal import choose
from recombine.checks.plans.planned import Plan
from recombine.checks.plans.planning import considered, features, plan_rows
from recombine.checks.plans.run_sheet import run_sheet
from recombine.result import Result
from recombine.space import Codes, Factor, FactorSpace, Level

if TYPE_CHECKING:
    import polars as pl

DRAWS = 20
"""Choices of levels that are tried where so few rows cannot show all and some combinations are excluded."""


@dataclass(frozen=True, eq=False)
class PlanResult(Result):
    """A plan from nothing, beside the plans that are published."""

    kind: ClassVar[str] = "plan"

    space: FactorSpace
    plan: Plan
    rank: int
    determined: float
    """Share of the combinations that these rows determine."""
    beside: tuple[dict[str, Any], ...] = field(repr=False)
    """Other plans of the same number of rows: name, rows, typical and largest error (None: not determined)."""

    def sentence(self) -> str:
        if self.plan.after is None:
            few = f"{len(self.plan.cells)} rows cannot determine every combination; {self.rank} are needed at least."
            return f"{few} These determine {per_cent(self.determined)}, if {self.plan.assumes}."
        return self.plan.words[0].upper() + self.plan.words[1:]

    def to_frame(self) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame(self.space.decode(self.plan.cells))

    def run_sheet(self, answer: str = "answer") -> pl.DataFrame:
        """The same rows, numbered as they should be run, with an empty column of this name to fill in."""
        return run_sheet(self.space, self.plan.cells, self.plan.costs, self.plan.repeats, answer)

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "sentence": self.sentence(),
            "needed": self.rank,
            "determined": self.determined,
            "factors": {f.name: len(f) for f in self.space.factors},
            "plan": self.plan.to_dict(self.space),
            "beside": list(self.beside),
        }


def plan(
    levels: Mapping[str, int | Sequence[Level]],
    budget: int,
    *,
    order: int = 1,
    criterion: str = "A",
    exclude: Sequence[Mapping[str, Level]] = (),
    change: Mapping[str, float] | None = None,
    seed: int = 0,
) -> PlanResult:
    """Which ``budget`` rows to collect first of factors with these levels (or so many), before there is any table.

    Examples:
        >>> plan({"garment": ["shirt", "scarf"], "size": ["S", "M", "L"]}, budget=4).to_frame().height
        4
    """
    space = FactorSpace(
        tuple(Factor(n, tuple(range(1, v + 1)) if isinstance(v, int) else tuple(v)) for n, v in levels.items())
    )
    nothing = Identifiability(np.zeros((0, len(space)), dtype=np.int64), space.shape, order)
    cells = considered(space, exclude, seed)
    rank = nothing.with_rows(cells).rank
    plan_of = partial(plan_rows, nothing, space, np.zeros(0, dtype=np.int64), None, criterion=criterion, change=change)
    if budget < rank:
        found = _most(nothing, space, cells, budget, plan_of, exclude, seed)
    else:
        found = plan_of(cells, np.ones(len(cells)), budget=budget)
    allowed = {tuple(row) for row in cells.tolist()} if exclude else None
    beside = []
    for name, rows in published(space).items():
        if allowed is None or all(tuple(row) in allowed for row in rows.tolist()):
            beside.append(_judge(name, nothing, rows[np.arange(budget) % len(rows)], cells, len(rows)))
    return PlanResult(space, found.in_runs(seed), rank, _share(nothing, found.cells, cells), tuple(beside))


def _most(
    nothing: Identifiability, space: FactorSpace, cells: Codes, budget: int, plan_of: Callable[..., Plan],
    exclude: Sequence[Mapping[str, Level]], seed: int,
) -> Plan:  # fmt: skip
    """Too few rows for all: those that determine most, which are all combinations of as many levels as they can show.
    Where some are excluded several choices of levels are tried, and there, as of pairs, rows of any levels."""
    rng = np.random.default_rng(seed)
    sizes = _levels_shown(space.shape, nothing.order, budget)
    part = considered(FactorSpace.of(**dict(zip(space.names, sizes, strict=True))), (), seed)
    pools = [rng.permutation(cells)] if exclude or nothing.order > 1 else []
    for _ in range(DRAWS if exclude else 1):
        kept = [rng.permutation(n)[:size] for n, size in zip(space.shape, sizes, strict=True)]
        pool = np.stack([levels[part[:, k]] for k, levels in enumerate(kept)], axis=1)
        pools.append(pool[~cells_with(space, pool, exclude)])
    found = [plan_of(pool, np.ones(len(pool)), budget=budget) for pool in pools if len(pool)]
    best = max(found, key=lambda one: _share(nothing, one.cells, cells))
    return replace(best, after=None, worst=None, bound=0.0, enough=False)


def _levels_shown(shape: tuple[int, ...], order: int, budget: int) -> list[int]:
    """How many levels of each factor so many rows can show so that all their combinations are determined: one more of
    the factor with fewest, while the effects of up to ``order`` factors at once are no more than rows."""
    sizes = [1] * len(shape)
    while True:
        for k in sorted(range(len(shape)), key=lambda k: sizes[k]):
            larger = [*sizes[:k], sizes[k] + 1, *sizes[k + 1 :]]
            effects = sum(math.prod(n - 1 for n in some) for m in range(order + 1) for some in combinations(larger, m))
            if sizes[k] < shape[k] and effects <= budget:
                sizes = larger
                break
        else:
            return sizes


def _share(nothing: Identifiability, rows: Codes, cells: Codes) -> float:
    return float(nothing.with_rows(np.unique(rows, axis=0)).rows.contains(cells).mean())


def published(space: FactorSpace) -> dict[str, Codes]:
    """The plans of Gao et al. (RSS 2024, arXiv 2403.05110): L varies one factor at a time from a base, Stair one factor
    after the other without going back, Diagonal all of them at once."""
    base = np.zeros(len(space), dtype=np.int64)
    ell, stair, now = [base], [base], base
    for level in range(1, max(space.shape)):
        for k, levels in enumerate(space.shape):
            if level < levels:
                now, alone = now.copy(), base.copy()
                now[k] = alone[k] = level
                stair.append(now)
                ell.append(alone)
    steps = np.arange(max(space.shape))
    diagonal = np.stack([np.minimum(steps, levels - 1) for levels in space.shape], axis=1)
    return {"L": np.array(ell), "stair": np.array(stair), "diagonal": diagonal}


def _judge(name: str, nothing: Identifiability, rows: Codes, asked: Codes, distinct: int) -> dict[str, Any]:
    known = nothing.with_rows(np.unique(rows, axis=0))
    record: dict[str, Any] = {"plan": name, "rows": len(rows), "distinct": min(distinct, len(rows))}
    determined = known.rows.contains(asked)
    record["determined"] = float(determined.mean())
    if not determined.all():
        return record | {"error": None, "worst": None}
    x, ask = features(known, rows), features(known, asked)
    found = choose(x.T @ x, x, ask, np.ones(len(x)), 0)
    return record | {"error": math.sqrt(found.mean), "worst": math.sqrt(found.worst)}
