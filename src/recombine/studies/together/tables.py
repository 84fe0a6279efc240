"""From the tables of the runs to those of the study: a row a network, then what orders networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from recombine.mechanisms.judge import FITTED
from recombine.studies.together.correlations import by_setting, summary
from recombine.studies.together.forecasts import forecasts
from recombine.studies.together.runs import SPLITS
from recombine.studies.together.tasks import LEVELS

if TYPE_CHECKING:
    from recombine.runs import StoredRun


def tables(stored: Mapping[str, StoredRun]) -> dict[str, pl.DataFrame]:
    """The study's tables; works on any of its runs alone."""
    networks = pl.concat([_networks(name, run) for name, run in stored.items()])
    training = pl.concat([_training(name, run) for name, run in stored.items()])
    values = by_setting(networks)
    return {
        "networks": networks,
        "training": training,
        "by_setting": values,
        "summary": summary(values),
        "forecasts": forecasts(networks),
    }


def _about(name: str) -> list[pl.Expr]:
    task, _, split = name.partition("-")
    return [pl.lit(name).alias("run"), pl.lit(task).alias("task"), pl.lit(split).alias("split")]


def _training(name: str, run: StoredRun) -> pl.DataFrame:
    """Errors on seen and on unseen combinations along training, of every network."""
    table = run.table("per_combination").group_by("member", "step", "seen", maintain_order=True)
    errors = table.agg(pl.col("error").mean()).with_columns(
        pl.when("seen").then(pl.lit("seen_error")).otherwise(pl.lit("error")).alias("side")
    )
    wide = errors.pivot("side", index=["member", "step"], values="error")
    return wide.select(*_about(name), "member", "step", "seen_error", "error")


def _networks(name: str, run: StoredRun) -> pl.DataFrame:
    """One row a network: how it was made, what it does on seen and unseen combinations, and every lens."""
    last = _training(name, run).filter(pl.col("step") == pl.col("step").max()).drop("step")
    seen = run.table("lenses")
    start = seen.filter(pl.col("step") == 0).select("member", kernel_start="kernel")
    end = seen.filter(pl.col("step") == pl.col("step").max()).drop("step")
    masks = run.table("modularity").select("member", "passed", "density", "d_sub", structure="d_abl")
    table = last
    for part in (run.table("members").select("member", "diverged_at"), end, start, masks):
        table = table.join(part, on="member", how="left", maintain_order="left")
    split = str(last["split"][0])
    settings = run.description
    made = {"init_scale": settings["init_scale"], "lr": settings["optimizer"]["lr"],
            "weight_decay": settings["optimizer"]["weight_decay"]}  # fmt: skip
    columns = [
        pl.Series(key, [_of(values, member) for member in table["member"]], dtype=pl.Float64)
        for key, values in made.items()
    ]
    fitted = (pl.col("seen_error") < FITTED) & pl.col("diverged_at").is_null()
    table = table.with_columns(
        pl.lit(len(SPLITS[split]) / LEVELS).alias("share_seen"), fitted.fill_null(False).alias("fitted"), *columns
    )
    lenses = ("support", "kernel", "factorization", "influence", "structure", "share_seen", "kernel_start")
    return table.select(
        "run", "task", "split", "member", "init_scale", "lr", "weight_decay", "fitted", "seen_error", "error", *lenses,
        "passed", "density", "d_sub",
    )  # fmt: skip


def _of(values: float | list[float], member: int) -> float:
    """The setting of one member; one number is the same for all."""
    return float(values[member] if isinstance(values, list) else values)
