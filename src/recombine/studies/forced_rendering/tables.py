"""From the tables of the runs to those of the study: a row a network, a layer, an exact regression, a number of
examples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.measures.rendering import FIT
from recombine.studies.forced_rendering.network_runs import LABELS
from recombine.studies.forced_rendering.scores import by_kind, rank_correlations, replicates

if TYPE_CHECKING:
    from recombine.runs import StoredRun

LOCATED = 0.9
"""Unseen bumps are placed once this share of them is within one pixel."""

DRAWN = -0.5
"""They are drawn once the error falls to half of a blank picture's."""

NEAR = math.sqrt(2)
"""How far above the fewest possible examples a smallest count may lie: as far as the kernel's counts are apart."""

UNSEEN = ("mse", "over_blank", "located", "arms", "bump", "box", "ssim", "blank")


def tables(stored: Mapping[str, StoredRun]) -> dict[str, pl.DataFrame]:
    """The study's tables; works on any of its runs alone."""
    names = ("networks", "layers", "training", "kernels", "need", "drawings", "volume")
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in names}
    for name, run in stored.items():
        if "rendering" in run.tables:
            parts["training"].append(_training(name, run.table("rendering")))
        if name in LABELS:
            label = [pl.lit(name).alias("run"), pl.lit(LABELS[name]).alias("kind")]
            parts["networks"].append(_networks(run).select(*label, pl.all()))
            parts["layers"].append(_layers(run).select(*label, pl.all()))
            parts["drawings"].append(run.table("drawing").drop("step").select(*label, pl.all()))
            if "geometry" in run.tables:
                parts["volume"].append(_volume(run.table("geometry")).select(*label, pl.all()))
        elif name.startswith("need-"):
            parts["need"].append(_need(run).select(pl.lit("transposed CNN").alias("learner"), pl.all()))
        elif "need" in run.tables:
            table = run.table("need").with_columns(pl.lit(True).alias("fitted"))
            parts["need"].append(table.select(pl.lit("tangent kernel").alias("learner"), pl.all()))
        else:
            parts["kernels"].append(run.table("kernels"))
    found = {name: pl.concat(rows, how="diagonal_relaxed") for name, rows in parts.items() if rows}
    if "need" in found:
        found["slopes"] = slopes(found["need"])
    if "networks" in found:
        found["replicates"] = replicates(found["networks"], found["layers"])
        found["by_kind"] = by_kind(found["networks"], found["layers"])
        found["scores"] = rank_correlations(found["replicates"], found["by_kind"])
    return found


