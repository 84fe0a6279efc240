"""What is drawn of the study's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from recombine.statistics import summarise
from recombine.studies.charts import Prepare, chart, dots, drawn, scatter
from recombine.studies.first_principles.runs import (
    ABLATIONS,
    FAR,
    FAR_STEPS,
    LONG,
    LONG_STEPS,
    PAPER_STEPS,
    ROWS,
    VECTORS,
    WHOLE,
)
from recombine.studies.first_principles.tables import ASSUMPTIONS

PICTURES = 3
PROMISED = ("the theorem promises generalization", "it promises nothing")
PANELS = {"vectors": 0, "sprites": 1, "sprites, longer": 1, "small sprites": 2}
SHOWN = {"orthogonal": "compositional", "orthogonal-monolithic": "monolithic"}
MAPPED = {"orthogonal": "compositional", "gap": "compositional, gap in x1", "orthogonal-monolithic": "monolithic"}
KIND = pl.col("kind").str.strip_suffix(", trained longer")
LENGTHS = {LONG_STEPS: LONG, FAR_STEPS: FAR, PAPER_STEPS: WHOLE}
"""Rows that were trained so long; the last word of a run's name says it too."""
SAID_LENGTH = ", (trained longer|a quarter of the steps|all of the steps)$"
BEST, WORST = 0.99, 2.5
"""The ends of an axis on which 1 − R² is drawn by its logarithm: an R² and what is left."""
NEAR = 0.02
LARGE_ABLATIONS = {
    "orthogonal-long": "soft, separate", "shared-large": "soft, shared", "alpha-long": "alpha, shared",
    "matched-large": "soft on soft data, separate", "matched-shared-large": "soft on soft data, shared",
}  # fmt: skip
FITTED_ALONG = ["vector", "vector-monolithic", "vector-soft", "vector-gap-40"]


def _in_order(labels: Mapping[str, str]) -> Prepare:
    """Rows of the named runs in this order, labelled; collapsed members are kept and counted in the label."""
    place = {run: i for i, run in enumerate(labels)}
    gone = pl.col("collapsed").sum().over("run")
    told = pl.when(gone > 0).then(pl.format("; {} collapsed", gone)).otherwise(pl.lit(""))
    return lambda table: (
        table.filter(pl.col("run").is_in(list(labels)))
        .sort(pl.col("run").replace_strict(place, default=None), maintain_order=True)
        .with_columns((pl.col("run").replace(labels) + told).alias("label"))
    )


def _foretold(table: pl.DataFrame) -> pl.DataFrame:
    """What failed, in a few characters, beside the setting; those of which least fails come first. A black picture is
    as wrong seen as unseen, so members that collapsed are counted and left out."""
    failing = pl.concat_list(pl.when(~pl.col(a)).then(pl.lit(a)) for a in ASSUMPTIONS).list.drop_nulls()
    told = pl.lit("no\u00a0") + failing.list.join("\u00a0")
    words = pl.when(failing.list.len() == 0).then(pl.lit("promised")).otherwise(told)
    promised = pl.when(failing.list.len() == 0).then(pl.lit(PROMISED[0])).otherwise(pl.lit(PROMISED[1]))
    gone = pl.col("collapsed").sum().over("run")
    left = pl.when(gone > 0).then(pl.format("; {} collapsed", gone)).otherwise(pl.lit(""))
    label = pl.format("{}: {}{}", KIND, words, left).alias("label")
    found = table.drop_nulls("loss").with_columns(label, promised.alias("promised")).filter(~pl.col("collapsed"))
    of_support = pl.sum_horizontal(~pl.col("A2", "A3", "A4"))
    return found.sort(pl.col("family").replace_strict(PANELS, default=None), of_support, failing.list.len(), "loss")


def _foretold_shows(rows: pl.DataFrame) -> str:
    """What promised settings lose at most, and how many of the others lose no more."""
    means = rows.group_by("family", "label", "promised").agg(pl.col("loss").mean())
    kept, other = (means.filter(pl.col("promised") == whether)["loss"] for whether in PROMISED)
    if kept.is_empty() or other.is_empty():
        return ""
    worst = float(kept.max())  # type: ignore[arg-type]
    return (f"The {len(kept)} settings that the theorem promises lose at most {worst:.2f} of R² on average; of the "
            f"{len(other)} others {int((other <= worst).sum())} lose no more")  # fmt: skip


