"""What is drawn of the study's tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.studies.first_principles.verdict_pictures import VERDICT_FIGURES
from recombine.studies.study import Figure

PICTURES = 3
SHOWN = {"orthogonal": "compositional", "orthogonal-monolithic": "monolithic"}
MAPPED = {"orthogonal": "compositional", "gap": "compositional, gap in x1", "orthogonal-monolithic": "monolithic"}
FITTED_ALONG = ("vector", "vector-monolithic", "vector-soft", "vector-gap-40")


def _draw_rows(table: pl.DataFrame) -> Any:
    from recombine.figures import members

    return members(table, "label", "r2_all", title="R² on the whole cube", reference=0.0)


def _rows(table: pl.DataFrame) -> pl.DataFrame:
    """Sprites of the published table, each row labelled with the published figure and its collapsed members."""
    from recombine.studies.first_principles.rows import ROWS

    rows = table.filter(pl.col("family") == "sprites")
    return _ordered(rows, {name: f"{row.label} ({row.r2:.2f})".replace("-0", "−0") for name, row in ROWS.items()})


def _ordered(rows: pl.DataFrame, labels: dict[str, str]) -> pl.DataFrame:
    """Rows of the named runs in this order, labelled; collapsed members are kept and counted in the label."""
    parts = []
    for name, label in labels.items():
        mine = rows.filter(pl.col("run") == name)
        if mine.is_empty():
            continue
        gone = int(mine["collapsed"].sum())
        parts.append(mine.with_columns(pl.lit(label + f"; {gone} collapsed" * (gone > 0)).alias("label")))
    return pl.concat(parts) if parts else rows.with_columns(pl.col("kind").alias("label"))


def _small(table: pl.DataFrame) -> pl.DataFrame:
    from recombine.studies.first_principles.sprite_runs import ABLATIONS

    return _ordered(table, {name: part.label for name, part in ABLATIONS.items()})


def _vectors(table: pl.DataFrame) -> pl.DataFrame:
    from recombine.studies.first_principles.vector_runs import VECTORS

    labels = {n: p.label for n, p in VECTORS.items() if "random" not in n}
    return _ordered(table.filter(pl.col("family") == "vectors"), labels)


def _draw_unseen(table: pl.DataFrame) -> Any:
    from recombine.figures import members

    return members(table, "label", "r2_ood", title="R² strictly outside the training support", reference=0.0)


def _draw_widths(table: pl.DataFrame) -> Any:
    from recombine.figures import lines_of_members

    rows = table.drop_nulls("r2_ood").sort("curve", "member", "width")
    lowest = min([0.0, *rows["r2_ood"].to_list()])
    return lines_of_members(
        rows, "width", "r2_ood", "member", "curve", x_title="width of the band or gap", y_title="R² outside",
        y_domain=(lowest, 1.02), own_x=True,
    )  # fmt: skip


def _draw_fit(table: pl.DataFrame) -> Any:
    from recombine.figures import scatter

    rows = table.filter(pl.col("run").is_in(FITTED_ALONG)).with_columns(pl.col("seen", "unseen").log10())
    return scatter(
        rows, "seen", "unseen", "kind", x_title="log₁₀ of 1 − R² on the training support",
        y_title="log₁₀ of 1 − R² outside",
    )  # fmt: skip


def _draw_maps(table: pl.DataFrame) -> Any:
    from recombine.figures import maps

    rows = table.filter(pl.col("run").is_in(list(MAPPED)))
    cells = rows.group_by("run", "x", "y", maintain_order=True).agg(
        (pl.col("error") * pl.col("members")).sum() / pl.col("members").sum()
    )
    named = pl.concat([
        cells.filter(pl.col("run") == run).with_columns(pl.lit(label).alias("model")) for run, label in MAPPED.items()
    ])  # fmt: skip
    return maps(
        named, "x", "y", "error", "model", domain=(0.0, 2.0), x_title="x of the front sprite",
        y_title="x of the rear sprite", value_title="squared error over the spread of the pictures; the line is at 1",
    )  # fmt: skip


def _draw_pictures(table: pl.DataFrame) -> Any:
    from recombine.figures import maps

    return maps(
        table, "x", "y", "shown", "panel", domain=(-0.6, 0.6), boundary=False, x_title="x", y_title="y",
        value_title="brightness; 0 is the background",
    )  # fmt: skip


def _pictures(table: pl.DataFrame) -> pl.DataFrame:
    """The first pictures of the orthogonal rows: targets, then what either model draws; three digits are enough."""
    rows = table.filter(pl.col("run").is_in(list(SHOWN)) & (pl.col("example") < PICTURES))
    side = float(rows["row"].max() or 0) + 1  # type: ignore[arg-type]
    shown = [(rows["run"][0], "target", "target"), *((run, label, "output") for run, label in SHOWN.items())]
    return pl.concat(
        rows.filter(pl.col("run") == run, pl.col("example") == example).select(
            ((pl.col("column") + 0.5) / side).alias("x"),
            (1 - (pl.col("row") + 0.5) / side).alias("y"),
            pl.col(value).round(3).alias("shown"),
            pl.lit(f"{label}, {example + 1}").alias("panel"),
        )
        for run, label, value in shown
        for example in range(PICTURES)
    )


def _draw_learned(table: pl.DataFrame) -> Any:
    from recombine.figures import members

    rows = table.filter(pl.col("candidate") == "soft_occlusion")
    return members(rows, "kind", "share", title="learned weight of soft occlusion, which made the data", domain=(0, 1))


def _draw_slots(table: pl.DataFrame) -> Any:
    from recombine.figures import members

    names = {"r2_seen": "reconstruction", "r2": "recombined slots"}
    rows = table.unpivot(list(names), index="member", variable_name="what").with_columns(pl.col("what").replace(names))
    return members(rows, "what", "value", title="R²", domain=(0, 1))


FIGURES = (
    *VERDICT_FIGURES,
    Figure(
        id="rows",
        title="The published table, row by row",
        caption="One dot a network, all members kept; the diamond is their mean with its 95 % interval. In brackets, "
        "the published figure.",
        table="networks",
        draw=_draw_rows,
        rows=_rows,
    ),
    Figure(
        id="pictures",
        title="Three combinations that were never seen",
        caption="The target, and what the first member of either model draws, as brightness. Both were trained on "
        "the three planes.",
        table="pictures",
        draw=_draw_pictures,
        rows=_pictures,
    ),
    Figure(
        id="maps",
        title="Where the error is",
        caption="Squared error over the positions of both sprites, all other latents left to vary; 1 is what the mean "
        "picture would give. Training fixes one sprite at a corner or in the middle.",
        table="maps",
        draw=_draw_maps,
    ),
    Figure(
        id="ablations",
        title="Composition, sharing, match and shifts apart",
        caption="Small sprites, one dot a network. Neighbouring rows differ in one thing: how the model composes, "
        "whether both parts share weights, whether it composes as the data were made, and whether a part is shifted "
        "exactly.",
        table="networks",
        draw=_draw_unseen,
        rows=_small,
    ),
    Figure(
        id="vectors",
        title="Vectors, where every assumption can hold",
        caption="One dot a network. “One plane each”: each component is seen with the other at one value; “two "
        "planes each”: at two.",
        table="networks",
        draw=_draw_unseen,
        rows=_vectors,
    ),
    Figure(
        id="widths",
        title="How wide a band or a gap may be",
        caption="One line a member. Every band satisfies A2 to A4 and no gap does; where the band is narrow, members "
        "of one setting differ as much as settings do.",
        table="widths",
        draw=_draw_widths,
    ),
    Figure(
        id="fit",
        title="Does a better fit generalize better?",
        caption="Every network at five moments of its training. On the line, what is not explained outside is what "
        "is not explained inside.",
        table="fit",
        draw=_draw_fit,
    ),
    Figure(
        id="learned",
        title="What a learned composition becomes",
        caption="A softmax over addition and soft occlusion, learned with the components. Both settings fit.",
        table="shares",
        draw=_draw_learned,
    ),
    Figure(
        id="slots",
        title="Without latents",
        caption="Autoencoders with an additive decoder, trained near the diagonal: reconstruction, and what the "
        "decoder draws when slots of different observations are put together.",
        table="slots",
        draw=_draw_slots,
    ),
)
