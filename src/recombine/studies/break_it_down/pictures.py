"""What is drawn of the study's tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.measures.interval import summarise
from recombine.studies.break_it_down.tables import LABELS, last_gated
from recombine.studies.study import Figure

LAYERS = {
    "layers": "all layers", r"layers\.[23]\.": "upper half", r"layers\.3\.": "last layer",
    "stem|stage|readout": "all layers", "stage_[34]|readout": "last two stages", "stage_4|readout": "last stage",
    "stage_2|stage_3|readout": "last two stages", "stage_3|readout": "last stage", "all": "all layers",
}  # fmt: skip
"""What a pattern of parameter names stands for."""
KINDS = {"search": "", "shuffled answers": ", shuffled answers", "same size": ", random masks"}


def _ordered(table: pl.DataFrame) -> pl.DataFrame:
    place = {run: i for i, run in enumerate(LABELS)}
    at = pl.col("run").replace_strict(place, return_dtype=pl.Int64)
    return table.with_columns(at.alias("place")).sort("place", maintain_order=True)


def _draw_parts(table: pl.DataFrame) -> Any:
    from recombine.figures.dissection import parts

    shown = {
        "trained": ("chosen on validation", "mean of settings that pass", "random mask of the chosen size",
                    "trained on shuffled answers"),
        "untrained": ("chosen on validation", "mean of all settings"),
    }  # fmt: skip
    wanted = [(pl.col("network") == network) & pl.col("row").is_in(rows) for network, rows in shown.items()]
    kept = _ordered(table).filter(pl.any_horizontal(wanted))
    scores = [name for name in kept.columns if name.startswith(("sub_", "abl_"))]
    means = kept.group_by("run", "task", "network", "row", maintain_order=True).agg(pl.col(scores).mean())
    fresh = pl.when(pl.col("network") == "untrained").then(pl.lit("untrained: ")).otherwise(pl.lit(""))
    order = {row: i for i, row in enumerate(dict.fromkeys((*shown["trained"], *shown["untrained"])))}
    rows = means.with_columns(
        (fresh + pl.col("row")).alias("label"), pl.col("network").eq("untrained").alias("late"),
        pl.col("row").replace_strict(order).alias("order"),
    )  # fmt: skip
    return parts(rows.sort("late", "order", maintain_order=True), "label", "task", chance=0.25)


def _draw_cells(table: pl.DataFrame) -> Any:
    from recombine.figures.dissection import parts

    return parts(table, "network", "cell", chance=0.25)


def _draw_searches(table: pl.DataFrame) -> Any:
    from recombine.figures import members

    kept = _ordered(table).filter(
        pl.col("role").is_in(list(KINDS)) & ~((pl.col("role") == "same size") & (pl.col("network") == "untrained"))
    )
    kind = pl.col("role").replace_strict(KINDS)
    untrained = pl.when(pl.col("network") == "untrained").then(pl.lit(", untrained")).otherwise(pl.lit(""))
    rows = kept.with_columns((pl.col("task") + untrained + kind).alias("group"))
    return members(rows.sort("place", "group", maintain_order=True), "group", "d_abl", title="D_abl, every mask",
                   domain=(-0.75, 0.75), reference=0.0, noun="mask")  # fmt: skip


def _draw_layers(table: pl.DataFrame) -> Any:
    from recombine.figures import members

    search = _ordered(table).filter((pl.col("role") == "search") & (pl.col("network") == "trained"))
    several = search.filter(pl.col("layers").n_unique().over("run") > 1)
    rows = several if several.height else search
    group = pl.col("task") + ": " + pl.col("layers").replace(LAYERS)
    rows = rows.with_columns(group.alias("group"), pl.col("maskable").max().over("run", "layers").alias("size"))
    return members(rows.sort("place", "size", descending=[False, True], maintain_order=True), "group", "d_abl",
                   title="D_abl", domain=(-0.75, 0.75), reference=0.0, noun="mask")  # fmt: skip


def _draw_two_tests(table: pl.DataFrame) -> Any:
    from recombine.figures import scatter

    rows = _ordered(table).filter(pl.col("role") == "search")
    return scatter(rows, "d_sub", "d_abl", "network", "task", diagonal=False, domain=(-0.8, 0.8),
                   x_title="D_sub", y_title="D_abl")  # fmt: skip


def _draw_overlap(table: pl.DataFrame) -> Any:
    from recombine.figures import scatter

    rows = _ordered(table).drop_nulls("iou").with_columns(
        pl.col("between").replace({"seeds": "same subroutine, other seed", "subroutines": "other subroutine"})
    )  # fmt: skip
    return scatter(rows, "expected", "iou", "between", x_title="expected by chance", y_title="shared weights (IoU)")


def _draw_predicts(table: pl.DataFrame) -> Any:
    from recombine.figures import scatter

    last = last_gated(table)
    rows = last if last.height else table.filter(pl.col("step") == pl.col("step").max())
    names = {"d_abl_all": "D_abl, mean of all settings", "on left digit": "left digit alone, whole network"}
    long = rows.unpivot(list(names), index=["member", "unseen"], variable_name="score")
    return scatter(long.with_columns(pl.col("score").replace(names)), "value", "unseen", facet="score", diagonal=False,
                   own_x=True, x_title="score", y_title="accuracy on unseen pairs")  # fmt: skip


def _draw_along(table: pl.DataFrame) -> Any:
    from recombine.figures import curves

    names = {"trained": "accuracy as trained", "unseen": "accuracy on unseen pairs", "d_sub_all": "D_sub",
             "d_abl_all": "D_abl"}  # fmt: skip
    long = table.unpivot(list(names), index=["member", "step"], variable_name="what").drop_nulls("value")
    figure = summarise(long.with_columns(pl.col("what").replace(names)), "value", ["what", "step"])
    return curves(figure, "step", "mean", "what", "low", "high", log_x=True, reference=0.0, x_title="step",
                  y_title="mean over members")  # fmt: skip


FIGURES = (
    Figure(
        id="parts",
        title="With the part alone, and without it",
        caption="Mean over subroutines and bases. A part that is there and can be removed has its filled dot far right "
        "of its hollow one on the left, and far left of it on the right. Untrained networks have had the same search; "
        "where none of their masks passes, none is chosen.",
        table="summary",
        draw=_draw_parts,
    ),
    Figure(
        id="cells",
        title="Published cells and ours",
        caption="One panel a task and subroutine: the networks of the paper (means over three bases and three mask "
        "seeds, recomputed from the released results; agreement is the mean of singular and plural), then ours, by the "
        "mask chosen on validation; where none passes there is no row. Untrained networks have the trained ones' "
        "settings there, and here the mean of all settings.",
        table="cells",
        draw=_draw_cells,
    ),
    Figure(
        id="searches",
        title="The whole grid, not the winner",
        caption="D_abl of every mask of every setting, whether or not it passed, with untrained networks, masks for "
        "shuffled answers and random masks of the chosen size. Left of zero: the subroutine suffers more than the "
        "others when its part is removed. What is counted are masks, and the interval is over masks: for bases see the "
        "claims.",
        table="masks",
        draw=_draw_searches,
    ),
    Figure(
        id="two-tests",
        title="Two tests: the part alone, and what is left without it",
        caption="One dot a mask. D_sub is the accuracy on its own subroutine less that on the others with the part "
        "alone, D_abl the same without the part: to the right, the part alone does its own; downwards, it can be lost "
        "alone. Untrained networks get to the right too where the search has weights enough (the toy); they do not get "
        "down.",
        table="masks",
        draw=_draw_two_tests,
    ),
    Figure(
        id="layers",
        title="In which layers parts can be removed",
        caption="D_abl of every mask of trained bases, by the layers that it covers, in the runs that search several. "
        "At paper scale a mask over all layers of a residual network takes away what every rule needs of the first "
        "ones; one of the last stage can be lost alone, though not in the ResNet-50 that passes the gate.",
        table="masks",
        draw=_draw_layers,
    ),
    Figure(
        id="overlap",
        title="How alike masks are",
        caption="Weights in both masks over weights in either, against what independent masks of the same size would "
        "share; on the line, no more than chance.",
        table="overlap",
        draw=_draw_overlap,
    ),
    Figure(
        id="predicts",
        title="Does removable structure go with generalization?",
        caption="Digit pairs with a redundant second digit; one dot a member that does its own task. Members differ in "
        "the size of the weights that they start from.",
        table="along",
        draw=_draw_predicts,
    ),
    Figure(
        id="along",
        title="Along training",
        caption="Digit pairs, mean over members with its 95 % interval; D_sub and D_abl over all settings. Step 0 is "
        "the untrained network with its own search.",
        table="along",
        draw=_draw_along,
    ),
)
