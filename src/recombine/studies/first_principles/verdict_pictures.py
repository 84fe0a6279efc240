"""What was known before training, drawn beside what was measured."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.studies.study import Figure

ASSUMPTIONS = ("A0", "A1", "A2", "A3", "A4")


def _foretold(table: pl.DataFrame) -> pl.DataFrame:
    """What failed, in a few characters, beside the setting; those that are promised most come first."""
    failing = [pl.when(~pl.col(a)).then(pl.lit(a)) for a in ASSUMPTIONS]
    told = table.with_columns(pl.concat_list(failing).list.drop_nulls().alias("failing"))
    promised = pl.when(pl.col("failing").list.len() == 0).then(pl.lit("promised"))
    words = promised.otherwise(pl.lit("no\u00a0") + pl.col("failing").list.join("\u00a0"))
    support = pl.col("failing").list.eval(pl.element().is_in(["A2", "A3", "A4"])).list.sum()
    found = told.with_columns(words.alias("words"), support.fill_null(0).alias("support"))
    found = found.with_columns(
        pl.col("failing").list.len().alias("count"), pl.format("{}: {}", "kind", "words").alias("label")
    )
    kept = found.drop("failing").drop_nulls("loss").with_columns((pl.col("family") != "vectors").alias("sprites"))
    return kept.sort("sprites", "support", "count", "loss")


def _draw_foretold(table: pl.DataFrame) -> Any:
    from recombine.figures import column, members

    charts = [
        members(part, "label", "loss", title=title, reference=0.0)
        for sprites, title in ((False, "vectors: R² seen less R² unseen"), (True, "sprites: R² seen less R² unseen"))
        if not (part := table.filter(pl.col("sprites") == sprites)).is_empty()
    ]
    return charts[0] if len(charts) == 1 else column(*charts)


def _draw_verdicts(table: pl.DataFrame) -> Any:
    from recombine.figures import verdict_table

    return verdict_table(
        table, "setting", ASSUMPTIONS, {"seen": "R² seen", "unseen": "R² outside"}
    )  # fmt: skip


def _verdicts(table: pl.DataFrame) -> pl.DataFrame:
    """Support and composition of each setting, vectors first; a null A4 is a support that is connected."""
    named = pl.format("{}: {}", pl.col("family"), pl.col("kind")) + pl.lit(" · ") + pl.col("composition")
    rows = table.with_columns(
        named.str.replace_all("_", " ").alias("setting"), (pl.col("family") != "vectors").alias("s")
    )
    return rows.sort("s", maintain_order=True).drop("s")


VERDICT_FIGURES = (
    Figure(
        id="foretold",
        title="Did the verdict before training predict the outcome?",
        caption="One dot a network: how much R² it loses between what it saw and what it did not. Beside each "
        "setting, the assumptions that fail: A0 the model's composition made the data, A1 derivatives, A2 each "
        "component's values are all seen, A3 rank, A4 the support is connected (that the model is right at one point "
        "is never given).",
        table="foretold",
        draw=_draw_foretold,
        rows=_foretold,
    ),
    Figure(
        id="verdicts",
        title="The verdict before training, and what was measured",
        caption="For each support and composition: ✓ an assumption holds, ✗ it fails, – it cannot be known before "
        "training (A4: the support is connected, but nothing says that the model is right at one of its points). R² "
        "is the mean over members with its 95 % interval, collapsed members included.",
        table="verdicts",
        draw=_draw_verdicts,
        rows=_verdicts,
    ),
)
