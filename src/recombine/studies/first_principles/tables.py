"""From runs to tables: networks, the published table beside ours, verdicts beside outcomes, what follows what."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import polars.selectors as cs

from recombine.runs import StoredRun
from recombine.statistics import summarise
from recombine.studies.first_principles.runs import LONG, MODES, ROWS
from recombine.studies.study import Rows, Setting
from recombine.studies.tables import beside, last

FIT = {"vectors": 0.9, "sprites": 0.25, "sprites, longer": 0.25, "sprites, besides": 0.25, "small sprites": 0.25,
       "small sprites, besides": 0.25, "small sprites, supports": 0.25}  # fmt: skip
"""No verdict on a network that explains less than this of its own training support (R²)."""
ASSUMPTIONS = ("A0", "A1", "A2", "A3", "A4")


def networks(run: StoredRun, setting: Setting) -> pl.DataFrame:
    """One row per network: error and R² where it was trained, everywhere, and strictly elsewhere; ``loss`` is R² seen
    less unseen, null where nothing is unseen."""
    ends, kept = last(run.table("generalization")).rename({"blank_r2": "blank"}), ("mse", "r2", "r2_batches")
    of = [
        ends.filter(pl.col("split") == split).select("member", *(pl.col(c).alias(f"{c}_{split}") for c in names))
        for split, names in (("id", (*kept, "blank")), ("all", (*kept, "blank")), ("ood", kept))
    ]
    about = ends.filter(pl.col("split") == "id").select("member", "collapsed", "shown")
    good = (pl.col("r2_id") >= FIT[str(setting.labels["family"])]) & ~pl.col("collapsed")
    return beside(run.table("members").select("member", "diverged_at"), *of, about).with_columns(
        (good & pl.col("diverged_at").is_null()).fill_null(False).alias("fitted"),
        (pl.col("r2_id") - pl.col("r2_ood")).alias("loss"),
    )


def measured(name: str) -> Rows:
    """What a measure gave at the end, and which networks fitted."""
    return lambda run, setting: _judged(run.table(name).drop("step"), run, setting), name


def pictures(run: StoredRun, setting: Setting) -> pl.DataFrame:
    """What is drawn, to three digits, as it is shown."""
    return _judged(run.table("reconstruction").drop("step"), run, setting).with_columns(cs.float().round(3))


def fit(run: StoredRun, setting: Setting) -> pl.DataFrame:
    """Along training: what is not explained (1 − R²) of the training support and of everything outside it, null where
    nothing is outside."""
    table, left, keys = run.table("generalization"), 1 - pl.col("r2"), ["member", "step"]
    seen = table.filter(pl.col("split") == "id").select(*keys, left.alias("seen"))
    unseen = table.filter(pl.col("split") == "ood").select(*keys, left.alias("unseen"))
    return _judged(beside(seen, unseen, on=keys), run, setting)


def jumps(run: StoredRun, setting: Setting) -> pl.DataFrame | None:
    """Of each network that was trained longer, the largest jump of its training error after a thousand steps: at which
    ``step``, to how many ``times`` the median of ten readings before it (each a mean over a 1024th of all steps), and
    after how many steps the median of five has come ``back`` to that; null: never."""
    if setting.labels["family"] not in ("sprites, longer", "sprites, besides"):
        return None
    loss, step, at, level = pl.col("loss"), pl.col("step"), pl.col("at"), pl.col("level")
    before, after = loss.rolling_median(10).shift(1).over("member"), loss.rolling_median(5).shift(-4).over("member")
    along = run.table("history").sort("member", "step").with_columns(before.alias("before"), after.alias("after"))
    along = along.filter(step > 1000).with_columns((loss / pl.col("before")).alias("times"))
    highest = pl.col("times").arg_max()
    told = along.group_by("member").agg(step.get(highest).alias("at"), pl.col("before").get(highest).alias("level"))
    since = (step - at).filter((step >= at) & (pl.col("after") <= level)).min()
    found = along.join(told, on="member", maintain_order="left").group_by("member", maintain_order=True)
    return found.agg(at.first().alias("step"), pl.col("times").max(), since.alias("back"))


def widths(run: StoredRun, setting: Setting) -> pl.DataFrame | None:
    """Runs that are points of a curve over the width of a band or a gap."""
    on_curve = "curve" in setting.labels
    return networks(run, setting).select("member", "fitted", "r2_id", "r2_ood") if on_curve else None


def assumptions(run: StoredRun, _: Setting) -> pl.DataFrame:
    """What was known of each setting before training; null: unknown."""
    table = run.table("verdicts")
    return table.select(pl.col("support").alias("setting"), "composition", "promises", *ASSUMPTIONS, "verdict")


def _judged(table: pl.DataFrame, run: StoredRun, setting: Setting) -> pl.DataFrame:
    return beside(table, networks(run, setting).select("member", "fitted")) if "member" in table.columns else table


def published(networks: pl.DataFrame) -> pl.DataFrame:
    """The published rows that were trained here: the authors' figures, ours with their interval, all members kept."""
    rows = [(name, *row.published, row.seeds) for name, row in (ROWS | LONG).items() if row.published]
    told = pl.DataFrame(rows, schema=["run", "published_r2", "published_mse", "seeds"], orient="row")
    each = networks.group_by("run", "kind", maintain_order=True)
    counts = each.agg(pl.len().alias("members"), pl.col("collapsed", "fitted").sum())
    ours = _summaries(networks, {"r2_all": "r2", "r2_batches_all": "r2_batches", "mse_all": "mse"})
    return counts.join(told, on="run", maintain_order="left").join(ours, on="run", maintain_order="left")


