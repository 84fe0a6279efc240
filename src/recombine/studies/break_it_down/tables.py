"""What is kept of the runs, and what is made of it: parts, summaries, tests, cells beside published ones, correlations.

The base is the unit: masks of one base are averaged first. ``published.csv`` has means over bases and mask seeds in the
authors' result files (test problems, bases below the gate left out): every cell of trained, pruned and untrained
networks. Untrained networks have the trained ones' settings there; here they are the mean of all settings of their
search that keep a weight.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path

import numpy as np
import polars as pl

from recombine.mechanisms._judge import FITTED
from recombine.runs import StoredRun
from recombine.statistics import by_base, jackknife_spearman, sign_flip, wild_cluster
from recombine.studies.study import Setting
from recombine.studies.tables import last

SCORES = ("sub_target", "sub_other", "abl_target", "abl_other")
SHOWN = ("d_sub", "d_abl")
IS = ("run", "task", "called")
FOUND = (pl.col("network") != "untrained") | (pl.col("kept") > 0)
"""An untrained network's mask that keeps no weight was not found: what the bare network does is not filled in."""
FEWEST = 8
"""Members below which a correlation is no evidence."""
ENOUGH, TENTHS, DIGIT_AND_SIZE = 100, "init_scale, in tenths", "on left digit and init_scale"
"""Members from which neighbours by the size of their first weights are compared, too."""
DIGITS_AND_SIZE = "on either digit and init_scale"
PREDICTORS = {"d_abl": "D_abl of the chosen masks", "d_abl_all": "D_abl, mean of all settings",
              "d_sub": "D_sub of the chosen masks", "d_sub_all": "D_sub, mean of all settings",
              "on left digit": "left digit alone, whole network", "on right digit": "right digit alone, whole network",
              "init_scale": "size of the first weights"}  # fmt: skip


def masks(run: StoredRun, _: Setting) -> pl.DataFrame | None:
    """The masks of a dissection; those along training are kept as means over members."""
    return None if "along" in run.tables else run.tables.get("masks")


def along(run: StoredRun, setting: Setting, task: str = "digit pairs") -> pl.DataFrame | None:
    """One row per member and step: accuracies, and the scores of its masks, chosen on validation and on average."""
    if setting.labels["task"] != task:
        return None
    search = run.table("masks").filter(pl.col("role") == "search").group_by("member", "step", maintain_order=True)
    d_abl, d_sub = pl.col("d_abl"), pl.col("d_sub")
    means = search.agg(
        d_abl_all=d_abl.mean(), d_sub_all=d_sub.mean(), passed=pl.col("passed").mean(),
        d_abl=d_abl.filter("chosen").mean(), d_sub=d_sub.filter("chosen").mean(),
        subroutines=pl.col("chosen").sum(), d_abl_passing=d_abl.filter("passed").mean(),
    )  # fmt: skip
    return run.table("along").join(means, on=["member", "step"], how="left").sort("member", "step")


def parts(bases: pl.DataFrame) -> pl.DataFrame:
    """One row per base and subroutine that it was asked for, whether or not it passed the gate."""
    alone = [name for name in bases.columns if name.startswith("on ")]
    rest = [name for name in bases.columns if name not in alone]
    found = bases.unpivot(alone, index=rest, variable_name="subroutine", value_name="alone").drop_nulls("alone")
    return found.with_columns(pl.col("subroutine").str.strip_prefix("on "))


