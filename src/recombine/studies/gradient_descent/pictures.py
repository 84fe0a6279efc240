"""The figures of the study."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from recombine.measures.interval import summarise
from recombine.studies import gradient_toy
from recombine.studies.study import Figure


def _accuracy_rows(table: pl.DataFrame) -> pl.DataFrame:
    return summarise(table, "accuracy", ["setting", "view", "step"])


def _draw_accuracy(rows: pl.DataFrame, **more: Any) -> Any:
    from recombine.figures import curves

    return curves(
        rows, "step", "mean", "view", "low", "high", facet="setting", log_x=True, x_title="step", y_title="accuracy",
        y_domain=(0, 1), **more,
    )  # fmt: skip


def _second_rows(table: pl.DataFrame, value: str) -> pl.DataFrame:
    return summarise(table.filter(pl.col("component") == "digit_2"), value, ["setting", "step"])


def _draw_second(rows: pl.DataFrame, title: str) -> Any:
    from recombine.figures import curves

    return curves(rows, "step", "mean", "setting", "low", "high", log_x=True, x_title="step", y_title=title)


def _member_rows(table: pl.DataFrame) -> pl.DataFrame:
    end = table.filter(pl.col("view") == "unseen", pl.col("step") == pl.col("step").max().over("setting"))
    return end.select("setting", "member", "accuracy")


def _draw_members(
    rows: pl.DataFrame, title: str = "accuracy on unseen pairs at the end", domain: tuple[float, float] = (0.5, 1)
) -> Any:
    from recombine.figures import members

    return members(rows, "setting", "accuracy", title=title, domain=domain)


def _strength_rows(table: pl.DataFrame) -> pl.DataFrame:
    long = table.unpivot(["trained", "unseen"], index=["strength", "member"], variable_name="view")
    return summarise(long, "value", ["strength", "view"]).with_columns(pl.col("strength") * 100)


def _draw_strength(rows: pl.DataFrame) -> Any:
    from recombine.figures import curves

    return curves(
        rows, "strength", "mean", "view", "low", "high",
        x_title="training examples whose X₂ is bound to Y₁, %", y_title="accuracy",
    )  # fmt: skip


def _fitted_only(table: pl.DataFrame) -> pl.DataFrame:
    """The unseen accuracy, null for members that are set aside because they did not fit."""
    return table.with_columns(pl.when(pl.col("fitted").fill_null(True)).then(pl.col("unseen")).alias("unseen"))


def _stopped_rows(table: pl.DataFrame, task: str) -> pl.DataFrame:
    mine = _fitted_only(table.filter(pl.col("task") == task))
    return mine.select(pl.format("{}, {}", "optimizer", "setting").alias("who"), "member", "unseen")


def _draw_stopped(rows: pl.DataFrame) -> Any:
    from recombine.figures import members

    return members(rows, "who", "unseen", title="accuracy on unseen combinations", domain=(0, 1))


def _remedy_rows(table: pl.DataFrame) -> pl.DataFrame:
    return _fitted_only(table).select("remedy", "member", "unseen")


def _draw_remedies(rows: pl.DataFrame) -> Any:
    from recombine.figures import members

    return members(rows, "remedy", "unseen", title="accuracy on unseen pairs at the end", domain=(0.5, 1))


def _part_rows(table: pl.DataFrame) -> pl.DataFrame:
    other = table.filter(pl.col("part").is_in(["2", "1·2"]))
    return other.group_by("setting", "member", maintain_order=True).agg(pl.col("share").sum())


def _draw_parts(rows: pl.DataFrame) -> Any:
    from recombine.figures import members

    return members(rows, "setting", "share", title="share of X₂, alone or with X₁, in the variance of the scores")


FIGURES = (
    Figure(
        id="pairs",
        title="Pairs of digits: accuracy along training",
        caption="The label is the left digit. trained: fresh images in the combinations training has; unseen: the "
        "eight other offsets. Mean over members with its 95 % interval; dashed: chance. A learns its own pairs "
        "first and stays behind on the others; the two curves of B lie together.",
        table="pairs",
        draw=lambda rows: _draw_accuracy(rows, reference=0.1),
        rows=_accuracy_rows,
    ),
    Figure(
        id="pairs-members",
        title="Pairs of digits: every network at the end",
        caption="One dot a member. B has trained on the tested combinations; the two B′ have not.",
        table="pairs",
        draw=_draw_members,
        rows=_member_rows,
    ),
    Figure(
        id="flips",
        title="How often the right digit decides",
        caption="Share of answers that change when the right digit is exchanged for another, both digits drawn "
        "independently; mean over members with its 95 % interval. "
        "Early answers hang on both halves in every setting; only A keeps leaning on the right one.",
        table="dependence",
        draw=lambda rows: _draw_second(rows, "answers that flip when X₂ is exchanged"),
        rows=lambda table: _second_rows(table, "flip"),
    ),
    Figure(
        id="influence",
        title="The same by gradients",
        caption="The right digit's share of the input gradient, mean over members with its 95 % interval, the "
        "measure of the paper's propositions: it tells the "
        "settings apart far less well, because noise in the pixels keeps it above zero.",
        table="dependence",
        draw=lambda rows: _draw_second(rows, "share of X₂ in the influence E‖∂ŷ/∂X‖"),
        rows=lambda table: _second_rows(table, "share"),
    ),
    Figure(
        id="parts",
        title="Whose variance the scores carry",
        caption="ANOVA over the grid of both digits; zero for a compositional network.",
        table="parts",
        draw=_draw_parts,
        rows=_part_rows,
    ),
    Figure(
        id="scan",
        title="SCAN, add jump: exact sentence accuracy along training",
        caption="trained: as the training set has it, one tenth of it the one-word command “jump” (A) or any one-word "
        "command (B); several words: without those. The early lead of A is that one command. B′ kept apart: words are "
        "uniform, but “jump” never stands in a frame in which it is asked; where it is never shown, its action cannot "
        "be known.",
        table="scan",
        draw=_draw_accuracy,
        rows=_accuracy_rows,
    ),
    Figure(
        id="both",
        title="The toy with both answers asked: every network at the end",
        caption="Share of the unseen quarter for which both answers are right. One dot a member. Trained without it, "
        "networks name one of the combinations they know.",
        table="both",
        draw=lambda rows: _draw_members(rows, "both answers right on the unseen quarter", (0, 1)),
        rows=_member_rows,
    ),
    Figure(
        id="strength",
        title="From no redundancy to full redundancy",
        caption="Mean over members with its 95 % interval. The paper has the two ends. "
        "Most of the loss comes with the last few free examples.",
        table="strength",
        draw=_draw_strength,
        rows=_strength_rows,
    ),
    Figure(
        id="optimizers",
        title="Digit pairs at equal training loss",
        caption="Every member stopped when its batch loss fell below the same value; one that did not get there is set "
        "aside. A: X₂ redundant; B: uninformative.",
        table="optimizers",
        draw=_draw_stopped,
        rows=lambda table: _stopped_rows(table, "digit pairs"),
    ),
    Figure(
        id="optimizers-toy",
        title="The toy at equal training loss, with and without gradients",
        caption="Evolution keeps the best of a parent and its mutated children, and takes no gradient. It resists too, "
        "less evenly.",
        table="optimizers",
        draw=_draw_stopped,
        rows=lambda table: _stopped_rows(table, "toy"),
    ),
    Figure(
        id="remedies",
        title="Remedies",
        caption="All but the controls are trained in setting A. With 90 % bound, one example in ten has a free "
        "right digit.",
        table="remedies",
        draw=_draw_remedies,
        rows=_remedy_rows,
    ),
    *(replace(f, id=f"toy-{f.id}", title=f"The toy: {f.title[0].lower()}{f.title[1:]}", table=f"toy_{f.table}")
      for f in gradient_toy.STUDY.figures),
)  # fmt: skip
