"""What is drawn of the study's tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.studies.break_it_down.settings import COMPRESSED
from recombine.studies.break_it_down.tables import PREDICTORS, SCORES, last
from recombine.studies.charts import curves, dots, drawn, scatter

LAYERS = {
    "layers": "all layers", r"layers\.[23]\.": "upper half", r"layers\.3\.": "last layer",
    "stem|stage|readout": "all layers", "stage_[34]|readout": "last two stages", "stage_4|readout": "last stage",
    "stage_2|stage_3|readout": "last two stages", "stage_3|readout": "last stage", "all": "all layers",
}  # fmt: skip
"""What a pattern of parameter names stands for."""
KINDS = {"search": "", "shuffled answers": ", shuffled answers", "same size": ", random masks"}
CHOSEN, ALL = "chosen on validation", "mean of all settings"
ROWS = (CHOSEN, "mean of settings that pass", "random mask of the chosen size", "trained on shuffled answers", ALL)
SEARCH, UNTRAINED = pl.col("role") == "search", pl.col("network") == "untrained"
TITLE = pl.concat_str("task", "called", separator=", ", ignore_nulls=True)
PLACE = pl.col("run").rle_id()
"""Runs in the order of the table."""
LOOK: dict[str, Any] = {"domain": (-0.75, 0.75), "reference": 0.0, "noun": "mask"}


def _parts(summary: pl.DataFrame) -> pl.DataFrame:
    """Of trained networks all rows but the mean of all settings; of untrained ones that and the chosen."""
    wanted = pl.when(UNTRAINED).then(pl.col("row").is_in([CHOSEN, ALL])).otherwise(pl.col("row").is_in(ROWS[:-1]))
    kept = summary.filter(wanted).group_by("run", TITLE.alias("title"), "network", "row", maintain_order=True)
    label = pl.when(UNTRAINED).then("untrained: " + pl.col("row")).otherwise("row")
    at = pl.col("row").replace_strict(ROWS, range(len(ROWS)), return_dtype=pl.Int64)
    return kept.agg(pl.col(SCORES).mean()).sort(UNTRAINED, at, maintain_order=True).with_columns(label.alias("label"))


def _draw(row: str, facet: str) -> Any:
    def draw(rows: pl.DataFrame) -> Any:
        from recombine.figures.dissection import parts

        return parts(rows, row, facet, chance=0.25)

    return draw


def _searches(masks: pl.DataFrame) -> pl.DataFrame:
    untrained = pl.when(UNTRAINED).then(pl.lit(", untrained")).otherwise(pl.lit(""))
    rows = masks.with_columns((TITLE + untrained + pl.col("role").replace_strict(KINDS)).alias("group"))
    return rows.sort(PLACE, "group", maintain_order=True)


def _layers(masks: pl.DataFrame) -> pl.DataFrame:
    several = masks.filter(pl.col("layers").n_unique().over("run") > 1)
    rows = several if several.height else masks
    size = pl.col("maskable").max().over("run", "layers")
    group = (TITLE + ": " + pl.col("layers").replace(LAYERS)).alias("group")
    return rows.with_columns(group).sort(PLACE, size, descending=[False, True], maintain_order=True)


def _passing(masks: pl.DataFrame) -> pl.DataFrame:
    """What masks of untrained networks do, by the penalty that they were searched under: of the middle width, where
    there is one, which was searched under several."""
    several = masks.filter((pl.col("width") == 16) & (pl.col("task") == "number–contact"))
    penalty = pl.col("penalty").fill_null(COMPRESSED.penalty)  # not in tables that are older than the others
    named = penalty.cast(pl.String).str.strip_suffix(".0"), pl.col("layers").replace(LAYERS)
    group = pl.format("penalty {}: {}", *named).alias("group")
    rows = (several if several.height else masks).with_columns(penalty, group)
    return rows.sort(pl.col("maskable"), pl.col("penalty"), descending=True, maintain_order=True)


def _predictors(along: pl.DataFrame) -> pl.DataFrame:
    rows = last(along)
    gated = rows.filter("gated")
    shown = ["d_abl_all", "on left digit", "init_scale"]
    return (gated if gated.height else rows).unpivot(shown, index=["member", "unseen"], variable_name="score")


ALONG = {"trained": "accuracy as trained", "unseen": "accuracy on unseen pairs", "d_sub_all": "D_sub",
         "d_abl_all": "D_abl"}  # fmt: skip
FIGURES = (
    drawn("parts", "With the part alone, and without it", table="summary", prepare=_parts,
          draw=_draw("label", "title")),
    drawn("cells", "Published cells and ours", table="cells", draw=_draw("network", "cell")),
    dots("searches", "The whole grid, not the winner",
         pl.col("role").is_in(list(KINDS)) & ~((pl.col("role") == "same size") & UNTRAINED), table="masks",
         group="group", value="d_abl", prepare=_searches, axis="D_abl, every mask", **LOOK),
    dots("untrained", "In which searches masks of untrained networks pass", SEARCH & UNTRAINED,
         pl.col("kind") == "resnet", table="masks", group="group", value="passing", prepare=_passing, noun="mask",
         axis="accuracy of the part alone on its own subroutine", domain=(0, 1), reference=0.9),
    scatter("two-tests", "Two tests: the part alone, and what is left without it", SEARCH, table="masks", x="d_sub",
            y="d_abl", by="network", facet="title", prepare=lambda masks: masks.with_columns(TITLE.alias("title")),
            diagonal=False, domain=(-0.8, 0.8), x_title="D_sub", y_title="D_abl"),
    dots("layers", "In which layers parts can be removed", SEARCH & ~UNTRAINED, table="masks", group="group",
         value="d_abl", prepare=_layers, axis="D_abl", **LOOK),
    scatter("overlap", "How alike masks are", pl.col("iou").is_not_null(), table="overlap", x="expected", y="iou",
            by="between",
            names={"between": {"seeds": "same subroutine, other seed", "subroutines": "other subroutine"}},
            x_title="expected by chance", y_title="shared weights (IoU)"),
    scatter("predicts", "Does removable structure go with generalization?", table="along", x="value", y="unseen",
            facet="score", prepare=_predictors, names={"score": PREDICTORS}, diagonal=False, own_x=True,
            x_title="score", y_title="accuracy on unseen pairs"),
    curves("along", "Along training", table="along", x="step", y="value", by="what", names={"what": ALONG},
           prepare=lambda t: t.unpivot(list(ALONG), index=["member", "step"],
                                       variable_name="what").drop_nulls("value"), log_x=True, reference=0.0,
           x_title="step", y_title="mean over members"),
)  # fmt: skip
