"""The figures of the study, each drawn from one of its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from recombine.statistics import summarise
from recombine.studies.charts import chart, curves, dots, drawn, scatter
from recombine.studies.kernel_theory.image_claims import CONTEXT_ACCURACY, EQUIVALENCE_ACCURACY, MAPS, SETS, SLOPES
from recombine.studies.kernel_theory.settings import FEW_ANCHORS

LOG_SIGMA = "log₁₀ σ  (rich ← → lazy)"
DENSE, CONVNET, TASK = pl.col("network") == "dense", pl.col("network") == "convnet", pl.col("task")
LAZY, RICH, ADDS = pl.col("sigma") == 1, pl.col("sigma") <= 0.01, pl.col("anchors").is_not_null()
SQUARED = pl.col("loss") == "squared error"
CD = {"cd1": "CD-1", "cd2": "CD-2", "cd3": "CD-3"}
BY_SIGN = CD | {"equivalence": "Equivalence, four anchors"}
FITS = {"hard margin": "hard margin (logistic loss)", "least squares": "least squares (squared error)"}
WHEN = {"predicted_start": "before training", "predicted_end": "after training",
        "predicted_all_end": "after training, all similarities",
        "predicted_tangent_start": "tangent kernel"}  # fmt: skip
AS_TRAINED_THERE = pl.col("network") == "convnet-faithful"
BY_DISTANCE = (AS_TRAINED_THERE | (CONVNET & ~AS_TRAINED_THERE.any())) & (TASK != FEW_ANCHORS)
"""ConvNets as the paper trains them, where any were."""
AS_PAPER, SAME, OTHER = "as the paper trains", "fewer steps, same maps", "fewer steps, other maps"
NEW_ALONE = "as the paper trains, new images alone"
TRAINED = {"convnet-faithful": AS_PAPER, "convnet-own": SAME, **dict.fromkeys((*MAPS, "convnet-published"), OTHER)}
PUBLISHED = {f"cd{k}": values for k, values in CONTEXT_ACCURACY.items()} | {"equivalence": EQUIVALENCE_ACCURACY}
TRAINED_BOTH_WAYS = pl.col("network").is_in([*TRAINED]) & (
    (TASK.is_in(list(CD)) & ~pl.col("network").is_in(MAPS))
    | ((TASK == "equivalence") & (pl.col("network") != "convnet-published"))
)
KIND = (
    pl.when(DENSE & LAZY).then(pl.lit("one layer, σ = 1")).when(DENSE).then(pl.lit("one layer, σ ≤ .1"))
    .when(pl.col("network") == "deep").then(pl.lit("one to four layers of 100"))
    .when(pl.col("network").is_in(["resnet", "vit", "vit-long"])).then(pl.lit("ResNet or ViT"))
    .when(pl.col("family") == "ConvNet").then(pl.lit("ConvNet")).otherwise(pl.lit("ConvNet, something as in the paper"))
)  # fmt: skip
"""Six: as many as have a mark of their own."""
DRAWN = pl.col("depth").is_null() | (pl.col("depth") != "2")
SHOWN = {
    "lazy, asymmetric addition": DENSE & LAZY & (TASK == "asymmetric"),
    "rich, asymmetric addition": DENSE & RICH & (TASK == "asymmetric"),
    "lazy, CD-3": DENSE & LAZY & (TASK == "cd3") & ~SQUARED,
    "lazy, equivalence": DENSE & LAZY & (TASK == "equivalence") & SQUARED,
    "rich, equivalence": DENSE & RICH & (TASK == "equivalence") & SQUARED,
    "ConvNet, addition": CONVNET & (TASK == "interpolation"),
    "ConvNet, CD-3": CONVNET & (TASK == "cd3"),
    "ConvNet, equivalence": CONVNET & (TASK == "equivalence"),
}
"""The networks whose additivity is shown."""


def _sigma(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col("sigma").log10().round(6).alias("log_sigma"))


def _by_kind(table: pl.DataFrame) -> pl.DataFrame:
    """One row per network and prediction."""
    index, kinds = ["kind", "slope", "run", "member"], table.with_columns(KIND.alias("kind"))
    return kinds.unpivot(list(WHEN), index=index, variable_name="when", value_name="predicted")


def _picked(table: pl.DataFrame) -> pl.DataFrame:
    return pl.concat(table.filter(which).with_columns(pl.lit(name).alias("setting")) for name, which in SHOWN.items())


def _trained(table: pl.DataFrame) -> pl.DataFrame:
    """Accuracies of each kind of networks at each distance."""
    return _beside_published(_named(table, TRAINED), "unseen_accuracy", PUBLISHED)


def _as_read(table: pl.DataFrame) -> pl.DataFrame:
    """Slopes of new and of trained images, averaged, of each kind of networks at each distance; of new ones alone."""
    both = _named(table, dict.fromkeys(MAPS, OTHER) | {"convnet-faithful": AS_PAPER})
    alone = both.filter(trained=AS_PAPER, images="new").with_columns(trained=pl.lit(NEW_ALONE))
    return _beside_published(pl.concat([both, alone]), "slope", SLOPES, unit=["network", "member"])


def _named(table: pl.DataFrame, kinds: Mapping[str, str]) -> pl.DataFrame:
    return table.with_columns(pl.col("network").replace_strict(kinds, return_dtype=pl.String).alias("trained"))


def _beside_published(
    of: pl.DataFrame, value: str, published: Mapping[str, Mapping[int, float]], unit: Sequence[str] = ()
) -> pl.DataFrame:
    """Means at each distance, and what was published where some are trained as there."""
    at = ["task", "trained", "distance"]
    means = summarise(of.group_by(*at, *unit).agg(pl.col(value).mean()) if unit else of, value, at)
    beside = set(means.filter(pl.col("trained") == AS_PAPER)["task"])
    printed = [{"task": task, "trained": "published", "distance": at, "mean": value}
               for task, values in published.items() if task in beside for at, value in values.items()]  # fmt: skip
    schema = {name: means.schema[name] for name in ("task", "trained", "distance", "mean")}
    return _with_gaps(pl.concat([means, pl.DataFrame(printed, schema)], how="diagonal"), at)


def _with_gaps(means: pl.DataFrame, at: list[str]) -> pl.DataFrame:
    """With a row for each distance, so that a line has a gap where nothing was trained."""
    every = means.select(at[:-1]).unique().join(means.select("distance").unique(), how="cross")
    return every.join(means, at, how="left").sort(at)


def _draw_trained(y_title: str, least: float = 0.0) -> Callable[[pl.DataFrame], Any]:
    def draw(means: pl.DataFrame) -> Any:
        from recombine.figures import curves

        return curves(
            means, "distance", "mean", "trained", "low", "high", facet="task", y_domain=(least, 1.0),
            x_title="distance between the images (pixels)", y_title=y_title,
        )  # fmt: skip

    return draw


def _draw_distance(rows: pl.DataFrame) -> Any:
    from recombine.figures import column, curves

    def panel(value: str, which: pl.Expr, title: str, domain: tuple[float, float] | None = None) -> Any:
        at = ["task", "distance"]
        means = _with_gaps(summarise(rows.filter(which), value, at), at)
        return curves(
            means, "distance", "mean", "task", "low", "high", x_title="distance between the images (pixels)",
            y_title=title, y_domain=domain, groups=rows["task"].unique().sort().to_list(),
        )  # fmt: skip

    return column(
        panel("slope", ADDS, "slope on unseen pairs, new images"),
        panel("unseen_accuracy", ~ADDS, "accuracy on unseen combinations", (0.0, 1.0)),
        panel("additivity", ADDS | TASK.is_in(["CD-3"]), "additivity on unseen combinations (R²)"),
    )


FIGURES = (
    scatter("predicted-observed", "Predicted and observed slope, one dot per network", ADDS, table="networks",
            x="predicted", y="slope", by="kind", facet="when", prepare=_by_kind, names={"when": WHEN},
            x_title="slope predicted from features", y_title="observed slope", domain=(0.0, 1.1)),
    drawn("phase", "Which kernels solve context dependence", table="phase", names={"fit": FITS},
          draw=lambda rows: chart("phase", "s1", "s2", "solved", "fit", place="depth",
                                  outcomes=("none", "CD-1", "CD-1 and CD-2", "all three"), y_title="of pairs, S(2;3)",
                                  x_title="salience of single components, S(1;3)")(rows.filter(DRAWN))),
    curves("slopes", "The memorization leak from rich to lazy", DENSE, ADDS, table="networks", x="log_sigma",
           y="slope", by="task", prepare=_sigma, x_title=LOG_SIGMA, y_title="slope on unseen pairs", reference=1.0),
    curves("equivalence", "Transitive equivalence from rich to lazy", DENSE, TASK == "equivalence", table="networks",
           x="log_sigma", y="right", by="loss", prepare=_sigma, x_title=LOG_SIGMA,
           y_title="share of unseen pairs answered rightly", y_domain=(0, 1), reference=0.5),
    curves("context", "Context dependence from rich to lazy", DENSE, TASK.is_in(list(CD)), table="networks",
           x="log_sigma", y="right", by="task", facet="loss", prepare=_sigma, names={"task": CD}, x_title=LOG_SIGMA,
           y_title="share right", y_domain=(0, 1)),
    # All of them: a figure that leaves out networks short of fitting could be empty after a few steps.
    drawn("distance", "What the distance between images changes", BY_DISTANCE, table="networks", draw=_draw_distance,
          names={"task": BY_SIGN | SETS}),
    drawn("trained", "What the training of image networks changes", TRAINED_BOTH_WAYS, table="networks",
          draw=_draw_trained("accuracy on unseen combinations"), prepare=_trained, names={"task": BY_SIGN}),
    drawn("as-read", "Slopes of new and of trained images, as the paper reads them", TASK.is_in(list(SETS)),
          pl.col("network").is_in(["convnet-faithful", *MAPS]), table="trained",
          draw=_draw_trained("slope on unseen pairs", 0.4), prepare=_as_read, names={"task": SETS}),
    curves("along", "Slopes of image networks along training", ADDS, pl.col("place") != "between", table="along",
           x="step", y="slope", by="task", facet="apart",
           prepare=lambda rows: rows.with_columns(pl.format("{} pixels apart", "distance").alias("apart")),
           fitted=False, log_x=True, x_title="step", y_title="slope on unseen pairs", reference=1.0),
    dots("additivity", "Which networks are conjunction-wise additive", table="networks", group="setting",
         value="additivity", prepare=_picked, axis="additivity on unseen combinations (R²)", domain=(0, 1)),
    curves("dispersed", "Dispersed training pairs", pl.col("sweep") == "dispersed", table="kernels", x="s1",
           y="error", x_title="salience of single components, S(1;2)", y_title="squared error on unseen pairs"),
)  # fmt: skip