def _maps_show(rows: pl.DataFrame) -> str:
    means = rows.group_by("model", maintain_order=True).agg(pl.col("error").mean()).rows()
    found = [f"{model} {error:.2f}" for model, error in means if error is not None]
    return f"Mean error over the plane: {', '.join(found)} (1: no better than the mean picture)" if found else ""


def _pictures_show(rows: pl.DataFrame) -> str:
    """What is left of the pictures' variance, for either model."""
    of, number = (pl.col("panel").str.split(", ").list.get(i) for i in (0, 1))
    wide = rows.with_columns(of=of, number=number).pivot(on="of", index=["number", "x", "y"], values="shown")
    if not {"target", *SHOWN.values()} <= set(wide.columns):
        return ""
    spread = pl.col("target") - pl.col("target").mean()
    left = wide.select(((pl.col(name) - pl.col("target")) ** 2).sum() / (spread**2).sum() for name in SHOWN.values())
    found = zip(SHOWN.values(), left.row(0), strict=True)
    told = ", ".join(f"the {name} model gets {share:.0%} wrong" for name, share in found)
    return f"Of the variance of three pictures never seen {told}"


def _widths_show(rows: pl.DataFrame) -> str:
    means = rows.group_by("curve", "width").agg(pl.col("r2_ood").mean()).sort("curve", "width")
    told = []
    for (curve,), part in means.group_by("curve", maintain_order=True):
        (_, narrow, low), (_, wide, high) = part.row(0), part.row(-1)
        moves = "rises" if high > low else "falls"
        told.append(f"{curve}: {moves} from {low:.2f} (width {narrow:g}) to {high:.2f} ({wide:g})")
    return f"R² outside, {'; '.join(told)}"


def _verdicts(table: pl.DataFrame) -> pl.DataFrame:
    """Support and composition of each setting, vectors first."""
    named = pl.format("{}: {} · {}", "family", KIND, "composition").str.replace_all("_", " ")
    return table.with_columns(named.alias("setting")).sort(pl.col("family") != "vectors", maintain_order=True)


def _plain(table: pl.DataFrame) -> pl.DataFrame:
    """Runs by the names that they have at any scale."""
    return table.with_columns(pl.col("run").str.strip_suffix("-long"))


def _rows(table: pl.DataFrame) -> pl.DataFrame:
    """Members of every published row with the published figures; the highest come first, then who was trained less. The
    label says how long they were trained, or, of smaller pictures, how small they are."""
    steps = {name: (name.rpartition("-")[0], count) for count, names in LENGTHS.items() for name in names}
    lengths = pl.DataFrame([(run, of, count) for run, (of, count) in steps.items()], ["run", "row", "steps"],
                           orient="row")  # fmt: skip
    figures = [(name, row.published[0], *(row.reached or (None, None))) for name, row in ROWS.items() if row.published]
    published = pl.DataFrame(figures, ["row", "published", "lowest", "highest"], orient="row")
    found = table.join(lengths, on="run", how="left", maintain_order="left")
    found = found.with_columns(pl.col("row").fill_null(pl.col("run"))).join(published, on="row", maintain_order="left")
    share = (100 * pl.col("steps") / PAPER_STEPS).round_sig_figs(2).cast(pl.Int64)
    told = pl.when(pl.col("steps").is_null()).then(pl.format("{} pixels", "side")).otherwise(
        pl.format("{}\u00a0% of the steps", share))  # fmt: skip
    gone, count = pl.col("collapsed").sum().over("run"), pl.len().over("run")
    fell = pl.when(gone > 0).then(pl.format("; {} collapsed", gone)).otherwise(pl.lit(""))
    kind = pl.col("kind").str.replace(SAID_LENGTH, "")
    label = pl.format("{}{}\n{} members, {}", kind, fell, count, told).alias("label")
    return found.select(label, "run", "row", "support", "member", "steps", "collapsed", "r2_all", "published", "lowest",
                        "highest").sort("published", "row", "steps", descending=[True, False, False],
                                        maintain_order=True)  # fmt: skip


