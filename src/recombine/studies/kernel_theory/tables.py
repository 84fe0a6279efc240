"""From the tables of the runs to those of the study: one row a network, one row a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recombine.kernels.closed_forms import context_margin_least_squares
from recombine.studies.kernel_theory.sets import ANCHORS, DEPTHS

if TYPE_CHECKING:
    from recombine.runs import StoredRun

KERNELS = {
    "kernel-random-2": "random", "kernel-random-3": "random", "kernel-random-4": "random", "kernel-leak": "leak",
    "kernel-dispersed": "dispersed", "kernel-equivalence": "equivalence", "kernel-order": "order",
    "kernel-context-least-squares": "context", "kernel-context-hard-margin": "context",
    "kernel-depth-least-squares": "depth", "kernel-depth-hard-margin": "depth",
}  # fmt: skip
FAMILY = {"dense": "one hidden layer", "convnet": "ConvNet", "resnet": "ResNet", "vit": "ViT"}
FEATURES = {"dense": "relu_1", "resnet": "mean", "vit": "norm"}
"""The layer that the readout sees; of deep networks and ConvNets, the last ReLU."""


def tables(stored: Mapping[str, StoredRun]) -> dict[str, pl.DataFrame]:
    """The study's tables; works on any of its runs alone."""
    networks: list[pl.DataFrame] = []
    saliences: list[pl.DataFrame] = []
    kernels: list[pl.DataFrame] = []
    effects: list[pl.DataFrame] = []
    for name, run in stored.items():
        if name in KERNELS:
            label = pl.lit(KERNELS[name]).alias("sweep")
            kernels.append(run.table("kernels").select(label, pl.all()))
            if "effects" in run.tables:
                effects.append(run.table("effects").select(label, pl.all()))
        else:
            measured = run.table("salience")
            saliences.append(measured.select(pl.lit(name).alias("run"), pl.all()))
            networks.append(_networks(name, run, measured))
    found: dict[str, pl.DataFrame] = {}
    for title, parts in (("networks", networks), ("salience", saliences), ("kernels", kernels), ("effects", effects)):
        if parts:
            found[title] = pl.concat(parts, how="diagonal_relaxed")
    if kernels:
        found["phase"] = phase(found["kernels"])
    return found


def _networks(name: str, run: StoredRun, measured: pl.DataFrame) -> pl.DataFrame:
    """One row a network: what it is, whether it fitted, what it does on unseen combinations, what was predicted."""
    network, what, *_ = name.split("-")
    deep = network.startswith("deep")
    about = run.description
    task, model = about["task"], about["model"]
    pictures = "symbolic" in task
    symbolic = task["symbolic"] if pictures else task
    scales = about.get("init_scale", 1.0)
    # A description leaves out what has its default value.
    depth = model.get("depth", 1)
    table = run.table("members").select("member", "fitted", "final_loss")
    table = table.join(run.table("leak").drop("step"), on="member", how="left").join(
        run.table("additivity").drop("step", "combinations", "rank"), on="member", how="left"
    )
    if "per_combination" in run.tables:
        table = table.join(_by_side(run.table("per_combination")), on="member", how="left")
    else:
        table = table.with_columns(pl.col("right").alias("unseen_accuracy"))
    last = measured.filter(pl.col("layer").str.starts_with("active"))["layer"]
    layer = f"relu_{depth}" if deep else FEATURES[network] if network in FEATURES else last[0]
    table = table.join(_at(measured, layer), on="member", how="left")
    if "tangent" in measured["layer"].unique():
        table = table.join(
            _at(measured, "tangent").rename(lambda c: f"tangent_{c}" if c != "member" else c),
            on="member",
            how="left",
        )
    sigma = [
        float(scales[m]) if isinstance(scales, list) else float(model.get("scale", scales)) for m in table["member"]
    ]
    table = table.with_columns(
        pl.lit(name).alias("run"),
        pl.lit("deep" if deep else network).alias("network"),
        pl.lit(f"{depth} layers" if deep else FAMILY[network]).alias("family"),
        pl.lit(what).alias("task"),
        pl.lit(symbolic.get("loss", "squared error")).alias("loss"),
        pl.Series("sigma", sigma),
        pl.lit(task.get("distance", 0) if pictures else None).cast(pl.Int64).alias("distance"),
        pl.lit(task.get("source", "digits") if pictures else "codes").alias("data"),
    )
    return _with_predictions(table, what)


