"""Which score tells networks that compose from networks that fail? Rank correlation of each with the unseen error.

Two intervals, since networks of one kind are not independent. *By replicate*: member m of every kind makes one sample
of kinds, and Spearman's ρ over kinds has an interval over m: how much seeds matter, for these kinds. *By kind*: ρ over
all fitted networks, its interval from leaving out kinds with all their networks (`statistics.ranks`): what another
choice of kinds might have shown; claims are judged by it. A score of factorization should have a negative ρ.
"""

from __future__ import annotations

import polars as pl

from recombine.statistics import interval, jackknife, spearman

FEWEST_KINDS = 5
LAYER_SCORES = ("multiplicative", "additive", "combined", "rescaled", "orthogonality")
BY = ["score", "where"]
SCHEMA = {"score": pl.String, "where": pl.String, "rho": pl.Float64, "fitted": pl.Boolean}


def long(networks: pl.DataFrame, layers: pl.DataFrame) -> pl.DataFrame:
    """One row per fitted network and score: its value, and log₁₀ of the unseen error over blank.

    Where fewer than five kinds fitted (after a few steps), all networks stand in, marked as not fitted."""
    enough = networks.filter("fitted")["run"].n_unique() >= FEWEST_KINDS
    kept = networks.filter("fitted") if enough else networks
    error = kept.select("run", "member", pl.lit(enough).alias("fitted"), error=pl.col("over_blank").log10())
    index, role = ["run", "member", "where"], pl.col("role")
    wide = layers.filter(role != "input").unpivot(LAYER_SCORES, index=[*index, "role"], variable_name="score")
    last = layers.filter((role == "last hidden") & (pl.col("where") == "all"))
    named = {"linear probe, last hidden": (last, "probe_seen", "seen"),
             "superposition of seen outputs": (networks, "nonnegative", "all"),
             "error on seen combinations": (networks, "seen_over_blank", "seen")}  # fmt: skip
    parts = [wide.with_columns(score=pl.format("{}, {}", "score", "role"))] + [
        table.select("run", "member", pl.lit(where).alias("where"), pl.lit(score).alias("score"), value=column)
        for score, (table, column, where) in named.items()
    ]
    table = pl.concat([part.select(*index, "score", pl.col("value").cast(pl.Float64)) for part in parts])
    return table.join(error, on=["run", "member"]).filter(pl.col("value").is_finite() & pl.col("error").is_finite())


def replicates(networks: pl.DataFrame, layers: pl.DataFrame) -> pl.DataFrame:
    """ρ over kinds for each score and member number; null below five kinds."""
    samples = long(networks, layers).group_by(*BY, "member", maintain_order=True)
    rows = [{"score": score, "where": where, "member": member, "kinds": part.height, "fitted": part["fitted"][0],
             "rho": spearman(part["value"], part["error"]) if part.height >= FEWEST_KINDS else None}
            for (score, where, member), part in samples]  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA | {"member": pl.Int32, "kinds": pl.Int64})


def by_kind(networks: pl.DataFrame, layers: pl.DataFrame) -> pl.DataFrame:
    """For each score and kind a jackknife value of ρ over all fitted networks; null for a kind that has none, and for
    all below five kinds."""
    rows = []
    for (score, where), part in long(networks, layers).group_by(BY, maintain_order=True):
        runs, both = part["run"].to_list(), part.select("value", "error").to_numpy()
        found = jackknife(lambda kept, both=both: spearman(*both[kept].T), runs)  # type: ignore[misc]
        known = found if found and len(set(runs)) >= FEWEST_KINDS else {}
        rows += [{"score": score, "where": where, "run": kind, "rho": known.get(kind), "networks": runs.count(kind),
                  "fitted": part["fitted"][0]} for kind in networks["run"].unique(maintain_order=True)]  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA | {"run": pl.String, "networks": pl.Int64})


def rank_correlations(replicates: pl.DataFrame, by_kind: pl.DataFrame) -> pl.DataFrame:
    """One row per score, the most telling first: ρ by replicate and over all networks, each with its interval, and what
    they rest on."""
    rows = []
    for (score, where), part in by_kind.group_by(BY, maintain_order=True):
        mine = replicates.filter((pl.col("score") == score) & (pl.col("where") == where))["rho"].drop_nulls()
        figure, pooled = interval(mine), interval(part["rho"].drop_nulls())
        rows.append({"score": score, "looks_at": where, "rho": figure.mean, "low": figure.low, "high": figure.high,
                     "pooled": pooled.mean, "pooled_low": pooled.low, "pooled_high": pooled.high,
                     "networks": part["networks"].sum(), "kinds": (part["networks"] > 0).sum(),
                     "strength": abs(figure.mean) if mine.len() else None})  # fmt: skip
    # A correlation lies between −1 and 1, and so does its interval.
    bounds = pl.col("rho", "low", "high", "pooled", "pooled_low", "pooled_high").cast(pl.Float64)
    found = pl.DataFrame(rows, infer_schema_length=None)
    return found.with_columns(bounds.fill_nan(None).clip(-1.0, 1.0)).sort("strength", descending=True, nulls_last=True)
