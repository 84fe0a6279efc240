"""What is drawn of the study's tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.studies.break_it_down.settings import COMPRESSED
from recombine.studies.break_it_down.tables import PREDICTORS, SCORES
from recombine.studies.charts import chart, curves, dots, drawn, scatter
from recombine.studies.tables import last

LAYERS = {
    "layers": "all layers", r"layers\.[23]\.": "upper half", r"layers\.3\.": "last layer",
    "stem|stage|readout": "all layers", "stage_[34]|readout": "last two stages", "stage_4|readout": "last stage",
    "stage_2|stage_3|readout": "last two stages", "stage_3|readout": "last stage", "all": "all layers",
}  # fmt: skip
"""What a pattern of parameter names stands for."""
KINDS = {"search": "trained", "shuffled answers": "shuffled answers", "same size": "random masks"}
KINDS_OF_MASK = ("trained", "untrained", "random masks", "shuffled answers")
CHOSEN, RANDOM = "chosen on validation", "random mask of the chosen size"
SEARCH, UNTRAINED = pl.col("role") == "search", pl.col("network") == "untrained"
TITLE = pl.concat_str("task", "called", separator=", ", ignore_nulls=True)
PLACE = pl.col("run").rle_id()
"""Runs in the order of the table."""
LOOK: dict[str, Any] = {"domain": (-0.75, 0.75), "reference": 0.0, "noun": "mask"}


def _parts(summary: pl.DataFrame) -> pl.DataFrame:
    """The chosen mask of trained networks, then what it is compared with; all other masks are in another figure. Bases
    that were searched in runs of their own are one row."""
    wanted = (pl.col("row") == CHOSEN) | (~UNTRAINED & (pl.col("row") == RANDOM))
    kept = summary.filter(wanted).group_by(TITLE.alias("title"), "network", "row", maintain_order=True)
    label = pl.format("{}: {}", "network", "row").alias("label")
    each = kept.agg(pl.col("run").first(), pl.col(SCORES).mean())
    return each.sort(UNTRAINED, pl.col("row") == RANDOM, maintain_order=True).with_columns(label)


CLEARLY = 0.1
"""A difference of accuracies from which a part counts as removable in a sentence above a figure."""


def _of(rows: pl.DataFrame, where: pl.Expr, holds: pl.Expr) -> str:
    """How many of some rows, in words; empty where there are none."""
    found = rows.filter(where).drop_nulls([name for name in holds.meta.root_names() if name in rows.columns])
    return f"{found.filter(holds).height:,} of {found.height:,}" if found.height else ""


def _told(what: str, rows: pl.DataFrame, holds: pl.Expr, whose: dict[str, pl.Expr]) -> str:
    """``what`` in so many of each kind of rows that there is."""
    counts = [f"{count} {name}" for name, where in whose.items() if (count := _of(rows, where, holds))]
    return f"{what} {', '.join(counts)}" if counts else ""


LOST = pl.col("abl_other") - pl.col("abl_target") > CLEARLY
REMOVED = pl.col("d_abl") < -CLEARLY


def _parts_show(rows: pl.DataFrame) -> str:
    of = {"trained settings": ~UNTRAINED & (pl.col("row") == CHOSEN), "untrained ones": UNTRAINED,
          "random masks": pl.col("row") == RANDOM}  # fmt: skip
    return _told(f"Without the part its own subroutine loses over {CLEARLY} more than the others: in", rows, LOST, of)


def _cells_show(rows: pl.DataFrame) -> str:
    trained, ours = ~pl.col("network").str.contains("untrained"), pl.col("network").str.starts_with("here")
    of = {"published cells": trained & ~ours, "of ours": trained & ours}
    return _told(f"In trained networks the part can be removed alone (by over {CLEARLY}) in", rows, LOST, of)


def _searches_show(rows: pl.DataFrame) -> str:
    trained, *others = ((name, pl.col("kind of mask") == name) for name in KINDS_OF_MASK)
    first, rest = _of(rows, trained[1], REMOVED), _told("beside", rows, REMOVED, dict(others))
    told = f"Of trained networks' masks {first} remove their subroutine alone (D_abl below −{CLEARLY})"
    return ", ".join(filter(None, (told, rest))) if first else ""


def _two_tests_show(rows: pl.DataFrame) -> str:
    of = {"masks of trained networks": ~UNTRAINED, "of untrained ones": UNTRAINED}
    alone = _told("The part alone does its subroutine (D_sub above 0.5) for", rows, pl.col("d_sub") > 0.5, of)
    lost = _told(f"it can be lost alone (D_abl below −{CLEARLY}) for", rows, REMOVED, of)
    return f"{alone}; {lost}" if alone and lost else ""


def _searches(masks: pl.DataFrame) -> pl.DataFrame:
    kind = pl.when(UNTRAINED).then(pl.lit("untrained")).otherwise(pl.col("role").replace_strict(KINDS))
    return masks.with_columns(TITLE.alias("setting"), kind.alias("kind of mask")).sort(PLACE, maintain_order=True)


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
          draw=chart("parts", "title", "label", chance=0.25), finding=_parts_show),
    drawn("cells", "Published cells and ours", table="cells", finding=_cells_show,
          draw=chart("parts", "network", "cell", chance=0.25)),
    drawn("searches", "The whole grid, not the winner",
          pl.col("role").is_in(list(KINDS)) & ~((pl.col("role") == "same size") & UNTRAINED), table="masks",
          prepare=_searches, fitted=True, finding=_searches_show,
          draw=chart("strips", "setting", "d_abl", "kind of mask", groups=KINDS_OF_MASK, title="D_abl", **LOOK)),
    dots("untrained", "In which searches masks of untrained networks pass", SEARCH & UNTRAINED,
         pl.col("kind") == "resnet", table="masks", group="group", value="passing", prepare=_passing, noun="mask",
         axis="accuracy of the part alone on its own subroutine", domain=(0, 1), reference=0.9),
    scatter("two-tests", "Two tests: the part alone, and what is left without it", SEARCH, table="masks", x="d_sub",
            y="d_abl", by="network", facet="task", finding=_two_tests_show, diagonal=False,
            domain=(-0.8, 0.8), x_title="D_sub", y_title="D_abl"),
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
