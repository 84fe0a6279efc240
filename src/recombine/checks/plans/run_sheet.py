"""Rows to collect as a table to take to the laboratory: what to run, what it costs, and where the answer goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recombine.checks.exact.modular import Floats
from recombine.space import Codes, FactorSpace

if TYPE_CHECKING:
    import polars as pl

    from recombine.checks.plans.planned import Plan


SHOWN = 8
"""Runs of one combination that are named."""


def together(plan: Plan) -> list[list[int]]:
    """The runs of each combination, numbered from 1 on, by the first of them; in visiting order those that follow one
    another."""
    found, last = list[tuple[tuple[int, ...], list[int]]](), dict[tuple[int, ...], list[int]]()
    for run, cell in enumerate(map(tuple, plan.cells.tolist()), 1):
        runs = last.get(cell)
        if runs is None or (plan.visited and runs[-1] < run - 1):
            found.append((cell, runs := []))
            last[cell] = runs
        runs.append(run)
    return [runs for _, runs in found]


def named(runs: Sequence[int]) -> str:
    return ", ".join(f"{run:,}" for run in runs[:SHOWN]) + (" …" if len(runs) > SHOWN else "")


def run_sheet(
    space: FactorSpace, cells: Codes, costs: Floats, repeats: Sequence[str], answer: str | None
) -> pl.DataFrame:
    import polars as pl

    records, names = space.decode(cells), space.names
    taken = (*names, answer)
    run, cost, again = (name if name not in taken else f"check: {name}" for name in ("run", "cost", "repeat"))
    sheet: dict[str, Any] = {run: range(1, len(records) + 1)}
    sheet |= {name: [str(levels[name]) for levels in records] for name in names}
    sheet |= {cost: costs} if len(set(costs.tolist())) > 1 else {}
    sheet |= {again: repeats} if any(repeats) else {}
    sheet |= {answer if answer not in names else f"check: {answer}": [None] * len(records)} if answer else {}
    return pl.DataFrame(sheet)