def _training(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """Errors and places along training, of every network."""
    kept = table.filter(pl.col("split") != "inside").select("member", "step", "split", "mse", "over_blank", "located")
    return kept.select(pl.lit(name).alias("run"), pl.lit(LABELS.get(name, "transposed CNN")).alias("kind"), pl.all())


def _last(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("step") == pl.col("step").max())


def _networks(run: StoredRun) -> pl.DataFrame:
    """One row a network: what it fits, what it draws for unseen combinations, what that is made of."""
    drawn = _last(run.table("rendering"))
    seen = drawn.filter(pl.col("split") == "seen").select(
        "member", seen_mse="mse", seen_over_blank="over_blank", seen_located="located"
    )
    unseen = drawn.filter(pl.col("split") == "unseen").select("member", *UNSEEN)
    inside = drawn.filter(pl.col("split") == "inside").select("member", located_inside="located")
    status = run.table("members").select("member", "diverged_at", "final_loss")
    table = status
    for part in (seen, unseen, inside):
        table = table.join(part, on="member", how="left")
    table = table.join(run.table("superposition").drop("step", "combinations"), on="member", how="left")
    far = run.table("transport").filter(pl.col("split") == "unseen").select("member", transport="distance")
    table = table.join(far, on="member", how="left")
    if "embedding" in run.tables:
        maps = run.table("embedding").group_by("member").agg(pl.col("stripe", "rank", "effective_rank").mean())
        table = table.join(maps, on="member", how="left")
    fitted = (pl.col("seen_over_blank") < FIT) & pl.col("diverged_at").is_null()
    side = pl.lit(run.description["task"].get("side", 28)).alias("side")
    return table.with_columns(fitted.fill_null(False).alias("fitted"), side)


def _layers(run: StoredRun) -> pl.DataFrame:
    """Scores of each layer; ``role`` says which of a network's layers it is, whatever it is called."""
    table = run.table("factorization").drop("step")
    names = [n for n in table["layer"].unique(maintain_order=True).to_list() if n not in ("input", "output", "tangent")]
    roles = {"input": "input", "output": "output", "tangent": "tangent kernel"} | dict(
        zip(names, ("first hidden", "last hidden"), strict=False)
    )
    table = table.with_columns(pl.col("layer").replace_strict(roles).alias("role"))
    read = run.table("probes").select("member", "layer", probe_seen="seen", probe_unseen="unseen")
    return table.join(read, on=["member", "layer"], how="left")


def _volume(table: pl.DataFrame) -> pl.DataFrame:
    """log₁₀ of the mean volume over members at each place."""
    found = table.group_by("layer", "x", "y", "seen", maintain_order=True).agg(
        pl.col("volume").mean().add(1e-12).log10().alias("log_volume"), pl.col("cosine").abs().mean()
    )
    return found.with_columns((pl.col("log_volume") - pl.col("log_volume").mean()).alias("relative"))


def _need(run: StoredRun) -> pl.DataFrame:
    task = {"side": 28, **run.description["task"]}
    bumps, stripes = task["bumps"], task.get("stripes", 0)
    table = _last(run.table("rendering")).filter(pl.col("split") == "unseen").select("member", "located", "over_blank")
    table = table.join(run.table("members").select("member", pl.col("fitted").fill_null(False)), on="member")
    about = {"side": task["side"], "stripes": stripes, "bumps": bumps, "examples": bumps + stripes}
    return table.with_columns(pl.lit(value, pl.Int64).alias(name) for name, value in about.items())


def slopes(need: pl.DataFrame) -> pl.DataFrame:
    """d log(examples needed) / d log N for each learner, training set and sample; null where a side never gets there,
    or where too few examples were never tried.

    Needed to *place* unseen bumps (nine tenths within a pixel) and to *draw* them (half a blank picture's error)."""
    rows: list[dict[str, object]] = []
    sides = {learner: part["side"].n_unique() for (learner,), part in need.group_by("learner")}
    keyed = need.with_columns((pl.col("stripes") > 0).alias("with_stripes"), (-pl.col("over_blank")).alias("quality"))
    by = keyed.group_by("learner", "with_stripes", "member", maintain_order=True)
    for (learner, stripes, member), part in by:
        for criterion, share, enough in (("placed", "located", LOCATED), ("drawn", "quality", DRAWN)):
            found: dict[int, float] = {}
            for (side,), at in part.filter("fitted").sort("examples").group_by("side", maintain_order=True):
                examples, shares = at["examples"].to_numpy(), at[share].to_numpy()
                needed = first_enough(examples, shares, enough, least=float(at["stripes"][0]))
                if needed is not None:
                    found[int(side)] = needed
            slope = None
            if len(found) == sides[str(learner)] > 1:
                slope = float(np.polyfit(np.log(list(found)), np.log(list(found.values())), 1)[0])
            rows.append({"learner": learner, "with_stripes": stripes, "criterion": criterion, "member": member,
                         "slope": slope, "sides": len(found)})  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"slope": pl.Float64}, infer_schema_length=None)


def first_enough(
    examples: NDArray[np.float64], share: NDArray[np.float64], enough: float, least: float = 0.0
) -> float | None:
    """Where the share first reaches ``enough``, between counts on a logarithmic line; None where it never does.

    Where the smallest count is enough, fewer might have been: it is the answer only where no training set has fewer
    than ``least``, and it is not far above that."""
    above = np.flatnonzero(share >= enough)
    if not len(above):
        return None
    at = int(above[0])
    if at == 0:
        return float(examples[0]) if examples[0] <= NEAR * least else None
    part = (enough - share[at - 1]) / (share[at] - share[at - 1])
    return float(examples[at - 1] * (examples[at] / examples[at - 1]) ** part)
