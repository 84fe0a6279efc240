"""What is kept of the runs, a row per network and per kernel, and what is derived from it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations as combinations_of
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.kernels.closed_forms import context_margin_least_squares
from recombine.kernels.problems import context_dependence
from recombine.runs import StoredRun
from recombine.statistics import jackknife, spearman
from recombine.studies.kernel_theory.image_claims import CONTEXT_ACCURACY, SLOPES
from recombine.studies.kernel_theory.sets import DEPTHS, PARTS, WEIGHTS
from recombine.studies.study import Setting
from recombine.studies.tables import beside, last

_TOLD = (pl.col("task") == "both") | (pl.col("distance") == 20)
"""Sets and distances that had been trained when `reading` was declared."""
PREDICTED = {"start": "s1_start", "end": "s1_end", "tangent_start": "tangent_s1_start"}


def networks(run: StoredRun, setting: Setting) -> pl.DataFrame:
    """What each network does on unseen combinations, and what its features predicted."""
    about, measured = setting.labels, run.table("salience")
    leak = last(run.table("leak")).drop("step")
    parts = [leak, run.table("additivity").drop("step", "combinations", "rank")]
    sides = run.tables.get("per_combination")
    codes = leak.select("member", unseen_accuracy="right")
    if (kernel := run.tables.get("kernel_leak")) is not None:
        parts += [kernel.filter(which).select("member", pl.col("slope").alias(f"predicted_all_{when}"))
                  for when, which in (("start", pl.col("step") == 0), ("end", pl.col("step") > 0))]  # fmt: skip
    parts += [codes if sides is None else _by_side(sides), _at(measured, str(about["features"])),
              _at(measured, "tangent", "tangent_")]  # fmt: skip
    table = beside(run.table("members").select("member", "final_loss"), *parts)
    if isinstance(p := about.get("anchors"), int):
        table = table.with_columns(_leak(pl.col(s), p).alias(f"predicted_{when}") for when, s in PREDICTED.items())
    if about["task"] == "cd3":
        table = table.with_columns(
            _context_margin(table[s], table[s.replace("s1", "s2")]).alias(f"predicted_margin_{when}")
            for when, s in PREDICTED.items()
        )
    return table


def along(run: StoredRun, _: Setting) -> pl.DataFrame | None:
    """Slopes along training, where they were taken more than once."""
    leak = run.table("leak")
    return leak.select("member", "step", "slope", "seen_slope", "right") if leak["step"].n_unique() > 1 else None


def trained(run: StoredRun, _: Setting) -> pl.DataFrame:
    """Slopes over unseen pairs of new images and of trained ones."""
    both = {"new": last(run.table("leak")), "trained": run.table("leak_trained")}
    return pl.concat(rows.select("member", "slope", images=pl.lit(images)) for images, rows in both.items())


def by_images(run: StoredRun, _: Setting) -> pl.DataFrame:
    """Accuracy on seen and on unseen combinations and additivity over unseen ones, of new images and of trained."""
    names = {"new": ("per_combination", "additivity"), "trained": ("trained_combinations", "additivity_trained")}
    return pl.concat(
        beside(_by_side(run.tables[sides]), run.table(sums).select("member", "additivity")).with_columns(
            images=pl.lit(images)
        )
        for images, (sides, sums) in names.items()
    )


def ordered(networks: pl.DataFrame) -> pl.DataFrame:
    """Spearman's ρ between the slopes of image networks and what is foretold of them, within a set and a distance and
    averaged over these: one jackknife value per network, which has the same map of digits in all of them."""
    names = ("predicted_end", "predicted_all_end", "predicted_all_start")
    known = networks.filter((pl.col("network") == "convnet") & pl.col("anchors").is_not_null() & pl.col("fitted"))
    rows = []
    for name in names if set(names) <= set(known.columns) else ():
        whole = known.drop_nulls(name)
        runs, slopes, foretold = (whole[column].to_numpy() for column in ("run", "slope", name))

        def mean(
            kept: NDArray[np.int64], runs: Any = runs, slopes: Any = slopes, foretold: Any = foretold
        ) -> float | None:
            each = [
                spearman(*(side[kept][runs[kept] == run] for side in (slopes, foretold))) for run in np.unique(runs)
            ]
            found = [rho for rho in each if rho is not None]
            return float(np.mean(found)) if found and len(found) == len(each) else None

        values = jackknife(mean, whole["member"].to_list()) or {}
        rows += [{"predicted": name, "member": member, "rho": rho} for member, rho in values.items()]
    return pl.DataFrame(rows, schema={"predicted": pl.String, "member": pl.Int64, "rho": pl.Float64})


def reading(trained: pl.DataFrame) -> pl.DataFrame:
    """How much trained images weigh in the published slopes: the w that brings (1 − w) · new + w · trained nearest to
    them, new and trained the mean slopes of networks trained as the paper trains, over the sets and distances that were
    trained last. One jackknife value per network, which has the same maps in all of them."""
    return _weight_of_trained(trained.filter((pl.col("network") == "convnet-faithful") & ~_TOLD), "slope", SLOPES)


def reading_of_contexts(by_images: pl.DataFrame) -> pl.DataFrame:
    """The same of the published accuracies of context dependence: of the cells of its first claim, and of the two
    that came ``later``."""
    published = {f"cd{k}": values for k, values in CONTEXT_ACCURACY.items()}
    sides = {False: pl.col("distance") >= 10, True: pl.col("distance") < 10}
    return pl.concat(
        _weight_of_trained(by_images.filter(which), "unseen_accuracy", published).with_columns(later=pl.lit(later))
        for later, which in sides.items()
    )


def _weight_of_trained(known: pl.DataFrame, value: str, published: Mapping[str, Mapping[int, float]]) -> pl.DataFrame:
    known = known.with_columns(
        pl.struct("task", "distance")
        .map_elements(lambda at: published[at["task"]][at["distance"]], return_dtype=pl.Float64)
        .alias("published")
    )
    sides = known.pivot("images", index=["task", "distance", "member", "published"], values=value)
    if sides.is_empty() or not {"new", "trained"} <= set(sides.columns):
        return pl.DataFrame(schema={"member": pl.Int64, "weight": pl.Float64})

    def weight(kept: NDArray[np.int64]) -> float | None:
        means = (
            sides[kept]
            .group_by("task", "distance", maintain_order=True)
            .agg(pl.col("new", "trained", "published").mean())
        )
        new, apart = means["new"].to_numpy(), (means["trained"] - means["new"]).to_numpy()
        found = float((apart * (means["published"].to_numpy() - new)).sum() / (apart**2).sum())
        return found if np.isfinite(found) else None

    values = jackknife(weight, sides["member"].to_list()) or {}
    return pl.DataFrame(
        {"member": list(values), "weight": list(values.values())}, schema={"member": pl.Int64, "weight": pl.Float64}
    )


def weights(kernels: pl.DataFrame) -> pl.DataFrame:
    """Sizes of the parts of a kernel machine's predicted signs, beside the paper's: the least sum over sub-combinations
    that training has, regressed over all combinations. Each unseen one has the mean sign of them all, which is that of
    each where all are right, or none, as they are; where that is not known, none."""
    rows = []
    fits = kernels.filter(sweep="depth", fit="hard margin").with_columns(pl.col("right").fill_null(0.5))
    for problem, kernel, right in fits.select("problem", "kernel", "right").iter_rows():
        if (printed := WEIGHTS.get((problem, kernel))) is None:
            continue
        asked = context_dependence(int(problem[-1]))
        signs = np.concatenate([asked.targets, asked.test_targets * (2 * right - 1)])
        found = _parts(asked.train, np.concatenate([asked.train, asked.test]), signs)
        rows += [(problem, kernel, part, found[part], size) for part, size in zip(PARTS, printed, strict=True)]
    schema = {"problem": pl.String, "kernel": pl.Int64, "part": pl.String, "weight": pl.Float64, "printed": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _parts(train: NDArray[Any], combinations: NDArray[Any], answers: NDArray[Any]) -> dict[str, float]:
    """Mean sizes of coefficients, by what their sub-combination is of."""
    columns, names = [], []
    for size in (1, 2, 3):
        for among in combinations_of(range(3), size):
            for levels in np.unique(train[:, among], axis=0):
                columns.append((combinations[:, among] == levels).all(axis=1))
                names.append(_part(among, levels[0]))
    indicators = np.array(columns, dtype=np.float64).T
    found = np.linalg.pinv(indicators - indicators.mean(axis=0), rcond=1e-8) @ (answers - answers.mean())
    return {part: float(np.abs(found[np.array(names) == part]).mean()) for part in PARTS}


def _part(among: tuple[int, ...], first: int) -> str:
    """Context (component 0) says which feature counts; a conjunction of it with that one is right."""
    if among == (0,) or 0 not in among or len(among) == 3:
        return "context" if among == (0,) else "memorization" if len(among) == 3 else "sensory"
    return "right conjunction" if among[1] == first + 1 else "wrong conjunction"


def _leak(salience: pl.Expr, p: int) -> pl.Expr:
    """p S / (1 + (p − 2) S), the slope with p anchors (Eq. 3)."""
    s = salience.clip(0.0, 0.5)
    return p * s / (1 + (p - 2) * s)


def _context_margin(s1: pl.Series, s2: pl.Series) -> pl.Series:
    """The least-squares margin of CD-3, of saliences brought into the triangle of kernels."""
    first, second = (s.to_numpy().astype(float).clip(0.0, most) for s, most in ((s1, 1 / 3), (s2, None)))
    scale = (3 * first + 3 * second).clip(1.0)
    margin = pl.Series(context_margin_least_squares(first / scale, second / scale))
    return margin.set(~(s1.is_finite() & s2.is_finite()).fill_null(False), None)


def _by_side(table: pl.DataFrame) -> pl.DataFrame:
    """Accuracy and loss over seen and over unseen combinations, by member."""
    sides = (("seen", pl.col("seen")), ("unseen", ~pl.col("seen")))
    return table.group_by("member", maintain_order=True).agg(
        pl.col(value).filter(side).mean().alias(f"{name}_{value}")
        for value in ("accuracy", "loss")
        for name, side in sides
    )


def _at(measured: pl.DataFrame, layer: str, prefix: str = "") -> pl.DataFrame:
    """S(1;C), S(2;C) and the violation of a layer before and after training, by member."""
    rows = measured.filter((pl.col("layer") == layer) & (pl.col("shared") > 0))
    last = pl.col("step") == pl.lit(rows["step"].max(), pl.Int64)
    return rows.group_by("member", maintain_order=True).agg(
        pl.col(value).filter(side & (pl.col("shared") == k)).first().alias(f"{prefix}{short}_{when}")
        for when, side in (("start", ~last), ("end", last))
        for value, k, short in (("salience", 1, "s1"), ("salience", 2, "s2"), ("violation", 1, "violation"))
    )


def phase(kernels: pl.DataFrame) -> pl.DataFrame:
    """Which of CD-1, CD-2 and CD-3 each kernel solves, by loss; `depth` names kernels of networks, null on the grid."""
    rows = kernels.filter(pl.col("sweep").is_in(["context", "depth"]))
    if rows.is_empty():
        return pl.DataFrame(schema={"fit": pl.String, "s1": pl.Float64, "s2": pl.Float64, "solved": pl.String})
    wide = rows.group_by(["sweep", "fit", "kernel", "s1", "s2"], maintain_order=True).agg(
        *((pl.col("right").filter(pl.col("problem") == f"CD-{k}").first() > 0.5).alias(f"cd{k}") for k in (1, 2, 3)),
        pl.col("margin").filter(pl.col("problem") == "CD-3").first().alias("margin_cd3"),
    )
    solved = (
        pl.when(pl.col("cd3") & pl.col("cd2") & pl.col("cd1")).then(pl.lit("all three"))
        .when(pl.col("cd2") & pl.col("cd1")).then(pl.lit("CD-1 and CD-2"))
        .when(pl.col("cd1")).then(pl.lit("CD-1")).otherwise(pl.lit("none"))
    )  # fmt: skip
    names = dict(enumerate([*(f"{d}" for d in DEPTHS), "R²"]))
    depth = pl.when(pl.col("sweep") == "depth").then(
        pl.col("kernel").replace_strict(names, default=None, return_dtype=pl.String)
    )
    return wide.with_columns(solved.alias("solved"), depth.alias("depth"))
