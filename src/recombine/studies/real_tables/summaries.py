"""What the tables come to: one row per table, quantiles over tables, and what “check” quotes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from recombine.checks.verdicts.elsewhere import FILE
from recombine.studies.real_tables.contest import FOREST, ONE, RECOMMENDED
from recombine.studies.real_tables.registry import counted_once

NAMED = ["table", "kind", "half", "factors"]
VALUE = pl.col("value")
ADDING, BEYOND_NOISE, NOISE = "adding up", "adding up, beyond noise", "noise"
STRUCTURED, FORETOLD = "adding up, whole pairs", "log of forecast over realised error"
COLUMNS = {
    ADDING: "random/additive/R²", ONE: f"random/{ONE}/R²", FOREST: f"random/{FOREST}/R²",
    RECOMMENDED: f"random/{RECOMMENDED}/R²", BEYOND_NOISE: "random/additive/R² beyond noise", NOISE: "random//noise",
    STRUCTURED: "structured/additive/R²", FORETOLD: "random//log of forecast over realised error",
    "log error": "random/additive/log error", "forest's log error": f"random/{FOREST}/log error",
}  # fmt: skip


def wide(measured: pl.DataFrame) -> pl.DataFrame:
    """One row per table, one column per “holes/rule/what”."""
    keyed = measured.with_columns(pl.concat_str("holes", "rule", "what", separator="/").alias("key"))
    return keyed.pivot("key", index=NAMED, values="value")


def each(measured: pl.DataFrame) -> pl.DataFrame:
    """Every table's own figures, R² of cells held out at random unless a column says otherwise. ``once``: the table of
    its family that counts where families count once. ``gain``: the forest's in the log of the error; ``low``: adding up
    explains less than half of whole pairs of levels. ``beyond one``: R² of adding up less that of the best single
    factor."""
    found = wide(measured)
    empty = [pl.lit(None, pl.Float64).alias(key) for key in COLUMNS.values() if key not in found.columns]
    kept = found.with_columns(empty).select(*NAMED, **{name: pl.col(key) for name, key in COLUMNS.items()})
    return kept.drop("log error", "forest's log error").with_columns(
        pl.col("table").is_in(counted_once()).alias("once"),
        (kept["log error"] - kept["forest's log error"]).alias("gain"),
        (pl.col(STRUCTURED) < 0.5).alias("low"),
        (pl.col(ADDING) - pl.col(ONE)).alias("beyond one"),
    )


def quantiles(measured: pl.DataFrame) -> pl.DataFrame:
    """How much each rule explains of unseen cells: quantiles over the tables it answered, and on how many of these it
    explains more than adding up."""
    r2 = measured.filter(pl.col("what") == "R²")
    additive = r2.filter(pl.col("rule") == "additive").select("run", "holes", VALUE.alias("additive"))
    both = r2.join(additive, on=["run", "holes"], maintain_order="left")
    shares = [VALUE.quantile(q, "linear").alias(f"q{100 * q:.0f}") for q in (0.1, 0.25, 0.5, 0.75, 0.9)]
    better = (pl.col("additive") < VALUE).mean().alias("better")
    return both.group_by("half", "holes", "rule", maintain_order=True).agg(pl.len().alias("tables"), *shares, better)


def for_check(measured: pl.DataFrame) -> list[list[Any]]:
    """Of each table its factors, and share seen and R² of adding up for cells at random, as “check” quotes them."""
    drawn = measured.filter(pl.col("holes").is_in(["random", "sparse"]))
    r2 = drawn.filter((pl.col("what") == "R²") & (pl.col("rule") == "additive"))
    seen = drawn.filter(pl.col("what") == "seen").select("run", "holes", VALUE.round(3).alias("seen"))
    both = r2.join(seen, on=["run", "holes"], maintain_order="left").with_columns(VALUE.round(3)).sort("run", "holes")
    tried = both.group_by("run", maintain_order=True).agg(pl.first("factors"), "seen", "value")
    return [[factors, [list(pair) for pair in zip(shares, values, strict=True)]]
            for _, factors, shares, values in tried.iter_rows()]  # fmt: skip


def carry_for_check(results: Path) -> None:
    """Write what “check” carries of the committed results in this folder."""
    measured = pl.read_parquet(results / "real-tables" / "tables" / "measured.parquet")
    FILE.write_text(json.dumps(for_check(measured), separators=(",", ":")) + "\n", encoding="utf-8")
