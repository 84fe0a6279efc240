"""From the tables of the runs to those of the study: a row a base, a mask, a pair of masks, a member and step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from recombine.measures.ranks import spearman
from recombine.structure import summarise_masks
from recombine.structure.statistics import by_base, sign_flip, wild_cluster
from recombine.studies.break_it_down.cells import cells

if TYPE_CHECKING:
    from recombine.runs import StoredRun

LABELS = {
    "toy": "toy",
    "planted-positive": "planted positive",
    "planted-negative": "planted negative",
    "agreement": "agreement",
    "inside-contact": "inside–contact",
    "bert-grid": "agreement, 4 × 512, whole grid",
    "bert-scratch": "agreement, 4 × 512, from scratch",
    "bert-slow": "agreement, 4 × 512, low rate",
    "bert-pretrained": "agreement, 4 × 512, pretrained",
    "resnet18-inside-contact": "inside–contact, 18 layers",
    "resnet18-number-contact": "number–contact, 18 layers",
    "resnet18-narrow": "number–contact, half as wide",
    "resnet18-wide": "number–contact, twice as wide",
    "resnet18-simclr": "number–contact, pretrained",
    "three-rules": "inside, contact and number",
    "resnet50": "number–contact, ResNet-50",
    "wide-resnet50": "number–contact, Wide-ResNet-50",
}
KEYS = ("bases", "masks", "matrix", "overlap", "truth")


def tables(stored: Mapping[str, StoredRun]) -> dict[str, pl.DataFrame]:
    """The study's tables; works on any of its runs alone."""
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in (*KEYS, "summary", "tests")}
    found: dict[str, pl.DataFrame] = {}
    for name, run in stored.items():
        if name == "digit-pairs":
            found["along"] = along(run.table("along"), run.table("masks"))
            found["correlations"] = correlations(found["along"])
            continue
        label = [pl.lit(name).alias("run"), pl.lit(LABELS[name]).alias("task")]
        for key in KEYS:
            if key in run.tables:
                parts[key].append(run.table(key).select(*label, pl.all()))
        if "masks" in run.tables:
            parts["summary"].append(summarise_masks(run.table("masks")).select(*label, pl.all()))
            parts["tests"].append(by_bases(run.table("masks")).select(*label, pl.all()))
    found |= {key: pl.concat(rows, how="diagonal_relaxed") for key, rows in parts.items() if rows}
    if "masks" in found:
        found["cells"] = cells(found["masks"])
    return found


def by_bases(masks: pl.DataFrame) -> pl.DataFrame:
    """For each network and subroutine, D_abl with the base as the unit: chosen masks, and all that pass."""
    rows = []
    search = masks.filter((pl.col("role") == "search") & pl.col("passed"))
    for (network, subroutine), part in search.group_by("network", "subroutine", maintain_order=True):
        for which, some in (("chosen", part.filter("chosen")), ("passing", part)):
            if some.is_empty():
                continue
            means = by_base(some["d_abl"], some["base"])
            rows.append({
                "network": network, "subroutine": subroutine, "which": which, "d_abl": float(means.mean()),
                "bases": len(means), "masks": some.height, "p_signs": sign_flip(means),
                "p_wild": wild_cluster(some["d_abl"], some["base"]),
            })  # fmt: skip
    schema = {"network": pl.String, "subroutine": pl.String, "which": pl.String, "d_abl": pl.Float64,
              "bases": pl.Int64, "masks": pl.Int64, "p_signs": pl.Float64, "p_wild": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


def along(members: pl.DataFrame, masks: pl.DataFrame) -> pl.DataFrame:
    """One row a member and step: accuracies, and the scores of its masks, chosen on validation and on average.

    ``beyond`` is D_abl less the same difference of the whole network."""
    search = masks.filter(pl.col("role") == "search")
    keys = ["member", "step"]
    chosen = search.filter("chosen").group_by(keys).agg(
        d_abl=pl.col("d_abl").mean(), d_sub=pl.col("d_sub").mean(), subroutines=pl.len()
    )  # fmt: skip
    typical = search.filter("passed").group_by(keys).agg(d_abl_passing=pl.col("d_abl").mean())
    everything = search.group_by(keys).agg(
        d_abl_all=pl.col("d_abl").mean(), d_sub_all=pl.col("d_sub").mean(), passed=pl.col("passed").mean()
    )  # fmt: skip
    table = members.join(everything, on=keys, how="left").join(chosen, on=keys, how="left")
    return table.join(typical, on=keys, how="left").sort(keys)


SCORES = {"d_abl": "D_abl of the chosen masks", "d_abl_all": "D_abl, mean of all settings",
          "d_sub": "D_sub of the chosen masks", "on left digit": "left digit alone, whole network",
          "on right digit": "right digit alone, whole network"}  # fmt: skip


def correlations(table: pl.DataFrame) -> pl.DataFrame:
    """Spearman's ρ of each score with accuracy on unseen combinations, over gated members at the last step."""
    last = last_gated(table)
    rows = []
    for column, name in SCORES.items():
        both = last.select(column, "unseen").drop_nulls() if column in last.columns else last.head(0)
        rows.append({"score": name, "column": column, "members": both.height,
                     "rho": spearman(both[column], both["unseen"])})  # fmt: skip
    return pl.DataFrame(rows, schema={"score": pl.String, "column": pl.String, "members": pl.Int64, "rho": pl.Float64})


def last_gated(table: pl.DataFrame) -> pl.DataFrame:
    """The members that do their own task, at the last step."""
    return table.filter((pl.col("step") == pl.col("step").max()) & pl.col("gated"))
