"""How claims read a table of networks, a row a member, that says which of them fitted what they saw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from recombine.studies.claims import Evidence, Reader, Tables

NO_EVIDENCE = Evidence.of([], members=0)


def networks(tables: Tables, run: str) -> pl.DataFrame:
    """The networks of a run, by number; empty where there are none."""
    table = tables.get("networks")
    return table.filter(pl.col("run") == run).sort("member") if table is not None else pl.DataFrame()


def of(run: str, column: str | pl.Expr, also: pl.Expr | None = None) -> Reader:
    """One value a fitted network of a run; with ``also``, of those that satisfy it besides."""

    def evidence(tables: Tables) -> Evidence:
        rows = networks(tables, run)
        if rows.is_empty():
            return NO_EVIDENCE
        kept = rows.filter(pl.col("fitted") & (also if also is not None else True))
        return Evidence.of(values(kept, column), members=len(rows))

    return evidence


def order(runs: Sequence[str], column: str) -> Reader:
    """One group a run, the fitted networks of each."""

    def evidence(tables: Tables) -> Evidence:
        found = [networks(tables, run) for run in runs]
        if any(rows.is_empty() for rows in found):
            return Evidence.of(*([] for _ in runs), members=0)
        groups = [values(rows.filter("fitted"), column) for rows in found]
        return Evidence.of(*groups, members=[len(rows) for rows in found])

    return evidence


def values(rows: pl.DataFrame, column: str | pl.Expr) -> np.ndarray:
    """The finite values of a column."""
    found = rows.select(pl.col(column) if isinstance(column, str) else column).to_series().drop_nulls().to_numpy()
    found = found.astype(np.float64)
    return np.asarray(found[np.isfinite(found)])
