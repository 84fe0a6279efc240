"""What is drawn of the tables: one dot per table throughout."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.studies.charts import dots, drawn, scatter
from recombine.studies.real_tables.collecting import ADVISED, ELL, FEW, MORE, RANDOM, STAIR, VARIANCE
from recombine.studies.real_tables.contest import BOOSTED, FOREST, NOISE_AT_MOST, ONE, RECOMMENDED
from recombine.studies.real_tables.networks import BETWEEN, FIRST, KERNEL, LAZY, RICH
from recombine.studies.real_tables.summaries import ADDING, NAMED, NOISE

TABLE, RULE, WHAT, HOLES, VALUE = (pl.col(name) for name in ("table", "rule", "what", "holes", "value"))
R2, LOG = WHAT == "R²", WHAT == "log error"
LOWEST = -0.5
"""R² below this is drawn here: it has no lower end."""
SHOWN = 10
END = "where noise sets the end"


def _wide(rows: pl.DataFrame, name: str = "rule") -> pl.DataFrame:
    """One row per table, one column per rule (or another column); rules without a value have an empty one."""
    wide = rows.pivot(name, index=[c for c in rows.columns if c in (*NAMED, "holes") and c != name], values="value",
                      aggregate_function="first")  # fmt: skip
    wanted = {"rule": ("additive", FOREST, BOOSTED, "pairs", RECOMMENDED, KERNEL, LAZY, BETWEEN, RICH)}.get(name, ())
    return wide.with_columns(pl.lit(None, pl.Float64).alias(c) for c in wanted if c not in wide.columns)


def _by_kind(each: pl.DataFrame) -> pl.DataFrame:
    """The halves, then kinds in the order of their medians, the most additive first."""
    rows = each.select("kind", "half", "table", pl.col(ADDING).clip(LOWEST, 1.0).alias("value")).drop_nulls("value")
    kinds = rows.group_by("kind").agg(VALUE.median().alias("middle")).sort("middle", "kind", descending=True)["kind"]
    halves = rows.select(pl.format("the {} half", "half").alias("kind"), "table", "value")
    return pl.concat([halves, rows.drop("half").sort(pl.col("kind").cast(pl.Enum(kinds)), "table")])


def _each(each: pl.DataFrame) -> pl.DataFrame:
    """One row per table, the most additive first: R² of adding up, of one factor, of a forest, and the noise's end. A
    table of the locked half has a star."""
    end = pl.when(pl.col(NOISE) < NOISE_AT_MOST).then(1 - pl.col(NOISE)).alias(END)
    name = pl.format("{}{}", "table", pl.when(pl.col("half") == "locked").then(pl.lit(" *")).otherwise(pl.lit("")))
    drawn = each.drop_nulls(ADDING).sort(ADDING, "table", descending=True).with_columns(end, name.alias("table"))
    return drawn.select("table", "kind", ADDING, ONE, FOREST, END).with_columns(
        pl.col(ADDING, ONE, FOREST).clip(LOWEST, 1.0)
    )


def _draw_each(rows: pl.DataFrame) -> Any:
    import altair as alt

    from recombine.figures import theme
    from recombine.figures.data import Datasets

    total, step = theme.total_width(), 11
    across = 1 if theme.is_narrow() else 2
    half = -(-rows.height // across)
    data = Datasets()
    panels = []
    for at in range(across):
        part = rows[at * half : (at + 1) * half]
        if not part.height:
            continue
        y = alt.Y("table:N", sort=part["table"].to_list(), title=None,
                  axis=alt.Axis(labelFontSize=9, labelLimit=150, labelOverlap=False, ticks=False))  # fmt: skip
        x = alt.X("value:Q", title="R² on unseen cells", scale=alt.Scale(domain=[LOWEST, 1.0], nice=False),
                  axis=alt.Axis(tickCount=4, grid=True))  # fmt: skip
        names = [ADDING, FOREST, ONE, END]
        look, shapes = [*theme.PALETTE[:3], theme.MUTED], ["circle", "diamond", "triangle-up", "stroke"]
        long = part.unpivot(names, index=["table"], variable_name="of").drop_nulls("value")
        key = alt.Legend(title=None, orient="top") if at == 0 else None
        panels.append(alt.Chart(data.add(long)).mark_point(size=26, strokeWidth=1.4, opacity=0.9).encode(
            x, y, color=alt.Color("of:N", scale=alt.Scale(domain=names, range=look), legend=key),
            shape=alt.Shape("of:N", scale=alt.Scale(domain=names, range=shapes), legend=key),
            tooltip=["table:N", "of:N", "value:Q"],
        ).properties(width=total // across - 175, height=alt.Step(step)))  # fmt: skip
    chart = alt.hconcat(*panels, spacing=12) if len(panels) > 1 else panels[0]
    return theme.style(chart, data)


def _forecasts(measured: pl.DataFrame) -> pl.DataFrame:
    """Error of the recommended rule and the one that was forecast, over the error of the same answer for all."""
    keys = ["table", "half", "holes"]
    real = measured.filter(LOG & (RULE == RECOMMENDED)).select(*keys, VALUE.alias("log"))
    ratio = measured.filter(WHAT == "log of forecast over realised error").select(*keys, VALUE.alias("ratio"))
    both = real.join(ratio, on=keys, maintain_order="left").filter(HOLES != "sparse")
    return both.select(*keys, pl.col("log").exp().clip(0, 1.5).alias("realised"),
                       (pl.col("log") + pl.col("ratio")).exp().clip(0, 1.5).alias("forecast"))  # fmt: skip


def _gains(measured: pl.DataFrame) -> pl.DataFrame:
    """How much less each learner errs than adding up, against how much adding up explains of other hold-outs."""
    explains = measured.filter(R2 & (RULE == "additive") & (HOLES == "structured")).select(
        "table", VALUE.clip(LOWEST, 1.0).alias("explains")
    )
    errors = _wide(measured.filter(LOG & (HOLES == "random")))
    long = errors.unpivot([FOREST, BOOSTED, "pairs"], index=["table", "half", "additive"], variable_name="learner")
    gain = (pl.col("additive") - VALUE).clip(-1.5, 1.5).alias("gain")
    kept = long.drop_nulls("value").select("table", "half", "learner", gain)
    return kept.join(explains, on="table", maintain_order="left")


def _shrinkage(measured: pl.DataFrame) -> pl.DataFrame:
    wide = _wide(measured.filter((WHAT == "shrinkage") & (HOLES == FIRST)))
    long = wide.unpivot([LAZY, RICH], index=["table", KERNEL], variable_name="networks", value_name="observed")
    return long.drop_nulls("observed").with_columns(pl.col(KERNEL, "observed").clip(-0.2, 1.5))


def _collected(measured: pl.DataFrame) -> pl.DataFrame:
    """Errors after cells chosen by each plan, over those after as many cells at random."""
    rows = measured.filter(LOG & HOLES.is_in([FEW, MORE]))
    base = rows.filter(RULE == RANDOM).select("table", "holes", VALUE.alias("random"))
    both = rows.filter(RULE != RANDOM).join(base, on=["table", "holes"], maintain_order="left")
    order = pl.col("plan").cast(pl.Enum([f"{plan}, {budget}" for budget, plans in
                                         ((FEW, (ADVISED, ELL, STAIR)), (MORE, (ADVISED, VARIANCE)))
                                         for plan in plans]))  # fmt: skip
    named = both.select("table", pl.format("{}, {}", "rule", "holes").alias("plan"),
                        (VALUE - pl.col("random")).clip(-1.5, 1.5).alias("value"))  # fmt: skip
    return named.sort(order, "table")


def _extremes(cells: pl.DataFrame) -> pl.DataFrame:
    """The cells of the tables on which adding up explained most, and least."""
    wrong = ((pl.col("said") - pl.col("was")) ** 2).sum() / (pl.col("was") ** 2).sum()
    order = cells.group_by("table").agg(wrong.alias("wrong"), pl.len()).filter(pl.col("len") > 5).sort("wrong", "table")
    names = order["table"].to_list()
    chosen = list(dict.fromkeys([*names[:SHOWN], *names[-SHOWN:]]))
    place = TABLE.replace_strict({name: i for i, name in enumerate(chosen)}, default=None)
    kept = cells.filter(TABLE.is_in(chosen)).sort(place, maintain_order=True)
    return kept.select("table", pl.col("said", "was").clip(-3.0, 3.0))


def _draw_extremes(rows: pl.DataFrame) -> Any:
    import altair as alt

    from recombine.figures import theme
    from recombine.figures.data import Datasets

    total, data = theme.total_width(), Datasets()
    across = 3 if theme.is_narrow() else 5
    side, ends = total // across - 22, alt.Scale(domain=[-3, 3], nice=False)
    tables = rows["table"].unique(maintain_order=True).to_list()
    line = pl.DataFrame({"table": [t for t in tables for _ in range(2)], "said": [-3.0, 3.0] * len(tables)})
    both = pl.concat([rows, line.with_columns(pl.col("said").alias("was"))]).with_columns(
        pl.Series("part", ["dot"] * rows.height + ["line"] * line.height)
    )
    base = alt.Chart(data.add(both)).encode(
        x=alt.X("said:Q", title=None, scale=ends, axis=alt.Axis(tickCount=3)),
        y=alt.Y("was:Q", title=None, scale=ends, axis=alt.Axis(tickCount=3)),
    )
    diagonal = base.transform_filter("datum.part == 'line'").mark_line(color=theme.RULE, strokeDash=[3, 3])
    points = base.transform_filter("datum.part == 'dot'").mark_point(size=14, color=theme.PALETTE[0])
    head = alt.Header(labelFontSize=9, labelLimit=side + 16, labelPadding=2)
    panels = (
        alt.layer(diagonal, points)
        .properties(width=side, height=side)
        .facet(alt.Facet("table:N", sort=tables, title=None, header=head), columns=across, spacing=14)
    )
    return theme.style(panels, data)


def _second(readings: pl.DataFrame) -> pl.DataFrame:
    """Every claim on the development half, and as it reads otherwise."""
    base = pl.col("half") == "development", pl.col("families") == "all"
    first = readings.filter(*base).select("claim", VALUE.alias("development"))
    other = readings.filter(~(base[0] & base[1])).join(first, on="claim", maintain_order="left")
    once = pl.when(base[1]).then(pl.lit("")).otherwise(pl.lit(", families once"))
    return other.select("claim", pl.format("{} half{}", "half", once).alias("read on"), "development", "value")


def _how_much(rows: pl.DataFrame) -> str:
    half = "the locked half" if (rows["kind"] == "the locked half").any() else "the development half"
    values = rows.filter(pl.col("kind") == half)["value"]
    middle = values.quantile(0.5, "linear")
    if middle is None:
        return ""
    return f"In the median of {len(values)} tables of {half} the sum of its parts explains {middle:.2f} (R²)"


def _on(count: int, of: int, what: str) -> str:
    return f"{what} on {count} of {of} tables" if of else ""


def _beyond_one(rows: pl.DataFrame) -> str:
    both = rows.drop_nulls([ADDING, ONE])
    better = int((both[ADDING] > both[ONE]).sum())
    return _on(better, both.height, "Adding up explains more than the best single factor, chosen in hindsight,")


def _forest_loses(rows: pl.DataFrame) -> str:
    gains = rows.filter(pl.col("learner") == FOREST)["gain"]
    return _on(int((gains < 0).sum()), len(gains), "Adding up errs less than a forest as it comes")


def _foretold(rows: pl.DataFrame) -> str:
    near = (rows["forecast"] / rows["realised"]).is_between(1 / 1.3, 1.3)
    return f"{near.sum()} of {rows.height} forecasts are within three tenths of what came" if rows.height else ""


def _advised(rows: pl.DataFrame) -> str:
    some = rows.filter(pl.col("plan") == f"{ADVISED}, {MORE}")["value"]
    return _on(int((some < 0).sum()), len(some), "Advised cells leave smaller errors than as many at random")


FIGURES = (
    dots("how-much", "How much of an unseen combination is the sum of its parts", table="each", group="kind",
         value="value", prepare=_by_kind, fitted=False, axis="R² of adding up on unseen cells", domain=(LOWEST, 1),
         reference=0.0, noun="table", finding=_how_much),
    drawn("every-table", "Every table by its name", table="each", prepare=_each, draw=_draw_each, finding=_beyond_one),
    scatter("halves", "Every claim read on the other half", table="readings", x="development", y="value", by="read on",
            prepare=_second, fitted=False, x_title="figure of the development half", y_title="read otherwise"),
    scatter("forecast", "What “check” forecast, and what came", table="measured", x="forecast", y="realised",
            by="half", facet="holes", prepare=_forecasts, fitted=False, x_title="forecast error",
            y_title="realised error", finding=_foretold),
    scatter("crossover", "Where learners win", table="measured", x="explains", y="gain", by="half",
            facet="learner", prepare=_gains, fitted=False, finding=_forest_loses, diagonal=False,
            x_title="R² of adding up (other hold-outs)",
            y_title="log of its error over the learner's"),
    scatter("shrinkage", "What kernel theory foretells of networks", table="measured", x=KERNEL, y="observed",
            by="networks", prepare=_shrinkage, fitted=False, x_title="shrinkage that the kernel foretells",
            y_title="observed"),
    dots("collecting", "What to collect", table="measured", group="plan", value="value", prepare=_collected,
         fitted=False, axis="log of the error over that after as many cells at random", reference=0.0, noun="table",
         finding=_advised),
    drawn("ten-and-ten", "The ten tables that add up most, and the ten that add up least", table="cells",
          prepare=_extremes, draw=_draw_extremes),
)  # fmt: skip
