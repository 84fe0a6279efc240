"""The one table of a dissection: for every network and subroutine, the chosen mask, the typical one, the controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

SCORES = ("sub_target", "sub_other", "abl_target", "abl_other", "d_sub", "d_abl")
ROWS = {
    "chosen": "chosen on validation",
    "seeds": "chosen setting, other seeds",
    "passing": "mean of settings that pass",
    "all": "mean of all settings",
    "best": "best setting on the test problems",
    "attribution": "gradient attribution, no search",
    "same size": "random mask of the chosen size",
    "anywhere": "random mask of the chosen size, any layer",
    "same size, outside": "random mask outside the chosen",
    "shuffled answers": "trained on shuffled answers",
}
"""The rows of the table, from what is reported as the result to what it must be compared with."""


def summarise_masks(masks: pl.DataFrame) -> pl.DataFrame:
    """One row per kind of network, subroutine and row of ``ROWS``: scores averaged over masks, then over bases.

    ``masks`` counts the masks behind it."""
    import polars as pl

    if masks.is_empty():
        return pl.DataFrame()
    search = masks.filter(pl.col("role") == "search")
    best = search.sort("d_abl").group_by("base", "network", "subroutine", maintain_order=True).first()
    parts = {
        "chosen": search.filter("chosen"),
        "seeds": masks.filter(pl.col("role") == "other seed"),
        "passing": search.filter("passed"),
        "all": search,
        "best": best,
    } | {role: masks.filter(pl.col("role") == role) for role in list(ROWS)[5:]}
    rows = [_mean(part, name) for name, part in parts.items() if part.height]
    order = {name: i for i, name in enumerate(ROWS.values())}
    return pl.concat(rows).sort("network", "subroutine", pl.col("row").replace_strict(order), maintain_order=True)


def _mean(part: pl.DataFrame, name: str) -> pl.DataFrame:
    import polars as pl

    keys = ["network", "subroutine"]
    by_base = part.group_by(*keys, "base", maintain_order=True).agg(pl.col(*SCORES).mean(), pl.len().alias("masks"))
    means = by_base.group_by(*keys, maintain_order=True).agg(pl.col(*SCORES).mean(), pl.col("masks").sum())
    return means.select(*keys, pl.lit(ROWS[name]).alias("row"), *SCORES, pl.col("masks").cast(pl.Int64))
