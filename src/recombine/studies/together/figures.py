"""What is drawn of the study's tables."""

from __future__ import annotations

import polars as pl

from recombine.studies.charts import chart, drawn, scatter
from recombine.studies.study import Figure
from recombine.studies.tables import beside
from recombine.studies.together import lenses as of

LABELS = {lens: about.label for lens, about in of.ALL.items()}
TASK, KIND, LENS = pl.col("task"), pl.col("kind"), pl.col("lens")


def _forest(
    id: str, title: str, kinds: dict[str, str], *where: pl.Expr, by: str, facet: str | None, axis: str
) -> Figure:
    """Lenses and tasks in the order in which the study names them, the figure over all tasks last."""

    def rows(table: pl.DataFrame) -> pl.DataFrame:
        order = KIND.cast(pl.Enum(list(kinds))), LENS.cast(pl.Enum(list(of.ALL))), TASK == of.ALL_TASKS
        return table.sort(*order, maintain_order=True).with_columns(LENS.replace_strict(LABELS))

    forest = chart("forest", "lens", "rho", by, facet=facet, title=axis, domain=(-1, 1), reference=0.0)
    return drawn(id, title, KIND.is_in(list(kinds)), *where, table="summary", prepare=rows,
                 draw=lambda rows: forest(rows.with_columns(KIND.replace(kinds))))  # fmt: skip


def _wide(table: pl.DataFrame) -> pl.DataFrame:
    """One row per lens: ρ over all tasks with its interval, for each kind of comparison."""
    named = {lens: f"{about.label}: {about.sentence}" for lens, about in of.ALL.items()}
    wide = pl.DataFrame({"lens": list(named), "named": list(named.values())})
    for name, kind in (("same_rows", of.SAME_ROWS), ("across", of.ACROSS), ("pooled", of.POOLED)):
        found = table.filter((TASK == of.ALL_TASKS) & KIND.eq(kind))
        figure = found.select("lens", pl.col("rho").alias(name), **{f"{name}_{end}": end for end in ("low", "high")})
        wide = beside(wide, figure, on="lens")
    return wide.drop("lens").rename({"named": "lens"})


def _settings(table: pl.DataFrame) -> pl.DataFrame:
    """One row per task and split: the mean of its networks that fitted, or of all where none has in any, as after a few
    steps."""
    fitted = table.filter("fitted") if table["fitted"].any() else table
    means = pl.col(*of.LENSES, "share_seen", "error").mean()
    return fitted.group_by("task", "split", maintain_order=True).agg(means)


def _through(table: pl.DataFrame) -> pl.DataFrame:
    index = ["task", "split", "error"]
    long = _settings(table).unpivot([*of.LENSES, "share_seen"], index=index, variable_name="lens")
    return long.with_columns(LENS.replace_strict(LABELS))


def _networks_show(rows: pl.DataFrame) -> str:
    """What points the way it should on every task, whatever the rows that networks were trained on."""
    signs = {about.label: about.sign for about in of.ALL.values()}
    within = rows.group_by("lens", "task").agg(pl.corr("value", "error", method="spearman").alias("rho"))
    signed = pl.col("rho") * LENS.replace_strict(signs, return_dtype=pl.Int8)
    found = within.filter(pl.col("rho").is_finite()).group_by("lens").agg(signed.mean(), signed.min().alias("least"))
    right = [f"{lens} {rho:.2f}" for lens, rho, least in found.sort("rho", descending=True).iter_rows() if least > 0]
    told = f"these point the right way on every task (mean ρ): {', '.join(right)}"
    return f"Across splits, {told if right else 'nothing points the right way on every task'}" if len(found) > 1 else ""


def _counted(table: pl.DataFrame) -> pl.DataFrame:
    support = pl.col("support")
    some = pl.when(support < 0.75).then(pl.lit("about half determined")).otherwise(pl.lit("all determined"))
    verdict = pl.when(support < 0.25).then(pl.lit("at most a tenth determined")).otherwise(some)
    # Splits with as many combinations stand beside one another.
    beside = pl.col("share_seen") + 0.035 * (support - 0.5)
    return _settings(table).sort("support", maintain_order=True).with_columns(verdict=verdict, beside=beside)


FIGURES = (
    _forest("lenses", "Which lens tells networks that compose from networks that fail",
            {of.ACROSS: "across the splits of a task", of.SAME_ROWS: "networks trained on the same rows"},
            by="task", facet="kind", axis="ρ"),
    drawn("table", "The lenses, and how well each orders networks", table="summary", prepare=_wide,
          draw=chart("verdict_table", "lens", (),
                     {"same_rows": "same rows", "across": "across splits", "pooled": "pooled"})),
    scatter("networks", "Every setting through every lens", table="networks", x="value", y="error", by="task",
            facet="lens", prepare=_through, fitted=False, finding=_networks_show, diagonal=False,
            own_x=True, x_title="what the lens says", y_title="unseen error"),
    drawn("counts", "How much was seen, and how much that determines", table="networks", prepare=_counted,
          # Signs are missed by several times as much as sums.
          draw=lambda rows: chart("scatter", "beside", "error", "verdict", "task", diagonal=False,
                                  x_title="share of combinations seen", y_title="unseen error",
                                  )(rows).resolve_scale(y="independent")),
    _forest("beyond", "What a lens adds to the others",
            {of.GIVEN_SUPPORT: "support verdict", of.GIVEN_COUNT: "number seen", of.GIVEN_OTHERS: "other lenses",
             of.GIVEN_MADE: "making (same rows)"},
            TASK == of.ALL_TASKS, LENS.is_in(list(of.LENSES)), by="kind", facet=None, axis="ρ with that held still"),
)  # fmt: skip
