"""Which score tells networks that compose from networks that fail? Rank correlation of each with the error on unseen
ones.

Two intervals, since networks of one kind are not independent. *By replicate*: member m of every kind makes one sample
of kinds, and Spearman's ρ over kinds is a value with an interval over m. *Pooled*: ρ over all fitted networks, its
interval from drawing kinds anew with all their networks. A negative ρ is what a score of factorization should have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recombine.measures.interval import interval
from recombine.measures.ranks import spearman

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST_KINDS = 5
RESAMPLES = 200
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


def rank_correlations(networks: pl.DataFrame, layers: pl.DataFrame, by_replicate: pl.DataFrame) -> pl.DataFrame:
    """One row a score, the most telling first: ρ by replicate and pooled, each with its interval, and what they rest
    on."""
    rows: list[dict[str, Any]] = []
    for (score, where), part in long(networks, layers).group_by("score", "where", maintain_order=True):
        mine = by_replicate.filter((pl.col("score") == score) & (pl.col("where") == where))["rho"].drop_nulls()
        figure = interval(mine.to_numpy())
        low, high = _clustered(part)
        pooled = spearman(part["value"].to_numpy(), part["error"].to_numpy())
        rows.append({
            "score": score, "looks_at": where, "rho": figure.mean, "low": figure.low, "high": figure.high,
            "pooled": pooled, "pooled_low": low, "pooled_high": high, "networks": part.height,
            "kinds": part["run"].n_unique(), "strength": abs(figure.mean) if mine.len() else None,
        })  # fmt: skip
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.sort("strength", descending=True, nulls_last=True) if rows else table


def _clustered(part: pl.DataFrame) -> tuple[float | None, float | None]:
    """The interval of the pooled ρ when kinds are drawn anew, each with all its networks."""
    names = part["run"].unique(maintain_order=True)
    kinds = len(names)
    if kinds < FEWEST_KINDS:
        return None, None
    kind = part["run"].replace_strict(names, range(kinds), return_dtype=pl.Int64).to_numpy()
    drawn = np.random.default_rng(0).integers(kinds, size=(RESAMPLES, kinds))
    times = np.stack([np.bincount(one, minlength=kinds) for one in drawn])
    weights = times[:, kind].astype(np.float64)
    a, b = (_ranks(part[side].to_numpy(), kind, times) for side in ("value", "error"))
    a, b = (side - (weights * side).sum(1, keepdims=True) / weights.sum(1, keepdims=True) for side in (a, b))
    spread = np.sqrt((weights * a * a).sum(1) * (weights * b * b).sum(1))
    varied = spread > 0
    if not varied.any():
        return None, None
    low, high = np.quantile((weights * a * b).sum(1)[varied] / spread[varied], [0.025, 0.975])
    return float(low), float(high)


def _ranks(values: NDArray[np.float64], kind: NDArray[np.int64], times: NDArray[np.int64]) -> NDArray[np.float64]:
    """The rank of each value in each resample (resamples × values), ties at their mean: how many values lie below it,
    and half of those equal to it, each as many ``times`` as its kind was drawn."""
    places, place = np.unique(values, return_inverse=True)
    held = np.zeros((times.shape[1], len(places)), np.int64)
    np.add.at(held, (kind, place), 1)
    equal = times @ held
    ranks: NDArray[np.float64] = (equal.cumsum(1) - equal / 2)[:, place]
    return ranks
