"""What is drawn of the study's tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.measures.interval import summarise
from recombine.studies.forced_rendering.network_runs import LABELS
from recombine.studies.study import Figure

SHOWN = ("mlp-one-hot", "cnn", "pixel", "pixel-stripes", "pixel-variance", "embedding", "embedding-regularised",
         "stripe-decoder", "coordinate", "cnn-stripes")  # fmt: skip
FORCED = ("pixel-variance", "embedding-regularised", "stripe-decoder")
LAYERED = ("mlp-one-hot", "pixel", "pixel-variance", "stripe-decoder", "coordinate", "cnn")
ROLES = ("input", "first hidden", "last hidden", "output")


def _ordered(table: pl.DataFrame) -> pl.DataFrame:
    """Kinds in the order in which the study names them."""
    place = {run: i for i, run in enumerate(LABELS)}
    return table.with_columns(pl.col("run").replace_strict(place).alias("place")).sort("place", maintain_order=True)


def _aside(table: pl.DataFrame) -> pl.DataFrame:
    """Networks that have not fitted are set aside, unless none has: then all are shown, as after a few steps."""
    if not table["fitted"].any():
        return table
    return table.with_columns(pl.when("fitted").then(pl.col("over_blank", "nonnegative")).otherwise(None))


def _draw_pictures(table: pl.DataFrame) -> Any:
    rows = _ordered(table.filter(pl.col("run").is_in(SHOWN) & (pl.col("member") == pl.col("member").min())))
    rows = rows.with_columns(pl.len().over("run").alias("cells"))
    shown = []
    # What is held out differs between kinds, and with it the combination asked for: each has its target beside it.
    for part in rows.partition_by("cells", "x", "y", maintain_order=True):
        first = part.filter(pl.col("run") == part["run"][0])
        target = first.select(pl.lit("the target").alias("kind"), "column", "row", pl.col("target").alias("output"))
        shown.append(pl.concat([target, part.select("kind", "column", "row", "output")]))
    return _maps(shown, "column", "row", "output", "what is drawn; 0 is the background")


def _draw_volume(table: pl.DataFrame) -> Any:
    # Sides differ between kinds at quick scale: those of one side are drawn together.
    cells = _ordered(table).with_columns(pl.len().over("kind").alias("cells"))
    parts = cells.partition_by("cells", maintain_order=True)
    return _maps(parts, "x", "y", "relative", "log₁₀ of the volume over its mean")


def _maps(parts: list[pl.DataFrame], x: str, y: str, value: str, title: str) -> Any:
    """One map a kind, those of a part together; the middle of the square is 0."""
    from recombine.figures import column, maps

    middle = pl.col(x).max().over("kind") / 2
    most = max(part["kind"].n_unique() for part in parts)
    charts = [
        maps(part.with_columns(pl.col(x, y) - middle), x, y, value, "kind", domain=(-1.0, 1.0), boundary=False,
             sized_for=most, x_title="x", y_title="y", value_title=title)
        for part in parts
    ]  # fmt: skip
    return charts[0] if len(charts) == 1 else column(*charts)


def _draw_errors(table: pl.DataFrame) -> Any:
    from recombine.figures import members

    rows = _aside(_ordered(table)).with_columns(pl.col("over_blank").log10().alias("error"))
    return members(rows, "kind", "error", title="log₁₀ of the unseen error over a blank picture's", reference=0.0)


def _draw_located(table: pl.DataFrame) -> Any:
    from recombine.figures import scatter

    rows = _aside(_ordered(table)).with_columns(pl.col("over_blank").log10().alias("error"))
    kinds = rows["run"].unique(maintain_order=True).to_list()
    remedy = dict.fromkeys(kinds, "as it is") | {run: "stripes" for run in kinds if run.endswith("stripes")}
    remedy |= {run: "rendering forced" for run in kinds if run in FORCED}
    remedy |= {run: "coordinates" for run in kinds if run == "coordinate"}
    rows = rows.with_columns(pl.col("run").replace_strict(remedy).alias("remedy"))
    return scatter(
        rows, "error", "located", "remedy", diagonal=False, x_title="log₁₀ of the unseen error over a blank picture's",
        y_title="unseen bumps within one pixel",
    )  # fmt: skip


def _draw_training(table: pl.DataFrame) -> Any:
    from recombine.figures import curves

    kept = _ordered(table.filter(pl.col("run").is_in(LAYERED) & (pl.col("step") > 1)))
    rows = kept.with_columns(pl.col("over_blank").log10().alias("error"), pl.col("split").replace({
        "seen": "seen combinations", "unseen": "unseen combinations"}))  # fmt: skip
    figure = summarise(rows, "error", ["kind", "split", "step"])
    return curves(
        figure, "step", "mean", "split", "low", "high", facet="kind", log_x=True, reference=0.0, x_title="step",
        y_title="log₁₀ error",
    )  # fmt: skip


def _draw_layers(table: pl.DataFrame) -> Any:
    from recombine.figures import curves

    rows = _ordered(table.filter((pl.col("where") == "all") & pl.col("role").is_in(ROLES)))
    kept = rows.filter(pl.col("run").is_in(LAYERED))
    at = pl.col("role").replace_strict({role: i for i, role in enumerate(ROLES)}).alias("layer_number")
    long = kept.with_columns(at).unpivot(
        ["additive", "multiplicative", "released"], index=["kind", "member", "layer_number"], variable_name="score"
    )
    names = {"additive": "share of a sum over factors", "multiplicative": "share of a product of kernels",
             "released": "the released score"}  # fmt: skip
    figure = summarise(long.with_columns(pl.col("score").replace(names)), "value", ["kind", "score", "layer_number"])
    return curves(
        figure, "layer_number", "mean", "score", "low", "high", facet="kind", y_domain=(0, 1), y_title="score",
        x_title="layer: 0 input, 1 first hidden, 2 last hidden, 3 output",
    )  # fmt: skip


def _draw_superposition(table: pl.DataFrame) -> Any:
    from recombine.figures import members

    title = "share of an unseen output that is a sum of seen outputs"
    return members(_aside(_ordered(table)), "kind", "nonnegative", title=title, domain=(0, 1))


def _draw_scores(table: pl.DataFrame) -> Any:
    from recombine.figures import members

    best = table.group_by("score", "where", maintain_order=True).agg(pl.col("rho").mean().abs().alias("strength"))
    kept = best.drop_nulls("strength").sort("strength", descending=True).head(14)
    rows = kept.join(table, on=["score", "where"], how="left", maintain_order="left")
    mark = pl.when(pl.col("where") == "seen").then(pl.lit(" (seen only)")).otherwise(pl.lit(""))
    label = pl.concat_str("score", mark)
    return members(
        rows.with_columns(label.alias("label")), "label", "rho", title="Spearman's ρ with the unseen error, over kinds",
        domain=(-1, 1), reference=0.0,
    )  # fmt: skip


def _draw_need(table: pl.DataFrame) -> Any:
    from recombine.figures import curves

    rows = table.with_columns(
        pl.format("{}, side {}", "learner", "side").alias("facet"),
        pl.when(pl.col("stripes") > 0).then(pl.lit("bumps and stripes")).otherwise(pl.lit("bumps alone")).alias("set"),
    )
    figure = summarise(rows, "located", ["facet", "set", "examples"])
    return curves(
        figure, "examples", "mean", "set", "low", "high", facet="facet", log_x=True, y_domain=(0, 1), reference=0.9,
        x_title="training examples, stripes counted", y_title="placed",
    )  # fmt: skip


FIGURES = (
    Figure(
        id="pictures",
        title="What is drawn for a combination that was never seen",
        caption="One network of each kind, at the unseen combination in the middle of what is held out from it, after "
        "the target of each set. Failing decoders draw parts of seen bumps around the box; stripes add a bump and "
        "leave a cross.",
        table="drawings",
        draw=_draw_pictures,
    ),
    Figure(
        id="errors",
        title="Every network: the error on unseen combinations",
        caption="0 is a blank picture. Networks that had not fitted the seen combinations (error above .01 of blank) "
        "are set "
        "aside: they say nothing about composition.",
        table="networks",
        draw=_draw_errors,
    ),
    Figure(
        id="where-and-what",
        title="Where the bump is, and what is drawn",
        caption="One dot a network. The two disagree: with stripes nearly every unseen bump is in its place, in a "
        "picture "
        "that is about as wrong as a blank one.",
        table="networks",
        draw=_draw_located,
    ),
    Figure(
        id="training",
        title="While the seen error falls",
        caption="log₁₀ of the error over a blank picture's, mean over members with its 95 % interval. In decoders "
        "that fail "
        "the error on unseen combinations stays where it is, or rises, while the error on seen ones falls.",
        table="training",
        draw=_draw_training,
    ),
    Figure(
        id="layers",
        title="Re-entanglement, layer by layer",
        caption="Mean over members with its 95 % interval. The released score stays near 1 whatever the network does.",
        table="layers",
        draw=_draw_layers,
    ),
    Figure(
        id="superposition",
        title="Memorization as superposition",
        caption="How much of the energy of an output for an unseen combination is a non-negative sum of the same "
        "network's "
        "outputs for the seen ones. Blank outputs have no such share.",
        table="networks",
        draw=_draw_superposition,
    ),
    Figure(
        id="scores",
        title="Which score predicts composition",
        caption="Each dot is Spearman's ρ between a score and the unseen error over the kinds of networks, one "
        "network of each "
        "kind; the fourteen strongest. A score that looks at all combinations has seen the failure it predicts; those "
        "marked ‘seen only’ have not. A score of factorization should lie left of 0. Dots differ by seed alone; what "
        "other kinds might show is less certain, and the claims are judged by that.",
        table="replicates",
        draw=_draw_scores,
    ),
    Figure(
        id="need",
        title="Examples needed, with and without stripes",
        caption="The share of unseen bumps that are placed within one pixel. Bumps are drawn from the whole square; "
        "mean over samples with its 95 % interval; the line is the criterion.",
        table="need",
        draw=_draw_need,
    ),
    Figure(
        id="volume",
        title="Volume of the last hidden layer over the square",
        caption="√det g by finite differences, mean over members. The box in the middle was not trained on.",
        table="volume",
        draw=_draw_volume,
    ),
)
