"""The figures of the study."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.studies.cells import LAST
from recombine.studies.charts import curves, dots
from recombine.studies.study import Figure

MEANS = "mean over members with its 95 % interval"
UNSEEN = pl.col("view") == "unseen"


def _along(id: str, title: str, caption: str, table: str, **look: Any) -> Figure:
    """Accuracy on each view along training, all members."""
    return curves(
        id, title, caption, table=table, x="step", y="accuracy", by="view", facet="setting", fitted=False, log_x=True,
        x_title="step", y_title="accuracy", y_domain=(0, 1), **look,
    )  # fmt: skip


def _right_digit(id: str, title: str, caption: str, y: str, y_title: str) -> Figure:
    return curves(
        id, title, caption, pl.col("component") == "digit_2", table="dependence", x="step", y=y, by="setting",
        fitted=False, log_x=True, x_title="step", y_title=y_title,
    )  # fmt: skip


def _fitted_only(table: pl.DataFrame) -> pl.DataFrame:
    """The unseen accuracy, null for members that are set aside because they did not fit."""
    return table.with_columns(pl.when(pl.col("fitted").fill_null(True)).then(pl.col("unseen")).alias("unseen"))


def _stopped(id: str, title: str, caption: str, task: str) -> Figure:
    return dots(
        id, title, caption, pl.col("task") == task, table="optimizers", group="who", value="unseen", fitted=False,
        prepare=lambda t: _fitted_only(t).with_columns(pl.format("{}, {}", "optimizer", "setting").alias("who")),
        keep=["who", "member", "unseen"], axis="accuracy on unseen combinations", domain=(0, 1),
    )  # fmt: skip


def _by_strength(table: pl.DataFrame) -> pl.DataFrame:
    long = table.unpivot(["trained", "unseen"], index=["strength", "member"], variable_name="view")
    return long.with_columns(pl.col("strength") * 100)


FIGURES = (
    _along(
        "pairs", "Pairs of digits: accuracy along training",
        "The label is the left digit. trained: fresh images in the combinations training has; unseen: the eight other "
        f"offsets. {MEANS.capitalize()}; dashed: chance. A learns its own pairs first and stays behind on the others; "
        "the two curves of B lie together.",
        "pairs", reference=0.1,
    ),
    dots(
        "pairs-members", "Pairs of digits: every network at the end",
        "One dot per member. B has trained on the tested combinations; the two B′ have not.",
        UNSEEN, LAST, table="pairs", group="setting", value="accuracy", fitted=False,
        keep=["setting", "member", "accuracy"], axis="accuracy on unseen pairs at the end", domain=(0.5, 1),
    ),
    _right_digit(
        "flips", "How often the right digit decides",
        "Share of answers that change when the right digit is exchanged for another, both digits drawn independently; "
        f"{MEANS}. Early answers hang on both halves in every setting; only A keeps leaning on the right one.",
        "flip", "answers that flip when X₂ is exchanged",
    ),
    _right_digit(
        "influence", "The same by gradients",
        f"The right digit's share of the input gradient, {MEANS}, the measure of the paper's propositions: it tells "
        "the settings apart far less well, because noise in the pixels keeps it above zero.",
        "share", "share of X₂ in the influence E‖∂ŷ/∂X‖",
    ),
    dots(
        "parts", "Whose variance the scores carry",
        "ANOVA over the grid of both digits; zero for a compositional network.",
        pl.col("part").is_in(["2", "1·2"]), table="parts", group="setting", value="share", fitted=False,
        prepare=lambda t: t.group_by("setting", "member", maintain_order=True).agg(pl.col("share").sum()),
        axis="share of X₂, alone or with X₁, in the variance of the scores",
    ),
    _along(
        "scan", "SCAN, add jump: exact sentence accuracy along training",
        "trained: as the training set has it, one tenth of it the one-word command “jump” (A) or any one-word command "
        "(B); several words: without those. The early lead of A is that one command. B′ kept apart: words are uniform, "
        "but “jump” never stands in a frame in which it is asked; where it is never shown, its action cannot be known.",
        "scan",
    ),
    dots(
        "both", "The toy with both answers asked: every network at the end",
        "Share of the unseen quarter for which both answers are right, one dot per member. Trained without it, "
        "networks name one of the combinations they know.",
        UNSEEN, LAST, table="both", group="setting", value="accuracy", fitted=False,
        keep=["setting", "member", "accuracy"], axis="both answers right on the unseen quarter", domain=(0, 1),
    ),
    curves(
        "strength", "From no redundancy to full redundancy",
        f"{MEANS.capitalize()}. The paper has the two ends. Most of the loss comes with the last few free examples.",
        table="strength", x="strength", y="value", by="view", prepare=_by_strength, fitted=False,
        x_title="training examples whose X₂ is bound to Y₁, %", y_title="accuracy",
    ),
    _stopped(
        "optimizers", "Digit pairs at equal training loss",
        "Every member stopped when its loss fell below the same value (at paper scale on fresh examples, the same for "
        "all); one that did not get there is set aside. A: X₂ redundant; B: uninformative.",
        "digit pairs",
    ),
    _stopped(
        "optimizers-toy", "The toy at equal training loss, with and without gradients",
        "Evolution keeps the best of a parent and its mutated children, and takes no gradient.", "toy",
    ),
    dots(
        "remedies", "Remedies",
        "All but the controls are trained in setting A. With 90 % bound, one example in ten has a free right digit.",
        table="remedies", group="remedy", value="unseen", prepare=_fitted_only, fitted=False,
        keep=["remedy", "member", "unseen"], axis="accuracy on unseen pairs at the end", domain=(0.5, 1),
    ),
)  # fmt: skip