def _rows_show(rows: pl.DataFrame) -> str:
    """Over the rows that were trained long enough to be compared by value, as long as each was."""
    kept = rows.filter(pl.col("steps") == pl.col("steps").max().over("row"), ~pl.col("collapsed"))
    means = kept.group_by("row").agg(pl.col("r2_all").mean(), pl.first("published"))
    near = int(((means["r2_all"] - means["published"]).abs() <= NEAR).sum())
    return (f"Of {rows['row'].n_unique()} rows {len(means)} have a tenth of the paper's steps or more; trained as long "
            f"as each was, {near} of these are within {NEAR:g} of the published R²") if len(means) else ""  # fmt: skip


def _draw_rows(rows: pl.DataFrame) -> Any:
    """What is left to explain on a logarithmic axis, on which .95 and −.5 both have room; its labels say R²."""
    import altair as alt

    from recombine.figures import theme
    from recombine.figures.data import Datasets
    from recombine.figures.words import wrapped

    def left(table: pl.DataFrame, *names: str) -> pl.DataFrame:
        return table.with_columns((1 - pl.col(name).fill_nan(None)).clip(1 - BEST, WORST).alias(name) for name in names)

    means = summarise(rows.filter(~pl.col("collapsed")), "r2_all", ["label"])
    drawn, means = left(rows, "r2_all", "published", "lowest", "highest"), left(means, "mean", "low", "high")
    total, step, labels = theme.total_width(), 34, rows["label"].unique(maintain_order=True)
    room = round((0.5 if theme.is_narrow() else 0.34) * total)
    y = alt.Y("label:N", title=None, scale=alt.Scale(domain=labels.to_list(), paddingInner=0.15),
              axis=alt.Axis(labelExpr="split(datum.label, '\\n')", labelColor=theme.INK, labelLimit=room,
                            labelPadding=8, minExtent=room, maxExtent=room))  # fmt: skip
    said = (
        "R² on the whole cube, by the logarithm of 1\u00a0−\u00a0R². Line and band: published mean and seeds; dots: "
        "members; diamond: mean"
    )
    axis = alt.Axis(values=[1 - r2 for r2 in (-1, -0.5, 0, 0.5, 0.8, 0.9, 0.95, 0.98)], grid=True,
                    labelExpr="replace(format(1 - datum.value, '.2~f'), '0.', '.')")  # fmt: skip
    x = alt.X("r2_all:Q", title=wrapped(said, total - room - 20, theme.TEXT), axis=axis,
              scale=alt.Scale(type="log", domain=[WORST, 1 - BEST], nice=False))  # fmt: skip
    data = Datasets()
    members, each = data.add(drawn), data.add(drawn.unique("label", maintain_order=True).drop("collapsed", "member"))
    lower, upper = ({"yOffset": alt.value(step * part)} for part in (0.68, 0.3))
    ours = alt.Chart(data.add(means))
    fill = alt.condition("datum.collapsed", alt.value(theme.PAPER), alt.value(theme.PALETTE[0]))
    layers = [
        alt.Chart(each).mark_bar(color=theme.RULE, opacity=0.4, size=step - 6).encode(
            x=alt.X("lowest:Q"), x2="highest:Q", y=y),
        alt.Chart(each).mark_tick(color=theme.INK, thickness=1.5, size=step - 6).encode(x=alt.X("published:Q"), y=y),
        alt.Chart(members).mark_point(size=34, opacity=0.8, strokeWidth=1.2, stroke=theme.PALETTE[0], shape="circle")
        .encode(x=x, y=y, fill=fill, **upper),
        ours.mark_rule(strokeWidth=2.5, color=theme.PALETTE[1]).encode(x=alt.X("low:Q"), x2="high:Q", y=y, **lower),
        ours.mark_point(shape="diamond", filled=True, size=70, opacity=1, color=theme.PALETTE[1]).encode(
            x=alt.X("mean:Q"), y=y, **lower),
    ]  # fmt: skip
    chart = alt.layer(*layers).properties(width=total - room - 16, height=alt.Step(step))
    return theme.style(chart, data)


def _maps(table: pl.DataFrame) -> pl.DataFrame:
    """The mean over members of each cell."""
    mean = (pl.col("error") * pl.col("members")).sum() / pl.col("members").sum()
    cells = _plain(table).group_by("run", "x", "y", maintain_order=True).agg(mean)
    named = pl.concat(cells.filter(pl.col("run") == run) for run in MAPPED)
    return named.with_columns(pl.col("run").replace(MAPPED).alias("model"))


