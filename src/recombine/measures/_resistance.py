"""Resistance to compositionality as a number, from the curves of two settings.

resistance = unseen accuracy(control) − unseen accuracy(A), by member: what the redundant input cost. The control is B
(the other component uninformative) or B′ (never shown). speed = area between the training curves of A and the control:
what the redundant input bought. lowest = the smallest unseen accuracy along training: it may be a passing dip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def resistance(
    redundant: pl.DataFrame, control: pl.DataFrame, until: int | None = None, score: str = "accuracy"
) -> pl.DataFrame:
    """One row per member of two tables of `views` along training (columns member, step, view and the score).

    ``resistance`` at the last step, ``speed`` over the steps up to ``until``, ``lowest`` and ``lowest_control`` over
    all steps, and ``gap``, the redundant setting's own difference between trained and unseen at the end. Members that
    only one of the tables has are left out."""
    import polars as pl

    sides = {}
    for name, table in (("redundant", redundant), ("control", control)):
        for column in ("member", "step", "view", score):
            if column not in table.columns:
                raise InputError(f"the table of the {name} setting has no column {column!r}.")
        wide = at_the_end(table, score)
        lowest = table.filter(pl.col("view") == "unseen").group_by("member").agg(pl.col(score).min().alias("lowest"))
        sides[name] = wide.join(lowest, on="member").join(area(table, until, score), on="member")
    both = sides["redundant"].join(sides["control"], on="member", suffix="_control").sort("member")
    return both.select(
        "member",
        (pl.col("unseen_control") - pl.col("unseen")).alias("resistance"),
        (pl.col("trained") - pl.col("unseen")).alias("gap"),
        (pl.col("area") - pl.col("area_control")).alias("speed"),
        "lowest",
        "lowest_control",
    )


def at_the_end(table: pl.DataFrame, score: str = "accuracy") -> pl.DataFrame:
    """One row per member: its score on the views "trained" and "unseen" at the last step."""
    import polars as pl

    ends = table.filter(pl.col("step") == pl.col("step").max())
    trained, unseen = (
        ends.filter(pl.col("view") == view).select("member", pl.col(score).alias(view))
        for view in ("trained", "unseen")
    )
    return trained.join(unseen, on="member").sort("member")


def area(table: pl.DataFrame, until: int | None = None, score: str = "accuracy", view: str = "trained") -> pl.DataFrame:
    """The mean height of each member's curve of ``view`` up to step ``until``, by the trapezoidal rule."""
    import polars as pl

    rows = table.filter(pl.col("view") == view).sort("member", "step")
    if until is not None:
        rows = rows.filter(pl.col("step") <= until)
    width = pl.col("step").diff().over("member")
    height = (pl.col(score) + pl.col(score).shift(1).over("member")) / 2
    pieces = rows.with_columns((width * height).alias("piece"), width.alias("width"))
    return pieces.group_by("member", maintain_order=True).agg(
        pl.when(pl.col("width").sum() > 0)
        .then(pl.col("piece").sum() / pl.col("width").sum())
        .otherwise(pl.col(score).first())
        .alias("area")
    )