def _by_side(table: pl.DataFrame) -> pl.DataFrame:
    """Accuracy and loss over seen and over unseen combinations, by member."""
    seen = pl.col("seen")
    return table.group_by("member", maintain_order=True).agg(
        pl.col("accuracy").filter(seen).mean().alias("seen_accuracy"),
        pl.col("accuracy").filter(~seen).mean().alias("unseen_accuracy"),
        pl.col("loss").filter(seen).mean().alias("seen_loss"),
        pl.col("loss").filter(~seen).mean().alias("unseen_loss"),
    )


def _at(measured: pl.DataFrame, layer: str) -> pl.DataFrame:
    """S(1;C), S(2;C) and the violation of a layer before and after training, by member."""
    rows = measured.filter((pl.col("layer") == layer) & (pl.col("shared") > 0))
    last = pl.col("step") == rows["step"].max()
    columns = [
        pl.col(value).filter((last if end else ~last) & (pl.col("shared") == k)).first().alias(f"{short}_{when}")
        for when, end in (("start", False), ("end", True))
        for value, k, short in (("salience", 1, "s1"), ("salience", 2, "s2"), ("violation", 1, "violation"))
    ]
    return rows.group_by("member", maintain_order=True).agg(columns)


def _with_predictions(table: pl.DataFrame, what: str) -> pl.DataFrame:
    """Slopes p S / (1 + (p−2) S) from measured saliences (Eq. 3), and the least-squares margin of CD-3."""
    columns: dict[str, Any] = {}
    for when in ("start", "end", "tangent_start"):
        prefix = "tangent_s1_start" if when == "tangent_start" else f"s1_{when}"
        if prefix not in table.columns:
            continue
        s = np.clip(table[prefix].to_numpy().astype(float), 0.0, 0.5)
        if what in ANCHORS:
            p = len(ANCHORS[what])
            columns[f"predicted_{when}"] = p * s / (1 + (p - 2) * s)
        if what == "cd3":
            second = np.clip(table[prefix.replace("s1", "s2")].to_numpy().astype(float), 0.0, None)
            scale = np.maximum(1.0, 3 * np.clip(s, 0, 1 / 3) + 3 * second)
            columns[f"predicted_margin_{when}"] = context_margin_least_squares(
                np.clip(s, 0, 1 / 3) / scale, second / scale
            )
    return table.with_columns(pl.Series(name, values).cast(pl.Float64) for name, values in columns.items())


def phase(kernels: pl.DataFrame) -> pl.DataFrame:
    """Which of CD-1, CD-2 and CD-3 each kernel solves, by loss; `depth` names kernels of networks, null on the grid."""
    rows = kernels.filter(pl.col("sweep").is_in(["context", "depth"]))
    if rows.is_empty():
        return pl.DataFrame(schema={"fit": pl.String, "s1": pl.Float64, "s2": pl.Float64, "solved": pl.String})
    keys = ["sweep", "fit", "kernel", "s1", "s2"]
    wide = rows.group_by(keys, maintain_order=True).agg(
        *((pl.col("right").filter(pl.col("problem") == f"CD-{k}").first() > 0.5).alias(f"cd{k}") for k in (1, 2, 3)),
        pl.col("margin").filter(pl.col("problem") == "CD-3").first().alias("margin_cd3"),
    )
    solved = (
        pl.when(pl.col("cd3") & pl.col("cd2") & pl.col("cd1")).then(pl.lit("all three"))
        .when(pl.col("cd2") & pl.col("cd1")).then(pl.lit("CD-1 and CD-2"))
        .when(pl.col("cd1")).then(pl.lit("CD-1")).otherwise(pl.lit("none"))
    )  # fmt: skip
    names = [*(f"{d}" for d in DEPTHS), "R²"]
    depth = pl.when(pl.col("sweep") == "depth").then(
        pl.col("kernel").replace_strict(dict(enumerate(names)), default=None, return_dtype=pl.String)
    )
    return wide.with_columns(solved.alias("solved"), depth.alias("depth"))
