"""How the claims read the study's tables: one value a setting, so that networks trained on the same rows count once."""

from __future__ import annotations

import polars as pl

from recombine.studies.claims import CORRELATION, Evidence, Reader, Tables


def of(kind: str, lens: str) -> Reader:
    """The values of one lens in one kind of comparison."""

    def evidence(tables: Tables) -> Evidence:
        rows = _values(tables, kind, lens)
        return Evidence.of(rows["rho"].drop_nulls().to_numpy(), members=len(rows), limits=CORRELATION)

    return evidence


def pair(kind: str, first: str, second: str) -> Reader:
    """Two lenses in the settings that have both."""

    def evidence(tables: Tables) -> Evidence:
        rows = _values(tables, kind, first).join(_values(tables, kind, second), on=["task", "split"], suffix="_second")
        both = rows.drop_nulls(["rho", "rho_second"])
        return Evidence.of(both["rho"].to_numpy(), both["rho_second"].to_numpy(), members=len(rows), paired=True)

    return evidence


def forecast(first: str, second: str) -> Reader:
    """How far two forecasts are off in every setting that has networks to foretell."""

    def evidence(tables: Tables) -> Evidence:
        if "forecasts" not in tables:
            return Evidence.of([], [], members=0, paired=True)
        rows = tables["forecasts"]
        settings = tables["networks"].select("task", "split").n_unique()
        return Evidence.of(rows[first].to_numpy(), rows[second].to_numpy(), members=settings, paired=True)

    return evidence


def _values(tables: Tables, kind: str, lens: str) -> pl.DataFrame:
    if "by_setting" not in tables:
        return pl.DataFrame(schema={"task": pl.String, "split": pl.String, "rho": pl.Float64})
    mine = (pl.col("kind") == kind) & (pl.col("lens") == lens)
    return tables["by_setting"].filter(mine).select("task", "split", "rho")
