"""The figures of the study."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.studies._cells import LAST
from recombine.studies.charts import curves, dots
from recombine.studies.gradient_descent.steps import ONE
from recombine.studies.study import Figure

UNSEEN = pl.col("view") == "unseen"


def _along(id: str, title: str, table: str, **look: Any) -> Figure:
    """Accuracy on each view along training, all members."""
    return curves(
        id, title, table=table, x="step", y="accuracy", by="view", facet="setting", fitted=False, log_x=True,
        x_title="step", y_title="accuracy", y_domain=(0, 1), **look,
    )  # fmt: skip


def _right_digit(id: str, title: str, y: str, y_title: str) -> Figure:
    return curves(
        id, title, pl.col("component") == "digit_2", table="dependence", x="step", y=y, by="setting",
        fitted=False, log_x=True, x_title="step", y_title=y_title,
    )  # fmt: skip


def _slopes(id: str, title: str, y: str, y_title: str) -> Figure:
    """Of X₂ on Y₁, where Y₁ alone is asked, by setting along training."""
    return curves(
        id, title, pl.col("answers") == ONE, pl.col("component") == "y2", table="steps", x="step", y=y, by="setting",
        fitted=False, log_x=True, x_title="step", y_title=y_title,
    )  # fmt: skip


def _fitted_only(table: pl.DataFrame) -> pl.DataFrame:
    """The unseen accuracy, null for members that are set aside because they did not fit."""
    return table.with_columns(pl.when(pl.col("fitted").fill_null(True)).then(pl.col("unseen")).alias("unseen"))


def _stopped(id: str, title: str, task: str) -> Figure:
    return dots(
        id, title, pl.col("task") == task, table="optimizers", group="who", value="unseen", fitted=False,
        prepare=lambda t: _fitted_only(t).with_columns(pl.format("{}, {}", "optimizer", "setting").alias("who")),
        keep=["who", "member", "unseen"], axis="accuracy on unseen combinations", domain=(0, 1),
    )  # fmt: skip


def _by_strength(table: pl.DataFrame) -> pl.DataFrame:
    long = table.unpivot(["trained", "unseen"], index=["strength", "member"], variable_name="view")
    return long.with_columns(pl.col("strength") * 100)


FIGURES = (
    _along("pairs", "Pairs of digits: accuracy along training", "pairs", reference=0.1),
    dots("pairs-members", "Pairs of digits: every network at the end", UNSEEN, LAST, table="pairs", group="setting",
         value="accuracy", fitted=False, keep=["setting", "member", "accuracy"],
         axis="accuracy on unseen pairs at the end", domain=(0.5, 1)),
    _right_digit("flips", "How often the right digit decides", "flip", "answers that flip when X₂ is exchanged"),
    _right_digit("influence", "The same by gradients", "share", "share of X₂ in the influence E‖∂ŷ/∂X‖"),
    dots("parts", "Whose variance the scores carry", pl.col("part").is_in(["2", "1·2"]), table="parts",
         group="setting", value="share", fitted=False,
         prepare=lambda t: t.group_by("setting", "member", maintain_order=True).agg(pl.col("share").sum()),
         axis="share of X₂, alone or with X₁, in the variance of the scores"),
    _along("scan", "SCAN, add jump: exact sentence accuracy along training", "scan"),
    dots("both", "The toy with both answers asked: every network at the end", UNSEEN, LAST, table="both",
         group="setting", value="accuracy", fitted=False, keep=["setting", "member", "accuracy"],
         axis="both answers right on the unseen quarter", domain=(0, 1)),
    _slopes("steps", "The size of the toy's slopes along X₂ along training", "influence", "E|∂ŷ/∂X₂|"),
    _slopes("steps-turned", "The same with their sign", "tilt", "E ∂ŷ/∂X₂"),
    curves("strength", "From no redundancy to full redundancy", table="strength", x="strength", y="value", by="view",
           prepare=_by_strength, fitted=False, x_title="training examples whose X₂ is bound to Y₁, %",
           y_title="accuracy"),
    _stopped("optimizers", "Digit pairs, stopped below the same loss", "digit pairs"),
    _stopped("optimizers-toy", "The toy, stopped below the same loss, with and without gradients", "toy"),
    dots("remedies", "Remedies", table="remedies", group="remedy", value="unseen", prepare=_fitted_only, fitted=False,
         keep=["remedy", "member", "unseen"], axis="accuracy on unseen pairs at the end", domain=(0.5, 1)),
)  # fmt: skip
