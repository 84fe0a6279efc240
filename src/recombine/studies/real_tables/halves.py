"""Every claim read on either half, and once more with each family of tables counted once."""

from __future__ import annotations

import polars as pl

from recombine.studies.real_tables.claims import CLAIMS
from recombine.studies.real_tables.summaries import each

SCHEMA = {"claim": pl.String, "half": pl.String, "families": pl.String, "tables": pl.Int64, "value": pl.Float64,
          "low": pl.Float64, "high": pl.Float64, "status": pl.String}  # fmt: skip


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
