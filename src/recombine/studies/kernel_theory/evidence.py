"""How the claims read the study's tables: the values of networks that fitted, and of kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from recombine.studies.claims import Evidence, Tables

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


def of(rows: Rows, column: str | pl.Expr) -> Callable[[Tables], Evidence]:
    """One value a network that fitted."""

    def evidence(tables: Tables) -> Evidence:
        table = rows(tables)
        return Evidence.of(_values(fitted(table), column), members=len(table))

    return evidence


def order(groups: list[Rows], column: str | pl.Expr) -> Callable[[Tables], Evidence]:
    """One group a set of networks; groups of different sizes are judged by the share that fitted in the smallest."""

    def evidence(tables: Tables) -> Evidence:
        found = [rows(tables) for rows in groups]
        return Evidence.of(
            *(_values(fitted(table), column) for table in found), members=min(len(table) for table in found)
        )

    return evidence


def by_sigma(run: str, column: str, count: int = 3) -> Callable[[Tables], Evidence]:
    """The ``count`` largest σ of a run, largest first, as groups."""

    def evidence(tables: Tables) -> Evidence:
        table = tables["networks"].filter(pl.col("run") == run)
        scales = table["sigma"].unique().sort(descending=True).head(count).to_list()
        parts = [table.filter(pl.col("sigma") == s) for s in scales]
        return Evidence.of(*(_values(fitted(p), column) for p in parts), members=min(len(p) for p in parts))

    return evidence


def kernels(sweep: str, condition: pl.Expr, column: str) -> Callable[[Tables], Evidence]:
    """One value a kernel (or a problem) of a sweep."""

    def evidence(tables: Tables) -> Evidence:
        rows = tables["kernels"].filter((pl.col("sweep") == sweep) & condition)
        return Evidence.of(_values(rows, column))

    return evidence


def paired_kernels(sweep: str, conditions: list[pl.Expr], column: str) -> Callable[[Tables], Evidence]:
    """The same kernels under several conditions, such as three tasks or two losses."""

    def evidence(tables: Tables) -> Evidence:
        rows = tables["kernels"].filter(pl.col("sweep") == sweep).sort("kernel")
        return Evidence.of(*(_values(rows.filter(c), column) for c in conditions), paired=True)

    return evidence


def weights(kernel: int, groups: list[list[str]]) -> Callable[[Tables], Evidence]:
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
