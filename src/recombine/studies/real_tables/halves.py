"""Every claim read on either half, and once more with each family of tables counted once; and, added after the locked
half was opened, by what chance its figure would be so."""

from __future__ import annotations

import polars as pl

from recombine.studies.chances import at_the_edge, holm, measured as measured_of, welch
from recombine.studies.real_tables.claims import CLAIMS
from recombine.studies.real_tables.summaries import each

SCHEMA = {"claim": pl.String, "half": pl.String, "families": pl.String, "tables": pl.Int64, "value": pl.Float64,
          "low": pl.Float64, "high": pl.Float64, "status": pl.String}  # fmt: skip
CHANCES = {"claim": pl.String, **dict.fromkeys(("difference", "between", "p", "holm"), pl.Float64)}


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
        (before, others), (now, own) = (measured_of(claim, tables) for tables in halves)
        rows.append((claim.id, now - before, welch(now - before, others + own), at_the_edge(claim, now, own)))
    overall = holm([row[-1] for row in rows])
    return pl.DataFrame([(*row, look) for row, look in zip(rows, overall, strict=True)], CHANCES, orient="row")
