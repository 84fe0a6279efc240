"""What is drawn of the study's tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from recombine.studies.charts import curves, dots, drawn, scatter
from recombine.studies.forced_rendering.needed import CNN_LONG, LOCATED, SUMS, WIDE
from recombine.studies.forced_rendering.networks import KINDS

RUN = pl.col("run")
SHOWN = RUN.is_in(["mlp-one-hot", "cnn", "pixel", "pixel-stripes", "pixel-variance", "embedding",
                   "embedding-regularised", "embedding-rank", "embedding-nuclear", "stripe-decoder",
                   "coordinate", "cnn-stripes"])  # fmt: skip
LAYERED = RUN.is_in(["mlp-one-hot", "pixel", "pixel-variance", "stripe-decoder", "coordinate", "cnn"])
ROLES = ("input", "first hidden", "last hidden", "output")
ERROR = "log₁₀ of the unseen error over a blank picture's"


def _ordered(table: pl.DataFrame) -> pl.DataFrame:
    """Kinds in the order in which the study names them, and the error on a logarithmic line where there is one."""
    found = table.sort(RUN.cast(pl.Enum(list(KINDS))), maintain_order=True)
    return found.with_columns(error=pl.col("over_blank").log10()) if "over_blank" in found.columns else found


def _aside(table: pl.DataFrame) -> pl.DataFrame:
    """Networks that have not fitted are set aside, unless none has: then all are shown, as after a few steps."""
    found = _ordered(table)
    if not found["fitted"].any():
        return found
    return found.with_columns(pl.when("fitted").then(pl.col("error", "nonnegative")).otherwise(None))


def _layers(table: pl.DataFrame) -> pl.DataFrame:
    at = pl.col("role").replace_strict({role: i for i, role in enumerate(ROLES)}).alias("layer_number")
    scores, index = ["additive", "multiplicative", "released"], ["kind", "member", "layer_number"]
    return _ordered(table).with_columns(at).unpivot(scores, index=index, variable_name="score")


def _strongest(table: pl.DataFrame) -> pl.DataFrame:
    best = table.group_by("score", "where", maintain_order=True).agg(pl.col("rho").mean().abs().alias("strength"))
    kept = best.drop_nulls("strength").sort("strength", descending=True).head(14)
    mark = pl.when(pl.col("where") == "seen").then(pl.lit(" (seen only)")).otherwise(pl.lit(""))
    rows = kept.join(table, on=["score", "where"], how="left", maintain_order="left")
    return rows.with_columns(label=pl.concat_str("score", mark))


PLAIN = ~pl.col("kind").is_in([SUMS, WIDE, CNN_LONG])
SETS = {0.0: "bumps alone", 0.5: "a quarter of the stripes", 1.0: "half of the stripes", 2.0: "all stripes"}
POWERS = {1: "∝ N", 2: "∝ N²", 3: "∝ N³"}


def _sets(table: pl.DataFrame) -> pl.DataFrame:
    """The smallest and the largest side."""
    side = pl.col("side")
    ends = table.filter((side == side.min().over("kind")) | (side == side.max().over("kind")))
    return ends.with_columns(facet=pl.format("{}, side {}", "kind", "side"), set=pl.col("share").replace_strict(SETS))


def _exponents(table: pl.DataFrame) -> pl.DataFrame:
    """Examples needed on a logarithmic line, and how they would grow as powers of N from those of bumps alone."""
    facet, side, examples = pl.format("{}: {}", "kind", "criterion"), pl.col("side"), pl.col("examples")
    known = table.drop_nulls("examples").sort("side", maintain_order=True).filter(pl.col("share") != 0.5)
    known = known.with_columns(examples.log10(), facet=facet, set=pl.col("share").replace_strict(SETS))
    alone = known.filter(pl.col("share") == 0).with_columns(pl.col("side", "examples").first().over("facet", "member")
                                                            .name.prefix("first_"))  # fmt: skip
    grown = (side / pl.col("first_side")).log10()
    guides = [alone.with_columns(examples=pl.col("first_examples") + power * grown, set=pl.lit(name))
              for power, name in POWERS.items()]  # fmt: skip
    return pl.concat(part.select("facet", "side", "set", "examples") for part in (known, *guides))


def _draw_pictures(rows: pl.DataFrame) -> Any:
    shown = []
    # What is held out differs between kinds, and with it the combination asked for: each has its target beside it.
    for part in rows.with_columns(cells=pl.len().over("run")).partition_by("cells", "x", "y", maintain_order=True):
        first = part.filter(pl.col("run") == part["run"][0])
        target = first.select(pl.lit("the target").alias("kind"), "column", "row", output="target")
        shown.append(pl.concat([target, part.select("kind", "column", "row", "output")]))
    return _maps(shown, "column", "row", "output", "what is drawn; 0 is the background")


def _draw_volume(rows: pl.DataFrame) -> Any:
    # Sides differ between kinds at quick scale: those of one side are drawn together.
    parts = rows.partition_by("side", maintain_order=True)
    return _maps(parts, "x", "y", "relative", "log₁₀ of the volume over its mean")


def _maps(parts: list[pl.DataFrame], x: str, y: str, value: str, title: str) -> Any:
    """One map per kind, those of a part together; the middle of the square is 0."""
    from recombine.figures import column, maps

    middle = pl.col(x).max().over("kind") / 2
    most = max(part["kind"].n_unique() for part in parts)
    charts = [maps(part.with_columns(pl.col(x, y) - middle), x, y, value, "kind", domain=(-1.0, 1.0), boundary=False,
                   sized_for=most, x_title="x", y_title="y", value_title=title) for part in parts]  # fmt: skip
    return charts[0] if len(charts) == 1 else column(*charts)


def _need_shows(rows: pl.DataFrame) -> str:
    """From how many examples on most bumps are placed, at the largest side of each kind, by what else is trained on."""
    kind, side = (pl.col("facet").str.split(", side ").list.get(i) for i in (0, 1))
    named, told = rows.with_columns(kind=kind, side=side.cast(pl.Int64)), []
    for (name,), part in named.filter(pl.col("side") == pl.col("side").max().over("kind")).group_by("kind"):
        found = {of: _from(part.filter(pl.col("set") == of)) for of in (SETS[2.0], SETS[0.0])}
        needs = " and ".join(f"{number:,} examples with {of}" for of, number in found.items() if number)
        told += [f"the {name} needs {needs}"] if all(found.values()) else []
    return f"To place {LOCATED:.0%} of the bumps at the largest side, {'; '.join(sorted(told))}" if told else ""


def _from(rows: pl.DataFrame) -> int | None:
    """The fewest examples from which on the mean stays above the line."""
    below = rows.filter(pl.col("mean") < LOCATED)["examples"].max()
    enough = rows.filter(pl.col("examples") > (0 if below is None else below))["examples"]
    return None if enough.is_empty() else int(enough.min())  # type: ignore[arg-type]


FIGURES = (
    drawn("pictures", "What is drawn for a combination that was never seen", SHOWN,
          pl.col("member") == pl.col("member").min(), table="drawings", draw=_draw_pictures, prepare=_ordered),
    dots("errors", "Every network: the error on unseen combinations", table="networks", group="kind", value="error",
         prepare=_aside, fitted=False, axis=ERROR, reference=0.0),
    scatter("where-and-what", "Where the bump is, and what is drawn", table="networks", x="error", y="located",
            by="remedy", prepare=_aside, fitted=False, diagonal=False, x_title=ERROR,
            y_title="unseen bumps within one pixel",
            names={"remedy": dict.fromkeys(("low rank alone", "even vectors alone"), "half of what forces it")}),
    curves("training", "While the seen error falls", LAYERED, pl.col("step") > 1, table="training", x="step",
           y="error", by="split", facet="kind", sort=False, prepare=_ordered, fitted=False, log_x=True, reference=0.0,
           x_title="step", y_title="log₁₀ error",
           names={"split": {"seen": "seen combinations", "unseen": "unseen combinations"}}),
    curves("layers", "Re-entanglement, layer by layer", LAYERED, pl.col("where") == "all",
           pl.col("role").is_in(ROLES), table="layers", x="layer_number", y="value", by="score", facet="kind",
           sort=False, prepare=_layers, fitted=False, y_domain=(0, 1), y_title="score",
           x_title="layer: 0 input, 1 first hidden, 2 last hidden, 3 output",
           names={"score": {"additive": "share of a sum over factors", "released": "the released score",
                            "multiplicative": "share of a product of kernels"}}),
    dots("superposition", "Memorization as superposition?", table="networks", group="kind", value="nonnegative",
         prepare=_aside, fitted=False, axis="share of an unseen output that is a sum of seen outputs", domain=(0, 1)),
    dots("scores", "Which score predicts composition", table="replicates", group="label", value="rho",
         prepare=_strongest, fitted=False, axis="Spearman's ρ with the unseen error, over kinds", domain=(-1, 1),
         reference=0.0),
    curves("need", "Examples needed, with and without stripes", PLAIN, table="need", x="examples", y="located",
           by="set", facet="facet", sort=False, prepare=_sets, fitted=False, log_x=True, y_domain=(0, 1),
           reference=LOCATED, y_title="bumps placed", x_title="training examples, stripes counted",
           finding=_need_shows),
    curves("exponents", "How the examples needed grow with the side", PLAIN, table="fewest", x="side", y="examples",
           by="set", facet="facet", sort=False, prepare=_exponents, fitted=False, log_x=True,
           x_title="side N of the square", y_title="log₁₀ of the examples needed"),
    dots("sweeps", "Exact regression: wider codes, smaller boxes", table="kernels", group="problem", value="over_blank",
         fitted=False, axis="unseen error over a blank picture's", reference=1.0, noun="depth"),
    dots("reading", "The reverse task: unseen bumps that are read", table="reading", group="reader", value="read",
         prepare=lambda rows: rows.filter("fitted") if rows["fitted"].any() else rows, fitted=False,
         axis="share of unseen bumps, both coordinates within half a pixel", domain=(0, 1)),
    drawn("volume", "Volume of the last hidden layer over the square", table="volume", draw=_draw_volume,
          prepare=_ordered),
)  # fmt: skip
