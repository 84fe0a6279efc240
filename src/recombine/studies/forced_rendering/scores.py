"""Which score tells networks that compose from networks that fail? Rank correlation of each with the error on unseen
ones.

Two intervals, since networks of one kind are not independent. *By replicate*: member m of every kind makes one sample
of kinds, and Spearman's ρ over kinds is a value with an interval over m. It says how much seeds matter, for these
kinds. *By kind*: ρ over all fitted networks, its interval from leaving out kinds with all their networks
(`measures.ranks`). It says what another choice of kinds might have shown, and claims are judged by it. A negative ρ is
what a score of factorization should have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.measures.interval import interval
from recombine.measures.ranks import jackknife, spearman

FEWEST_KINDS = 5
LAYER_SCORES = ("multiplicative", "additive", "combined", "rescaled", "orthogonality")
PLACES = ("all", "seen")


def long(networks: pl.DataFrame, layers: pl.DataFrame) -> pl.DataFrame:
    """One row a fitted network and score: run, member, score, value, and log₁₀ of the unseen error over blank.

    Where fewer than five kinds fitted (after a few steps), all networks stand in, marked as not fitted."""
    enough = networks.filter("fitted")["run"].n_unique() >= FEWEST_KINDS
    kept = networks.filter("fitted") if enough else networks
    fitted = kept.select("run", "member", pl.lit(enough).alias("fitted"), error=pl.col("over_blank").log10())
    parts = []
    for role in ("first hidden", "last hidden", "output", "tangent kernel"):
        for where in PLACES:
            mine = layers.filter((pl.col("role") == role) & (pl.col("where") == where))
            parts += [_column(mine, score, f"{score}, {role}", where) for score in LAYER_SCORES]
    read = layers.filter((pl.col("role") == "last hidden") & (pl.col("where") == "all"))
    parts.append(_column(read, "probe_seen", "linear probe, last hidden", "seen"))
    parts.append(_column(networks, "nonnegative", "superposition of seen outputs", "all"))
    parts.append(_column(networks, "seen_over_blank", "error on seen combinations", "seen"))
    table = pl.concat([part for part in parts if part.height])
    return table.join(fitted, on=["run", "member"]).filter(pl.col("value").is_finite() & pl.col("error").is_finite())


def _column(table: pl.DataFrame, column: str, score: str, where: str) -> pl.DataFrame:
    return table.select("run", "member", pl.lit(score).alias("score"), pl.lit(where).alias("where"),
                        pl.col(column).cast(pl.Float64).alias("value")).drop_nulls("value")  # fmt: skip


def replicates(networks: pl.DataFrame, layers: pl.DataFrame) -> pl.DataFrame:
    """ρ over kinds for each score and member number; null below five kinds."""
    rows = []
    by = long(networks, layers).group_by("score", "where", "member", maintain_order=True)
    for (score, where, member), part in by:
        rho = spearman(part["value"].to_numpy(), part["error"].to_numpy()) if part.height >= FEWEST_KINDS else None
        rows.append({"score": score, "where": where, "member": member, "rho": rho, "kinds": part.height,
                     "fitted": part["fitted"][0]})  # fmt: skip
    schema = {"score": pl.String, "where": pl.String, "member": pl.Int32, "rho": pl.Float64, "kinds": pl.Int64}
    return pl.DataFrame(rows, schema=schema | {"fitted": pl.Boolean})


def by_kind(networks: pl.DataFrame, layers: pl.DataFrame) -> pl.DataFrame:
    """For each score and kind a jackknife value of ρ over all fitted networks; null for a kind that has none, and for
    all below five kinds."""
    kinds = networks["run"].unique(maintain_order=True).to_list()
    rows = []
    for (score, where), part in long(networks, layers).group_by("score", "where", maintain_order=True):
        runs, value, error = part["run"].to_list(), part["value"].to_numpy(), part["error"].to_numpy()

        def rho(
            kept: NDArray[np.int64], value: NDArray[np.float64] = value, error: NDArray[np.float64] = error
        ) -> float | None:
            return spearman(value[kept], error[kept])

        found = jackknife(rho, runs) if len(set(runs)) >= FEWEST_KINDS else None
        rows += [
            {"score": score, "where": where, "run": kind, "rho": (found or {}).get(kind),
             "networks": runs.count(kind), "fitted": part["fitted"][0]}
            for kind in kinds
        ]  # fmt: skip
    schema = {"score": pl.String, "where": pl.String, "run": pl.String, "rho": pl.Float64, "networks": pl.Int64}
    return pl.DataFrame(rows, schema=schema | {"fitted": pl.Boolean})


def rank_correlations(replicates: pl.DataFrame, by_kind: pl.DataFrame) -> pl.DataFrame:
    """One row a score, the most telling first: ρ by replicate and over all networks, each with its interval, and what
    they rest on."""
    rows: list[dict[str, Any]] = []
    for (score, where), part in by_kind.group_by("score", "where", maintain_order=True):
        mine = replicates.filter((pl.col("score") == score) & (pl.col("where") == where))["rho"].drop_nulls()
        figure, pooled = interval(mine.to_numpy()), interval(part["rho"].drop_nulls().to_numpy())
        rows.append({
            "score": score, "looks_at": where, "rho": figure.mean, "low": figure.low, "high": figure.high,
            "pooled": pooled.mean, "pooled_low": pooled.low, "pooled_high": pooled.high,
            "networks": int(part["networks"].sum()), "kinds": int((part["networks"] > 0).sum()),
            "strength": abs(figure.mean) if mine.len() else None,
        })  # fmt: skip
    table = pl.DataFrame(rows, infer_schema_length=None)
    # A correlation lies between −1 and 1, and so does its interval.
    bounds = pl.col("rho", "low", "high", "pooled", "pooled_low", "pooled_high").cast(pl.Float64)
    return (
        table.with_columns(bounds.fill_nan(None).clip(-1.0, 1.0)).sort("strength", descending=True, nulls_last=True)
        if rows
        else table
    )
