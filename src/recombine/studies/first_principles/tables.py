"""From the tables of the runs to those of the study: networks, the published table beside ours, verdicts, curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from recombine.measures.interval import summarise
from recombine.studies.first_principles.rows import ROWS
from recombine.studies.first_principles.sprite_runs import ABLATIONS
from recombine.studies.first_principles.vector_runs import VECTORS

if TYPE_CHECKING:
    from recombine.runs import StoredRun

FIT = {"vectors": 0.9, "sprites": 0.25, "small sprites": 0.25}
"""No verdict on a network that explains less than this of its own training support (R²)."""

LABELS = {
    **{name: row.label for name, row in ROWS.items()},
    **{name: part.label for name, part in ABLATIONS.items()},
    **{name: part.label for name, part in VECTORS.items()},
    "slots": "additive decoder without latents",
}
CURVES = {
    **{name: ("diagonal, vectors", part.width) for name, part in VECTORS.items() if "diagonal" in name},
    **{name: ("diagonal, sprites", row.width) for name, row in ROWS.items() if "diagonal" in name},
    "vector": ("gap, vectors", 0.0),
    **{name: ("gap, vectors", part.gap) for name, part in VECTORS.items() if "gap" in name},
}
"""Runs that are points of a curve: which curve, and how wide the band or the gap is."""


def tables(stored: Mapping[str, StoredRun]) -> dict[str, pl.DataFrame]:
    """The study's tables; works on any of its runs alone."""
    names = ("networks", "fit", "widths", "recovery", "shares", "slots", "maps", "pictures")
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in names}
    for name, run in stored.items():
        if name not in LABELS:
            continue
        label = [pl.lit(name).alias("run"), pl.lit(LABELS[name]).alias("kind")]
        found = {"networks": _networks(name, run), "fit": _fit(run.table("generalization"))}
        if name in CURVES:
            curve, width = CURVES[name]
            found["widths"] = found["networks"].select(
                pl.lit(curve).alias("curve"), pl.lit(width).alias("width"), "member", "fitted", "r2_id", "r2_ood"
            )
        for measure, table in (("recovery", "recovery"), ("composition_shares", "shares"), ("recombination", "slots"),
                               ("latent_map", "maps"), ("reconstruction", "pictures")):  # fmt: skip
            if measure in run.tables:
                found[table] = run.table(measure).drop("step")
        for table, rows in found.items():
            parts[table].append(rows.select(*label, pl.all()))
    tables = {name: pl.concat(rows, how="diagonal_relaxed") for name, rows in parts.items() if rows}
    if "networks" in tables:
        tables["published"] = published(tables["networks"])
        if "verdicts" in stored:
            told = stored["verdicts"].table("verdicts")
            tables["verdicts"] = verdicts(told, tables["networks"])
            tables["foretold"] = foretold(tables["verdicts"], tables["networks"])
    return tables


def family_of(name: str) -> str:
    if name in VECTORS or name == "slots":
        return "vectors"
    return "sprites" if name in ROWS else "small sprites"


def _networks(name: str, run: StoredRun) -> pl.DataFrame:
    """One row a network: error and R² where it was trained, everywhere, and strictly elsewhere; ``loss`` is R² seen
    less unseen (less all, where nothing is unseen)."""
    last = run.table("generalization").filter(pl.col("step") == pl.col("step").max())
    table = run.table("members").select("member", "diverged_at")
    for split in ("id", "all", "ood"):
        rows = last.filter(pl.col("split") == split)
        table = table.join(
            rows.select("member", *(pl.col(c).alias(f"{c}_{split}") for c in ("mse", "r2", "r2_batches"))),
            on="member", how="left",
        )  # fmt: skip
    about = last.filter(pl.col("split") == "id").select("member", "collapsed", "shown", blank_r2_id="blank_r2")
    everywhere = last.filter(pl.col("split") == "all").select("member", blank_r2_all="blank_r2")
    table = table.join(about, on="member", how="left").join(everywhere, on="member", how="left")
    family = family_of(name)
    fitted = (pl.col("r2_id") >= FIT[family]) & ~pl.col("collapsed") & pl.col("diverged_at").is_null()
    lost = pl.col("r2_id") - pl.coalesce("r2_ood", "r2_all")
    return table.with_columns(
        fitted.fill_null(False).alias("fitted"), pl.lit(family).alias("family"), lost.alias("loss")
    )


def _fit(table: pl.DataFrame) -> pl.DataFrame:
    """Along training: what is not explained (1 − R²) of the training support and of everything outside it."""
    keys = ["member", "step"]
    sides = {split: table.filter(pl.col("split") == split) for split in ("id", "ood")}
    seen = sides["id"].select(*keys, seen=1 - pl.col("r2"))
    return seen.join(sides["ood"].select(*keys, unseen=1 - pl.col("r2")), on=keys)


def published(networks: pl.DataFrame) -> pl.DataFrame:
    """The published rows that were trained here: the authors' figures, ours with their interval, all members kept."""
    rows = []
    for name, row in ROWS.items():
        mine = networks.filter(pl.col("run") == name)
        if mine.is_empty():
            continue
        figures = {c: summarise(mine, c, ["run"]).row(0, named=True) for c in ("r2_all", "r2_batches_all", "mse_all")}
        r2, mse = figures["r2_all"], figures["mse_all"]
        rows.append({
            "run": name, "kind": row.label, "published_r2": row.r2, "r2": r2["mean"], "r2_low": r2["low"],
            "r2_high": r2["high"], "r2_batches": figures["r2_batches_all"]["mean"], "published_mse": row.mse,
            "mse": mse["mean"], "mse_low": mse["low"], "mse_high": mse["high"], "seeds": row.seeds,
            "members": r2["members"], "collapsed": int(mine["collapsed"].sum()), "fitted": int(mine["fitted"].sum()),
        })  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def verdicts(found: pl.DataFrame, networks: pl.DataFrame) -> pl.DataFrame:
    """What the assumptions said before training, beside what the networks did."""
    measured = networks.select("run", "kind", "family").unique(maintain_order=True)
    for column, name in (("r2_id", "seen"), ("r2_ood", "unseen"), ("loss", "loss")):
        figure = summarise(networks, column, ["run"])
        measured = measured.join(
            figure.select("run", pl.col("mean").alias(name), *(pl.col(c).alias(f"{name}_{c}") for c in ("low",
            "high"))), on="run",
        )  # fmt: skip
    support = pl.all_horizontal(pl.col(a).fill_null(True) for a in ("A2", "A3", "A4"))
    known = found.rename({"support": "run"}).with_columns(support.alias("support_holds"))
    first = ["run", "composition", "promises", "support_holds", "A0", "A1", "A2", "A3", "A4", "verdict"]
    return measured.join(known.select(first), on="run", maintain_order="left")


def foretold(verdicts: pl.DataFrame, networks: pl.DataFrame) -> pl.DataFrame:
    """Every network with a verdict on its setting: what it lost, and which assumptions held."""
    told = verdicts.select("run", "promises", "support_holds", "A0", "A1", "A2", "A3", "A4")
    mine = networks.select("run", "kind", "family", "member", "fitted", "collapsed", "r2_id", "r2_ood", "loss")
    return mine.join(told, on="run", maintain_order="left")
