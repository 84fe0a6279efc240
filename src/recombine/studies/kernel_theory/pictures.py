"""The figures of the study, each drawn from one of its tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.measures.interval import summarise
from recombine.studies.kernel_theory.sets import ANCHORS
from recombine.studies.study import Figure

LOG_SIGMA = "log₁₀ σ  (rich ← → lazy)"
OUTCOMES = ("none", "CD-1", "CD-1 and CD-2", "all three")
NAMES = {"deep": "one to four layers of 100", "convnet": "ConvNet", "resnet": "ResNet", "vit": "ViT"}


def _fitted(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("fitted").fill_null(True))


def _sigma(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col("sigma").log10().round(6).alias("log_sigma"))


def _draw_predicted(table: pl.DataFrame) -> Any:
    from recombine.figures import scatter

    rows = _fitted(table).filter(pl.col("task").is_in(list(ANCHORS)))
    lazy = (pl.col("network") == "dense") & (pl.col("sigma") == 1)
    rich = (pl.col("network") == "dense") & (pl.col("sigma") < 1)
    kind = (
        pl.when(lazy).then(pl.lit("one layer, σ = 1")).when(rich).then(pl.lit("one layer, σ ≤ .1"))
        .otherwise(pl.col("network").replace(NAMES))
    )  # fmt: skip
    when = {
        "predicted_start": "before training",
        "predicted_end": "after training",
        "predicted_tangent_start": "tangent kernel",
    }
    long = rows.with_columns(kind.alias("kind")).unpivot(
        list(when), index=["kind", "slope", "run", "member"], variable_name="when", value_name="predicted"
    )
    return scatter(
        long.with_columns(pl.col("when").replace(when)), "predicted", "slope", "kind", "when",
        x_title="slope predicted from features", y_title="observed slope", domain=(0.2, 1.1),
    )  # fmt: skip


def _draw_phase(table: pl.DataFrame) -> Any:
    from recombine.figures import phase

    rows = table.with_columns(
        pl.col("fit").replace(
            {"hard margin": "hard margin (logistic loss)", "least squares": "least squares (squared error)"}
        )
    )
    return phase(
        rows.filter(pl.col("depth").is_null() | (pl.col("depth") != "2")), "s1", "s2", "solved", "fit",
        outcomes=OUTCOMES, place="depth", x_title="salience of single components, S(1;3)", y_title="of pairs, S(2;3)",
    )  # fmt: skip


def _draw_slopes(table: pl.DataFrame) -> Any:
    from recombine.figures import curves

    rows = _sigma(_fitted(table)).filter((pl.col("network") == "dense") & pl.col("task").is_in(list(ANCHORS)))
    figure = summarise(rows, "slope", ["task", "log_sigma"]).sort("task", "log_sigma")
    return curves(
        figure, "log_sigma", "mean", "task", "low", "high", x_title=LOG_SIGMA, y_title="slope on unseen pairs",
        reference=1.0,
    )  # fmt: skip


def _draw_equivalence(table: pl.DataFrame) -> Any:
    from recombine.figures import curves

    rows = _sigma(_fitted(table)).filter((pl.col("network") == "dense") & pl.col("run").str.contains("equivalence"))
    figure = summarise(rows, "right", ["loss", "log_sigma"]).sort("loss", "log_sigma")
    return curves(
        figure, "log_sigma", "mean", "loss", "low", "high", x_title=LOG_SIGMA,
        y_title="share of unseen pairs answered rightly", y_domain=(0, 1), reference=0.5,
    )  # fmt: skip


def _draw_context(table: pl.DataFrame) -> Any:
    from recombine.figures import curves

    rows = _sigma(_fitted(table)).filter((pl.col("network") == "dense") & pl.col("task").str.starts_with("cd"))
    rows = rows.with_columns(pl.col("task").str.replace("cd", "CD-"))
    figure = summarise(rows, "right", ["loss", "task", "log_sigma"]).sort("loss", "task", "log_sigma")
    return curves(
        figure, "log_sigma", "mean", "task", "low", "high", facet="loss", x_title=LOG_SIGMA,
        y_title="share right", y_domain=(0, 1),
    )  # fmt: skip


def _draw_distance(table: pl.DataFrame) -> Any:
    from recombine.figures import column, curves

    # All of them: a figure that leaves out networks short of fitting could be empty after a few steps.
    rows = table.filter(pl.col("network") == "convnet").with_columns(pl.col("task").str.replace("cd", "CD-"))
    slopes = summarise(rows.filter(pl.col("task").is_in(list(ANCHORS))), "slope", ["task", "distance"])
    right = summarise(rows.filter(~pl.col("task").is_in(list(ANCHORS))), "unseen_accuracy", ["task", "distance"])
    additive = summarise(
        rows.filter(~pl.col("task").is_in(["equivalence", "CD-1"])), "additivity", ["task", "distance"]
    )
    tasks = rows["task"].unique().sort().to_list()
    shown = [
        (slopes, "slope on unseen pairs", None),
        (right, "accuracy on unseen combinations", (0.0, 1.0)),
        (additive, "additivity on unseen combinations (R²)", None),
    ]
    return column(
        *(
            curves(
                part.sort("task", "distance"), "distance", "mean", "task", "low", "high",
                x_title="distance between the images (pixels)", y_title=title, y_domain=domain, groups=tasks,
            )
            for part, title, domain in shown
        )
    )  # fmt: skip


def _draw_additivity(table: pl.DataFrame) -> Any:
    from recombine.figures import members

    rows = _fitted(table)
    lazy, rich = pl.col("sigma") == 1, pl.col("sigma") <= 0.01
    dense = pl.col("network") == "dense"
    picked = [
        (dense & lazy & (pl.col("task") == "asymmetric"), "lazy, asymmetric addition"),
        (dense & rich & (pl.col("task") == "asymmetric"), "rich, asymmetric addition"),
        (dense & lazy & (pl.col("run") == "dense-cd3-logistic"), "lazy, CD-3"),
        (dense & lazy & (pl.col("run") == "dense-equivalence-squared"), "lazy, equivalence"),
        (dense & rich & (pl.col("run") == "dense-equivalence-squared"), "rich, equivalence"),
        ((pl.col("network") == "convnet") & (pl.col("task") == "interpolation"), "ConvNet, addition"),
        ((pl.col("network") == "convnet") & (pl.col("task") == "cd3"), "ConvNet, CD-3"),
        ((pl.col("network") == "convnet") & (pl.col("task") == "equivalence"), "ConvNet, equivalence"),
    ]
    parts = [rows.filter(condition).with_columns(pl.lit(name).alias("setting")) for condition, name in picked]
    return members(
        pl.concat(parts), "setting", "additivity", title="additivity on unseen combinations (R²)", domain=(0, 1)
    )


def _draw_dispersed(table: pl.DataFrame) -> Any:
    from recombine.figures import curves

    rows = table.filter(pl.col("sweep") == "dispersed")
    figure = summarise(rows, "error", ["s1"]).sort("s1")
    return curves(figure, "s1", "mean", None, "low", "high", x_title="salience of single components, S(1;2)",
                  y_title="squared error on unseen pairs")  # fmt: skip


FIGURES = (
    Figure(
        id="predicted-observed",
        title="Predicted and observed slope, one dot a network",
        caption="The share of the additive rule that each network applies to unseen pairs, against the share that "
        "Eq. 3 predicts from the similarities of its last hidden layer, before and after training, or of its gradients "
        "before training (tangent kernel, networks on codes only). On the line, the theory is right. Lazy networks "
        "(σ = 1) lie close to it before and after training. Rich ones leave it, and come back to it with "
        "their trained features, but for the asymmetric set (lowest). Networks on images leak more than their features "
        "say; part of that is no leak, since they are asked with new images.",
        table="networks",
        draw=_draw_predicted,
        rows=lambda t: t.filter(pl.col("task").is_in(list(ANCHORS))),
    ),
    Figure(
        id="phase",
        title="Which kernels solve context dependence",
        caption="Every kernel of three components is a point: the saliences of single components and of pairs. Dots: "
        "infinitely wide ReLU networks, by number of hidden layers; R² is the rectified quadratic network of three "
        "layers. Between the two losses, ReLU networks of one to five layers change sides.",
        table="phase",
        draw=_draw_phase,
    ),
    Figure(
        id="slopes",
        title="The memorization leak from rich to lazy",
        caption="Networks with one hidden layer, mean over seeds with its 95 % interval. Kernel theory for σ = 1: .743 "
        "with one anchor (extrapolation, asymmetric), .853 with two. Dashed: no leak.",
        table="networks",
        draw=_draw_slopes,
        rows=lambda t: t.filter((pl.col("network") == "dense") & pl.col("task").is_in(list(ANCHORS))),
    ),
    Figure(
        id="equivalence",
        title="Transitive equivalence from rich to lazy",
        caption="Mean over seeds with its 95 % interval. The dashed line is chance, where every kernel is. Networks "
        "leave it as soon as they learn features.",
        table="networks",
        draw=_draw_equivalence,
        rows=lambda t: t.filter((pl.col("network") == "dense") & pl.col("run").str.contains("equivalence")),
    ),
    Figure(
        id="context",
        title="Context dependence from rich to lazy",
        caption="The share of unseen combinations answered rightly, mean over seeds with its 95 % interval. "
        "Lazy networks follow their kernels: by squared "
        "error they solve CD-3, by logistic loss they take the shortcut through context and are wrong on all of it.",
        table="networks",
        draw=_draw_context,
        rows=lambda t: t.filter((pl.col("network") == "dense") & pl.col("task").str.starts_with("cd")),
    ),
    Figure(
        id="distance",
        title="What the distance between images changes",
        caption="ConvNets on images, mean over members with its 95 % interval. "
        "Farther apart, single components are more salient: the leak is smaller, "
        "equivalence and CD-1 are easier, the shortcut of CD-3 is stronger, and answers are closer to additive.",
        table="networks",
        draw=_draw_distance,
        rows=lambda t: t.filter(pl.col("network") == "convnet"),
    ),
    Figure(
        id="additivity",
        title="Which networks are conjunction-wise additive",
        caption="R² of a sum of values of seen sub-combinations, over unseen combinations only. Equivalence is solved "
        "by leaving additivity behind.",
        table="networks",
        draw=_draw_additivity,
    ),
    Figure(
        id="dispersed",
        title="Dispersed training pairs",
        caption="Exact interpolation, mean over training sets with its 95 % interval; the error is zero only where the "
        "representation is additive, S = ½.",
        table="kernels",
        draw=_draw_dispersed,
        rows=lambda t: t.filter(pl.col("sweep") == "dispersed"),
    ),
)  # fmt: skip
