"""How the claims read the study's tables: the values of networks that fitted, and of kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np
import polars as pl

from recombine.studies.claims import Evidence, Reader, Tables

Rows = Callable[[Tables], pl.DataFrame]
LAZY = 1.0


def networks(run: str, *, lazy: bool | None = None, pattern: bool = False) -> Rows:
    """The networks of a run (of every run that matches, with ``pattern``): all, those at σ = 1, or the richest."""

    def rows(tables: Tables) -> pl.DataFrame:
        table = tables["networks"]
        table = table.filter(pl.col("run").str.contains(run) if pattern else pl.col("run") == run)
        if lazy is not None and not table.is_empty():
            wanted = LAZY if lazy else table["sigma"].min()
            table = table.filter(pl.col("sigma") == wanted)
        return table.sort("run", "member")

    return rows


def at_distance(network: str, task: str, place: int) -> Rows:
    """The image networks of a task at its nearest (0) or farthest (−1) distance."""

    def rows(tables: Tables) -> pl.DataFrame:
        table = tables["networks"].filter((pl.col("network") == network) & (pl.col("task") == task))
        distances = sorted(table["distance"].drop_nulls().unique().to_list())
        return table.filter(pl.col("distance") == distances[place]) if distances else table

    return rows


def fitted(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("fitted").fill_null(True))


def of(rows: Rows, column: str | pl.Expr) -> Reader:
    """One value a network that fitted."""

    def evidence(tables: Tables) -> Evidence:
        table = rows(tables)
        return Evidence.of(_values(fitted(table), column), members=len(table))

    return evidence


def by_member(rows: Rows, column: str | pl.Expr, worst: bool = False) -> Reader:
    """One value a member number whose networks all fitted, over several runs: their mean, or the smallest with
    ``worst``. Networks of one number start from the same seed in every run, so they count once."""

    def evidence(tables: Tables) -> Evidence:
        table = rows(tables)
        value = (pl.col(column) if isinstance(column, str) else column).cast(pl.Float64)
        known = pl.col("fitted").fill_null(True) & value.is_not_null() & value.is_finite()
        each = table.group_by("member", maintain_order=True).agg(
            known.all().alias("known"), (value.min() if worst else value.mean()).alias("value")
        )
        return Evidence.of(_values(each.filter("known"), "value"), members=len(each))

    return evidence


def order(groups: list[Rows], column: str | pl.Expr) -> Reader:
    """One group a set of networks, each with the number that was trained."""

    def evidence(tables: Tables) -> Evidence:
        found = [rows(tables) for rows in groups]
        return Evidence.of(*(_values(fitted(table), column) for table in found), members=[len(t) for t in found])

    return evidence


def by_sigma(run: str, column: str, count: int = 3) -> Reader:
    """The ``count`` largest σ of a run, largest first, as groups."""

    def evidence(tables: Tables) -> Evidence:
        table = tables["networks"].filter(pl.col("run") == run)
        scales = table["sigma"].unique().sort(descending=True).head(count).to_list()
        parts = [table.filter(pl.col("sigma") == s) for s in scales]
        return Evidence.of(*(_values(fitted(p), column) for p in parts), members=[len(p) for p in parts])

    return evidence


def kernels(sweep: str, condition: pl.Expr, column: str) -> Reader:
    """One value a kernel (or a problem) of a sweep; one without a value counts as not fitted."""

    def evidence(tables: Tables) -> Evidence:
        rows = tables["kernels"].filter((pl.col("sweep") == sweep) & condition)
        return Evidence.of(_values(rows, column), members=len(rows))

    return evidence


def paired_kernels(sweep: str, conditions: list[pl.Expr], column: str) -> Reader:
    """The same kernels under several conditions, such as three tasks or two losses: those that have a value in all."""

    def evidence(tables: Tables) -> Evidence:
        rows = tables["kernels"].filter((pl.col("sweep") == sweep) & pl.col(column).is_finite())
        asked = tables["kernels"].filter((pl.col("sweep") == sweep) & pl.any_horizontal(conditions))
        parts = [rows.filter(c).select("kernel", pl.col(column).alias(f"{i}")) for i, c in enumerate(conditions)]
        both = reduce(lambda one, other: one.join(other, on="kernel", validate="1:1"), parts).sort("kernel")
        values = [both[f"{i}"] for i in range(len(conditions))]
        return Evidence.of(*values, members=asked["kernel"].n_unique(), paired=True)

    return evidence


def weights(kernel: int, groups: list[list[str]]) -> Reader:
    """ANOVA effects of a hard-margin kernel on CD-3: groups of conjunctions, paired in order."""

    def evidence(tables: Tables) -> Evidence:
        rows = tables["effects"].filter(
            (pl.col("fit") == "hard margin") & (pl.col("problem") == "CD-3") & (pl.col("kernel") == kernel)
        )
        found = dict(zip(rows["conjunction"], rows["weight"], strict=True))
        return Evidence.of(*([found[name] for name in group] for group in groups), paired=True)

    return evidence


def _values(rows: pl.DataFrame, column: str | pl.Expr) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    expression = pl.col(column) if isinstance(column, str) else column
    values = rows.select(expression.cast(pl.Float64).alias("value"))["value"].drop_nulls().to_numpy()
    return np.asarray(values[np.isfinite(values)], dtype=np.float64)
