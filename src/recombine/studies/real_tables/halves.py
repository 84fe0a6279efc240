"""Every claim read on either half, and once more with each family of tables counted once; and, added after the locked
half was opened, by what chance its figure would be so."""

from __future__ import annotations

import numpy as np
import polars as pl

from recombine.studies.claims import Claim, Order, Sign
from recombine.studies.readings import Tables
from recombine.studies.real_tables.claims import CLAIMS
from recombine.studies.real_tables.summaries import each

SCHEMA = {"claim": pl.String, "half": pl.String, "families": pl.String, "tables": pl.Int64, "value": pl.Float64,
          "low": pl.Float64, "high": pl.Float64, "status": pl.String}  # fmt: skip
CHANCES = {"claim": pl.String, **dict.fromkeys(("difference", "between", "p", "holm"), pl.Float64)}
Errors = list[tuple[float, int]]
"""Squared standard error and degrees of freedom of each mean that takes part."""


def readings(measured: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """One row per claim, half and way to count. ``found`` is the table `each` of these rows."""
    rows = list[tuple[object, ...]]()
    for half in found["half"].unique(maintain_order=True):
        for families, count in (("all", pl.lit(True)), ("once", pl.col("once"))):
            names = found.filter(pl.col("half") == half, count)["table"]
            some = measured.filter(pl.col("table").is_in(names.implode()))
            tables = {"measured": some, "each": each(some)}
            for claim in CLAIMS:
                told = claim.evaluate(tables)
                ends = (told.figure.mean, told.figure.low, told.figure.high)
                rows.append((claim.id, half, families, told.members, *ends, told.status))
    return pl.DataFrame(rows, SCHEMA, orient="row")


def chances(measured: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """One row per claim, once both halves are there; tables count as independent, p are two-sided. ``between`` is that
    of the ``difference`` between the halves; ``p`` that of the figure on the locked half if the truth were just where
    the criterion ends (1 where the figure lies beyond), ``holm`` the same over all claims."""
    halves = [{"measured": measured.filter(half=half), "each": found.filter(half=half)}
              for half in ("development", "locked")]  # fmt: skip
    rows = list[tuple[str, float, float, float]]()
    for claim in CLAIMS if all(len(tables["each"]) for tables in halves) else ():
        (before, others), (now, own) = (_figure(claim, tables) for tables in halves)
        rows.append((claim.id, now - before, _welch(now - before, others + own), _at_the_edge(claim, now, own)))
    ranked = sorted(range(len(rows)), key=lambda i: rows[i][-1])
    steps = np.maximum.accumulate([min(1.0, (len(rows) - k) * rows[i][-1]) for k, i in enumerate(ranked)])
    holm = dict(zip(ranked, steps.tolist(), strict=True))
    return pl.DataFrame([(*row, holm[i]) for i, row in enumerate(rows)], CHANCES, orient="row")


def _figure(claim: Claim, tables: Tables) -> tuple[float, Errors]:
    evidence = claim.test.read(tables)
    groups = [np.asarray(group) for group in evidence.groups]
    if evidence.paired:
        groups = [groups[1] - groups[0]]
    mean = groups[-1].mean() - (groups[0].mean() if len(groups) > 1 else 0.0)
    return float(mean), [(float(group.var(ddof=1)) / len(group), len(group) - 1) for group in groups]


def _at_the_edge(claim: Claim, figure: float, errors: Errors) -> float:
    criterion = claim.test.criterion
    if isinstance(criterion, Order):
        inside = figure
    elif isinstance(criterion, Sign):
        inside = figure - criterion.than if criterion.side == "above" else criterion.than - figure
        if claim.test.quantities[0].counted:  # a share varies there as its edge says
            errors = [(criterion.than * (1 - criterion.than) / (freedom + 1), freedom) for _, freedom in errors]
    else:
        inside = criterion.tolerance - abs(figure - (criterion.theory or 0.0))
    return _welch(inside, errors) if inside > 0 else 1.0


def _welch(difference: float, errors: Errors) -> float:
    from scipy.special import stdtr

    total = sum(error for error, _ in errors)
    overall = total**2 / sum(error**2 / freedom for error, freedom in errors)
    return float(2 * stdtr(overall, -abs(difference) / total**0.5))
