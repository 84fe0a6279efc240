"""What is drawn of the study's tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.studies.study import Figure
from recombine.studies.together.correlations import ACROSS, ALL_TASKS, GIVEN_OTHERS, GIVEN_SUPPORT, POOLED, SAME_ROWS
from recombine.studies.together.lens_names import ALL, LENSES


def _lens_rows(table: pl.DataFrame, *kinds: str) -> pl.DataFrame:
    """Lenses and tasks in the order in which the study names them, the figure over all tasks last."""
    place = {lens: i for i, lens in enumerate(ALL)}
    kept = table.filter(pl.col("kind").is_in(kinds) & pl.col("lens").is_in(list(ALL)))
    order = pl.when(pl.col("task") == ALL_TASKS).then(1).otherwise(0)
    kind = pl.col("kind").replace_strict({name: i for i, name in enumerate(kinds)}, return_dtype=pl.Int64)
    rows = kept.sort(kind, pl.col("lens").replace_strict(place, return_dtype=pl.Int64), order, maintain_order=True)
    labels = {lens: about.label for lens, about in ALL.items()}
    return rows.with_columns(pl.col("lens").replace_strict(labels))


def _draw_forest(table: pl.DataFrame) -> Any:
    from recombine.figures import forest

    names = {ACROSS: "across the splits of a task", SAME_ROWS: "networks trained on the same rows"}
    rows = table.with_columns(pl.col("kind").replace(names))
    return forest(rows, "lens", "rho", "task", facet="kind", title="ρ", domain=(-1, 1), reference=0.0)


def _draw_beyond(table: pl.DataFrame) -> Any:
    from recombine.figures import forest

    names = {GIVEN_SUPPORT: "with the support verdict held still", GIVEN_OTHERS: "with the other four held still"}
    rows = table.with_columns(pl.col("kind").replace(names))
    return forest(rows, "lens", "rho", "task", facet="kind", title="partial ρ", domain=(-1, 1), reference=0.0)


def _wide(table: pl.DataFrame) -> pl.DataFrame:
    """One row a lens: ρ over all tasks with its interval, for each kind of comparison."""
    rows: list[dict[str, object]] = []
    mine = table.filter(pl.col("task") == ALL_TASKS)
    for lens, about in ALL.items():
        row: dict[str, object] = {"lens": f"{about.label}: {about.sentence}"}
        for name, kind in (("same_rows", SAME_ROWS), ("across", ACROSS), ("pooled", POOLED)):
            found = mine.filter((pl.col("kind") == kind) & (pl.col("lens") == lens))
            figure = found.row(0, named=True) if len(found) else {}
            row |= {name: figure.get("rho"), f"{name}_low": figure.get("low"), f"{name}_high": figure.get("high")}
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _draw_table(table: pl.DataFrame) -> Any:
    from recombine.figures import verdict_table

    heads = {"same_rows": "same rows", "across": "across splits", "pooled": "pooled"}
    return verdict_table(table, "lens", (), heads)


def _fitted(table: pl.DataFrame) -> pl.DataFrame:
    """Only networks that fitted are drawn, unless none has: then all are, as after a few steps."""
    return table.filter("fitted") if table["fitted"].any() else table


def _draw_networks(table: pl.DataFrame) -> Any:
    from recombine.figures import scatter

    rows = _fitted(table)
    long = pl.concat([
        rows.select("task", "error", pl.col(lens).cast(pl.Float64).alias("value"), pl.lit(about.label).alias("lens"))
        for lens, about in LENSES.items()
    ])  # fmt: skip
    return scatter(
        long, "value", "error", "task", "lens", diagonal=False, own_x=True, x_title="what the lens says",
        y_title="unseen error",
    )  # fmt: skip


def _draw_counts(table: pl.DataFrame) -> Any:
    from recombine.figures import scatter

    known = pl.format("{} % determined", (100 * pl.col("support")).round().cast(pl.Int64))
    rows = _fitted(table).sort("support", maintain_order=True).with_columns(known.alias("verdict"))
    # Splits with as many combinations stand beside one another.
    beside = pl.col("share_seen") + 0.035 * (pl.col("support") - 0.5)
    return scatter(
        rows.with_columns(beside.alias("beside")), "beside", "error", "verdict", "task", diagonal=False,
        x_title="share of combinations seen", y_title="unseen error",
    )  # fmt: skip


FIGURES = (
    Figure(
        id="lenses",
        title="Which lens tells networks that compose from networks that fail",
        caption="Spearman's ρ between each lens and the error on unseen combinations, turned so that +1 is the way the "
        "lens should point, with 95 % intervals over settings (a task and a split). Left: all networks of a task, "
        "whatever they were trained on. Right: one ρ a setting, over networks that saw the same rows and differ in "
        "first weights, learning rate and weight decay; there, support and count are the same for all.",
        table="summary",
        rows=lambda table: _lens_rows(table, ACROSS, SAME_ROWS),
        draw=_draw_forest,
    ),
    Figure(
        id="table",
        title="The lenses, and how well each orders networks",
        caption="Means over tasks with 95 % intervals over settings. Pooled: all networks of all tasks in one order. "
        "It mixes how tasks differ with how networks differ (Simpson's paradox) and is here for comparison only.",
        table="summary",
        rows=_wide,
        draw=_draw_table,
    ),
    Figure(
        id="networks",
        title="Every network through every lens",
        caption="One mark a network that fitted. An error of 1 is that of a learner that always gives the same answer. "
        "The table beside this picture has one row a network, those that did not fit among them.",
        table="networks",
        draw=_draw_networks,
    ),
    Figure(
        id="counts",
        title="How much was seen, and how much that determines",
        caption="One mark a network that fitted. At the same number of combinations seen, colours show how many of the "
        "others the seen ones determine if factors add up.",
        table="networks",
        draw=_draw_counts,
    ),
    Figure(
        id="beyond",
        title="What a lens adds to the others",
        caption="Partial rank correlations across the splits of a task: what is left of ρ when the support verdict, or "
        "all other lenses, are held still. Wide intervals: seven splits a task say little about five lenses at once.",
        table="summary",
        rows=lambda table: _lens_rows(table, GIVEN_SUPPORT, GIVEN_OTHERS),
        draw=_draw_beyond,
    ),
)
