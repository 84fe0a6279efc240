"""What is kept of each run: a row per network, layer, step of training, place of a picture, or number of examples."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from recombine.measures._rendering import FIT
from recombine.runs import StoredRun
from recombine.studies.forced_rendering.reading import reading
from recombine.studies.forced_rendering.turning import turning
from recombine.studies.study import Rows, Setting
from recombine.studies.tables import beside, last

UNSEEN = ("mse", "over_blank", "located", "arms", "bump", "box", "ssim", "blank")
ROLES = {"input": "input", "output": "output", "tangent": "tangent kernel"}
SPLIT = pl.col("split")


def _networks(run: StoredRun) -> pl.DataFrame:
    """One row per network: what it fits, what it draws for unseen combinations, what that is made of."""
    drawn = {split: rows for (split,), rows in last(run.table("rendering")).group_by("split")}
    parts = [
        drawn["seen"].select("member", seen_mse="mse", seen_over_blank="over_blank", seen_located="located"),
        drawn["unseen"].select("member", *UNSEEN),
        drawn["inside"].select("member", located_inside="located"),
        run.table("superposition").drop("step", "combinations"),
        run.table("transport").filter(SPLIT == "unseen").select("member", transport="distance"),
    ]
    if "embedding" in run.tables:
        parts.append(run.table("embedding").group_by("member").agg(pl.col("stripe", "rank", "effective_rank").mean()))
    return beside(run.table("members").select("member", "diverged_at", "final_loss"), *parts)


def _layers(run: StoredRun) -> pl.DataFrame:
    """Scores of each layer; ``role`` says which of a network's layers it is, whatever it is called."""
    table = run.table("factorization").drop("step")
    names = [name for name in table["layer"].unique(maintain_order=True) if name not in ROLES]
    roles = ROLES | dict(zip(names, ("first hidden", "last hidden"), strict=False))
    read = run.table("probes").select("member", "layer", probe_seen="seen", probe_unseen="unseen")
    return beside(table.with_columns(role=pl.col("layer").replace_strict(roles)), read, on=["member", "layer"])


def _training(run: StoredRun) -> pl.DataFrame:
    kept = run.table("rendering").filter(SPLIT != "inside")
    return kept.select("member", "step", "split", "mse", "over_blank", "located")


def _volume(run: StoredRun) -> pl.DataFrame:
    """log₁₀ of the mean volume over members at each place."""
    volume, cosine = (pl.col("volume").mean() + 1e-12).log10(), pl.col("cosine").abs().mean()
    places = run.table("geometry").group_by("layer", "x", "y", "seen", maintain_order=True)
    found = places.agg(log_volume=volume, cosine=cosine)
    return found.with_columns(relative=pl.col("log_volume") - pl.col("log_volume").mean())


def _need(run: StoredRun, setting: Setting) -> pl.DataFrame | None:
    """Places and errors of unseen bumps for a number of examples, and what is left of the loss on those that were seen,
    as a share of what a network may have left to count as fitted; exact regression leaves none."""
    if "need" in run.tables:
        return run.table("need").with_columns(fitted=True)
    if "bumps" not in setting.labels:
        return None
    task = setting.run.task  # type: ignore[attr-defined]
    examples = pl.lit(task.bumps + task.stripes, pl.Int64).alias("examples")
    table = last(run.table("rendering")).filter(SPLIT == "unseen").select("member", examples, "located", "over_blank")
    left = run.table("members").select("member", loss_over_fit=pl.col("final_loss") / setting.run.fit_below)  # type: ignore[attr-defined]
    return _with_fit(run, beside(table, left))


def _with_fit(run: StoredRun, table: pl.DataFrame) -> pl.DataFrame:
    """With whether each network fitted: by its own threshold where it has one, else by its pictures of what it saw."""
    seen = last(run.table("rendering")).filter(SPLIT == "seen").select("member", drawn=pl.col("over_blank") < FIT)
    fit = pl.coalesce("fitted", "drawn").fill_null(False) & pl.col("diverged_at").is_null()
    status = beside(run.table("members"), seen).select("member", fitted=fit)
    return beside(table, status) if "member" in table.columns else table


def _of(has: str, make: Callable[[StoredRun], pl.DataFrame]) -> Rows:
    """What is made of the runs that have a table."""
    return lambda run, _: _with_fit(run, make(run)), has


TABLES: dict[str, Rows] = {
    "networks": _of("superposition", _networks), "layers": _of("factorization", _layers),
    "training": _of("rendering", _training), "kernels": "kernels", "need": _need,
    "drawings": _of("drawing", lambda run: run.table("drawing").drop("step")),
    "volume": _of("geometry", _volume), 
    # Both are asked combination by combination.
    "reading": (lambda run, setting: reading(run) if "reader" in setting.labels else None, "per_combination"),
    "turning": (lambda run, setting: None if "reader" in setting.labels else turning(run), "per_combination"),
}  # fmt: skip