def _pictures(table: pl.DataFrame) -> pl.DataFrame:
    """The first pictures of the orthogonal rows: targets, then what either model draws."""
    rows = _plain(table).filter(pl.col("run").is_in(list(SHOWN)) & (pl.col("example") < PICTURES))
    shown = [(rows["run"][0], "target", "target"), *((run, label, "output") for run, label in SHOWN.items())]
    side = pl.lit(rows["row"].max()) + 1.0
    return pl.concat(
        rows.filter(pl.col("run") == run, pl.col("example") == example).select(
            ((pl.col("column") + 0.5) / side).alias("x"), (1 - (pl.col("row") + 0.5) / side).alias("y"),
            pl.col(value).alias("shown"), pl.lit(f"{label}, {example + 1}").alias("panel"),
        )
        for run, label, value in shown for example in range(PICTURES)
    )  # fmt: skip


OUTSIDE = "R² strictly outside the training support"
FIGURES = (
    drawn("foretold", "Did the verdict before training predict the outcome?", table="foretold", prepare=_foretold,
          finding=_foretold_shows,
          draw=chart("strips", "label", "loss", "promised", "family", groups=PROMISED, lanes=False, reference=0.0,
                     title="R² seen less R² unseen")),
    drawn("verdicts", "The verdict before training, and what was measured", table="verdicts", prepare=_verdicts,
          draw=chart("verdict_table", "setting", ASSUMPTIONS, {"seen": "R² seen", "unseen": "R² outside"})),
    drawn("rows", "The published table, row by row", table="networks", prepare=_rows, finding=_rows_show,
          draw=_draw_rows),
    drawn("pictures", "Three combinations that were never seen", table="pictures", prepare=_pictures,
          finding=_pictures_show,
          draw=chart("maps", "x", "y", "shown", "panel", domain=(-0.6, 0.6), boundary=False, axes=False, sized_for=4,
                     value_title="brightness; 0 is the background")),
    drawn("maps", "Where the error is", table="maps", prepare=_maps, finding=_maps_show,
          draw=chart("maps", "x", "y", "error", "model", domain=(0.0, 2.0), low_is_good=True,
                     x_title="x of the front sprite", y_title="x of the rear sprite",
                     value_title="squared error over the spread of the pictures; the line is at 1")),
    dots("ablations", "Composition, sharing, match and shifts apart", table="networks", group="label", value="r2_ood",
         fitted=False, axis=OUTSIDE, reference=0.0,
         prepare=_in_order({name: part.kind for name, part in ABLATIONS.items()}
                           | {name: f"64 pixels: {kind}" for name, kind in LARGE_ABLATIONS.items()})),
    dots("vectors", "Vectors, where every assumption can hold", table="networks", group="label", value="r2_ood",
         fitted=False, axis=OUTSIDE, reference=0.0,
         prepare=_in_order({name: part.kind for name, part in VECTORS.items() if part.support != "random"})),
    drawn("widths", "How wide a band or a gap may be", pl.col("r2_ood").is_not_null(), table="widths",
          prepare=lambda table: table.sort("curve", "member", "width").with_columns(
              missing=(1 - pl.col("r2_ood")).log10()), finding=_widths_show,
          draw=chart("lines_of_members", "width", "missing", "member", "curve", x_title="width of the band or gap",
                     y_title="log₁₀ of 1 − R² outside", own_x=True)),
    scatter("fit", "Does a better fit generalize better?", pl.col("run").is_in(FITTED_ALONG), table="fit", x="seen",
            y="unseen", by="kind", prepare=lambda table: table.with_columns(pl.col("seen", "unseen").log10()),
            fitted=False, x_title="log₁₀ of 1 − R² on the training support", y_title="log₁₀ of 1 − R² outside"),
    dots("learned", "What a learned composition becomes", pl.col("candidate") == "soft_occlusion", table="shares",
         group="kind", value="share", fitted=False, axis="learned weight of soft occlusion, which made the data",
         domain=(0, 1)),
    dots("slots", "Without latents", table="slots", group="what", value="value",
         prepare=lambda table: table.unpivot(["r2_seen", "r2"], index="member", variable_name="what"), fitted=False,
         names={"what": {"r2_seen": "reconstruction", "r2": "recombined slots"}}, axis="R²", domain=(0, 1)),
)  # fmt: skip