def verdicts(assumptions: pl.DataFrame, networks: pl.DataFrame) -> pl.DataFrame:
    """What was known before training beside what the networks did. ``holds``: A0 to A3; ``support_holds``: A2 and A3;
    null where that is unknown. A4 is in neither: before training it may be known to fail, never to hold."""
    a0, a1, a2, a3 = (pl.col(name) for name in ASSUMPTIONS[:4])
    known = assumptions.drop("run").rename({"setting": "of"})
    known = known.with_columns((a0 & a1 & a2 & a3).alias("holds"), (a2 & a3).alias("support_holds"))
    settings = networks.select("run", "kind", "family", "support").unique(maintain_order=True)
    outcome = _summaries(networks, {"r2_id": "seen", "r2_ood": "unseen", "loss": "loss"})
    of = pl.col("run").str.strip_suffix("-long").alias("of")
    found = settings.join(outcome, on="run", maintain_order="left").with_columns(of)
    return found.join(known, on="of", maintain_order="left").drop("of")


def foretold(verdicts: pl.DataFrame, networks: pl.DataFrame) -> pl.DataFrame:
    """Every network with a verdict on its setting: what it lost, and which assumptions held."""
    told = verdicts.select("run", "promises", "holds", "support_holds", *ASSUMPTIONS)
    about = ("run", "kind", "family", "support", "member", "fitted", "collapsed", "r2_id", "r2_ood", "loss")
    return networks.select(about).join(told, on="run", maintain_order="left")


def ranks(networks: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """For each member number Spearman's ρ between the published R² and ours over rows:
    over all, and (``r2_kept``) over those where this member did not collapse. It stands beside each of these rows. Of
    members those that every row has; null where one has no figure."""
    rows = networks.join(published.select("run", "published_r2"), on="run", maintain_order="left")
    rows = rows.drop_nulls("published_r2")
    every = pl.col("run").n_unique().over("member") == max(rows["run"].n_unique(), 3)
    rows = rows.filter(every)
    r2, kept = ("r2_all", "published_r2"), ~pl.col("collapsed")
    of_kept = (pl.col(name).filter(kept) for name in r2)
    rho = {"r2": pl.corr(*r2, method="spearman"), "r2_kept": pl.corr(*of_kept, method="spearman")}
    whole = pl.col("r2_all").is_finite().all()
    return rows.select(
        "run", "member", kept.sum().over("member").alias("rows_kept"),
        *(pl.when(whole).then(value).over("member").alias(name) for name, value in rho.items()),
        # A row in which nothing fitted says nothing of its rank.
        pl.col("fitted").any().over("run").all().alias("fitted"),
    )  # fmt: skip


def modes(networks: pl.DataFrame) -> pl.DataFrame:
    """Of every member that was trained longer, fitted or not, whether it collapsed, and of the narrowest band's to
    which of the two published modes it is nearer."""
    above = pl.col("r2_all").fill_nan(None) > sum(MODES) / 2
    high = pl.when(pl.col("run") == "diagonal-05-long").then(above).alias("high")
    mode = high.replace_strict({True: "high", False: "low"}, default=None).alias("mode")
    found = networks.filter(pl.col("run").is_in(list(LONG)))
    return found.select("run", "member", "collapsed", "r2_all", "r2_batches_all", high, mode)


def follows(fit: pl.DataFrame) -> pl.DataFrame:
    """For each network measured more than twice, of log(1 − R²) seen and unseen along training: the correlation, and
    to which ``power`` of the seen one the unseen falls."""
    positive = (pl.col("seen") > 0) & (pl.col("unseen") > 0)
    logs = [pl.col(name).filter(positive).log() for name in ("seen", "unseen")]
    networks = fit.sort("step", maintain_order=True).group_by("run", "kind", "member", "fitted", maintain_order=True)
    found = {"correlation": pl.corr(*logs), "power": pl.cov(*logs) / logs[0].var()}
    return networks.agg(pl.when(positive.sum() > 2).then(value).alias(name) for name, value in found.items())


def _summaries(networks: pl.DataFrame, columns: Mapping[str, str]) -> pl.DataFrame:
    """For each run the mean of each column over all its members, and its interval."""
    found = networks.select("run").unique(maintain_order=True)
    for column, name in columns.items():
        ends = (pl.col(end).alias(f"{name}_{end}") for end in ("low", "high"))
        part = summarise(networks, column, ["run"]).select("run", pl.col("mean").alias(name), *ends)
        found = beside(found, part, on="run")
    return found


KEPT = {
    "networks": (networks, "generalization"), "fit": (fit, "generalization"), "widths": (widths, "generalization"),
    "assumptions": (assumptions, "verdicts"), "recovery": measured("recovery"),
    "shares": measured("composition_shares"), "slots": measured("recombination"), "maps": measured("latent_map"),
    "pictures": (pictures, "reconstruction"), "jumps": (jumps, "history"),
}  # fmt: skip
DERIVED = {
    "published": (published, "networks"), "verdicts": (verdicts, "assumptions", "networks"),
    "foretold": (foretold, "verdicts", "networks"), "ranks": (ranks, "networks", "published"),
    "modes": (modes, "networks"), "follows": (follows, "fit"),
}  # fmt: skip