def by_run(make: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """What is made of the masks of each run, one below the other."""

    def whole(masks: pl.DataFrame) -> pl.DataFrame:
        runs = masks.filter(FOUND).group_by("run", maintain_order=True)
        each = [(part.select(IS).head(1), make(part)) for _, part in runs]
        return pl.concat(is_.join(made, how="cross") for is_, made in each)

    return whole


def by_bases(masks: pl.DataFrame) -> pl.DataFrame:
    """For each network and subroutine, D_abl with the base as the unit: chosen masks, and all that pass."""
    rows = []
    search = masks.filter((pl.col("role") == "search") & pl.col("passed"))
    for (network, subroutine), part in search.group_by("network", "subroutine", maintain_order=True):
        for which, some in (("chosen", part.filter("chosen")), ("passing", part)):
            if some.height:
                means = by_base(some["d_abl"], some["base"])
                rows.append((network, subroutine, which, float(means.mean()), len(means), some.height, sign_flip(means),
                             wild_cluster(some["d_abl"], some["base"])))  # fmt: skip
    texts = dict.fromkeys(("network", "subroutine", "which"), pl.String)
    numbers = {"d_abl": pl.Float64, "bases": pl.Int64, "masks": pl.Int64, "p_signs": pl.Float64, "p_wild": pl.Float64}
    return pl.DataFrame(rows, schema={**texts, **numbers}, orient="row")


def cells(masks: pl.DataFrame) -> pl.DataFrame:
    """Published and measured accuracies of every cell that was measured; trained networks by their chosen masks."""
    own = (pl.col("role") == "search") & (pl.col("bases_of") == pl.col("run"))
    kept = masks.filter(own & FOUND & (pl.col("chosen") | (pl.col("network") == "untrained")))
    keys = ["task", "subroutine", "run", "called", "network"]
    bases = kept.group_by(*keys, "base", maintain_order=True).agg(pl.col(*SCORES, *SHOWN).mean())
    each = bases.sort("network", maintain_order=True).group_by(keys, maintain_order=True)
    means = each.agg(pl.col(*SCORES, *SHOWN).mean(), pl.len().cast(pl.Int64).alias("bases"))
    fresh = pl.when(pl.col("network") == "untrained").then(pl.lit(", untrained")).otherwise(pl.lit(""))
    ours = means.with_columns(pl.format("here: {}{}", "called", fresh).alias("network"))
    released = pl.read_csv(Path(__file__).with_name("published.csv"))
    places = released.select("task", "subroutine").unique(maintain_order=True).with_row_index("place")
    sides = {"published": released, "here": ours}
    whole = pl.concat([t.with_columns(pl.lit(name).alias("from")) for name, t in sides.items()], how="diagonal")
    both = whole.join(places, on=["task", "subroutine"]).sort("place", maintain_order=True)
    measured = both.filter((pl.col("from") == "here").any().over("place"))
    cell = pl.format("{}: {}", "task", "subroutine").alias("cell")
    return measured.select(cell, "from", "network", "bases", *SCORES, *SHOWN)


def signs(masks: pl.DataFrame) -> pl.DataFrame:
    """For each network and subroutine with masks that pass: whether the chosen one has the right sign on ``both``,
    and how often ``by_choosing`` alone it would, were the sign of every mask's D_abl a coin's and so, with it, that of
    the D_abl that it is chosen by. Exact: the mask with the i-th largest |D_abl| on validation is then chosen in 2⁻ⁱ of
    cases, as the first that comes out negative; where none does, the last is."""
    named = ["run", "bases_of", "task", "called", "kind", "rate", "pretraining", "network", "base", "subroutine"]
    val, d_abl, done = pl.col("val_d_abl"), pl.col("d_abl"), pl.col("d_sub") > 0
    alike = pl.when(val == 0).then(0.5 * (d_abl != 0)).otherwise(val.sign() * d_abl > 0) * done
    apart = pl.when(val == 0).then(0.5 * (d_abl != 0)).otherwise(val.sign() * d_abl < 0) * done
    search = masks.filter((pl.col("role") == "search") & pl.col("passed")).sort(-val.abs(), maintain_order=True)
    found = search.group_by(named, maintain_order=True).agg(
        masks=pl.len().cast(pl.Int64), both=(done & (d_abl < 0)).filter("chosen").first().cast(pl.Float64),
        by_choosing=(alike * 0.5 ** pl.int_range(1, pl.len() + 1)).sum() + apart.last() * 0.5 ** pl.len(),
    )  # fmt: skip
    return found.sort(named).with_columns((pl.col("both") - pl.col("by_choosing")).alias("beyond_choosing"))


def ranks(along: pl.DataFrame) -> pl.DataFrame:
    """Spearman's ρ of each predictor with accuracy on unseen combinations, ``given`` another where one is named, over
    members of a run that do their own task: one jackknife value per member, and none for the others. ``strength``: of
    |ρ|. `TENTHS`: given the size of the first weights in ranks, and which of ten groups of neighbours it falls into."""
    return pl.concat(_ranks(run) for _, run in last(along).group_by("run", maintain_order=True))


def _ranks(asked: pl.DataFrame) -> pl.DataFrame:
    found = []
    held = {"on left digit": ["on left digit"], "init_scale": ["init_scale"]}
    if asked.height >= ENOUGH:
        tenth = (pl.col("init_scale").rank("ordinal") * 10 / (pl.len() + 1)).floor().cast(pl.Int64)
        asked = asked.with_columns((tenth == i).cast(pl.Float64).alias(f"tenth {i}") for i in range(1, 10))
        held[TENTHS] = ["init_scale", *(f"tenth {i}" for i in range(1, 10))]
        held[DIGIT_AND_SIZE] = ["on left digit", "init_scale"]
        held[DIGITS_AND_SIZE] = ["on left digit", "on right digit", "init_scale"]
    for score, given in (*((name, None) for name in PREDICTORS), *(("d_abl_all", given) for given in held)):
        values = _rho(asked.filter("gated"), score, "unseen", *held.get(given or "", ()))
        each = [values.get(member) for member in asked["member"]]
        sign = np.sign(np.mean(list(values.values()))) if values else None
        found.append(asked.select(
            "run", pl.lit(score).alias("score"), pl.lit(given, pl.String).alias("given"), "member",
            pl.Series("value", each, pl.Float64), (pl.Series(each, dtype=pl.Float64) * sign).alias("strength"),
        ))  # fmt: skip
    return pl.concat(found)


def of_one_size(alike_ranks: pl.DataFrame, many_ranks: pl.DataFrame) -> pl.DataFrame:
    """The values of D_abl of all members that start from 8 times the usual size, of both runs."""
    both = pl.concat([alike_ranks, many_ranks.filter(run="digit-pairs-eight")])
    return both.filter(pl.col("score") == "d_abl_all", pl.col("given").is_null())


def _rho(asked: pl.DataFrame, *names: str) -> dict[Hashable, float]:
    """Spearman's ρ of two columns, given further ones where they are named: one jackknife value per member that has
    all."""
    known = asked.drop_nulls(names)
    first, second, *given = known.select(names).to_numpy().T
    held = np.column_stack(given) if given else None
    found = jackknife_spearman(first, second, known["member"].to_list(), held) if known.height >= FEWEST else None
    return found or {}


def same_start(run: StoredRun, _: Setting) -> pl.DataFrame | None:
    """One row per network of two factors: its errors on seen and on unseen combinations, and D_abl of its masks."""
    if "modularity" not in run.tables:
        return None
    error, seen = pl.col("error"), pl.col("seen")
    by = last(run.table("per_combination")).group_by("member", maintain_order=True)
    ends = by.agg(seen_error=error.filter(seen).mean(), error=error.filter(~seen).mean())
    ends = ends.with_columns((pl.col("seen_error") < FITTED).alias("fitted"))
    return ends.join(run.table("modularity").select("member", "d_abl", "passed"), on="member").sort("member")


def same_ranks(same_start: pl.DataFrame) -> pl.DataFrame:
    """For each task Spearman's ρ over networks that fit: of D_abl, the mean of both searches, with the ``error`` on
    unseen combinations, the same ``given`` the error on seen ones, and of one search ``again`` with the other."""
    found = []
    for (task,), part in same_start.group_by("task", maintain_order=True):
        each = part.filter("fitted").pivot("search", index=["member", "error", "seen_error"], values="d_abl")
        if {"0", "1"} <= set(each.columns):
            each = each.with_columns(((pl.col("0") + pl.col("1")) / 2).alias("d_abl"))
            asked = {"error": ("d_abl", "error"), "given": ("d_abl", "error", "seen_error"), "again": ("0", "1")}
            found += [(part["run"][0], task, score, member, value) for score, names in asked.items()
                      for member, value in _rho(each, *names).items()]  # fmt: skip
    schema = {"run": pl.String, "task": pl.String, "score": pl.String, "member": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(found, schema=schema, orient="row")


def correlations(ranks: pl.DataFrame) -> pl.DataFrame:
    """ρ of each predictor: the mean of its jackknife values."""
    each = ranks.group_by("score", "given", maintain_order=True)
    means = each.agg(pl.col("value").count().cast(pl.Int64).alias("members"), pl.col("value").mean().alias("rho"))
    return means.select(pl.col("score").replace(PREDICTORS), pl.col("score").alias("column"), "given", "members", "rho")
