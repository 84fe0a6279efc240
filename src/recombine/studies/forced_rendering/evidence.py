"""How the claims read the study's tables. No verdict on unseen combinations of a network that has not fitted the seen
ones."""

from __future__ import annotations

import polars as pl

from recombine.studies.claims import CORRELATION, Evidence, Reader, Tables
from recombine.studies.fitted import NO_EVIDENCE, networks, values


def cut(run: str, remedy: str) -> Reader:
    """log₁₀ (error without / error with the remedy) on unseen combinations, by member: the same seeds start both."""

    def evidence(tables: Tables) -> Evidence:
        both = [networks(tables, name) for name in (run, remedy)]
        if any(rows.is_empty() for rows in both):
            return NO_EVIDENCE
        rows = both[0].filter("fitted").join(both[1].filter("fitted"), on="member", suffix="_remedy")
        return Evidence.of((rows["mse"] / rows["mse_remedy"]).log10(), members=min(map(len, both)))

    return evidence


def layers(run: str, roles: list[str], score: str, where: str = "all") -> Reader:
    """The score of several layers of the fitted networks of a kind that have it for all of them, paired by member."""

    def evidence(tables: Tables) -> Evidence:
        rows = networks(tables, run)
        if rows.is_empty():
            return Evidence.of(*([] for _ in roles), members=0)
        table = tables["layers"].filter((pl.col("run") == run) & (pl.col("where") == where) & pl.col(score).is_finite())
        wide = rows.filter("fitted").select("member")
        for role in roles:
            mine = table.filter(pl.col("role") == role).select("member", pl.col(score).alias(role))
            wide = wide.join(mine, on="member", validate="1:1")
        wide = wide.sort("member")
        return Evidence.of(*(wide[role] for role in roles), members=len(rows), paired=len(roles) > 1)

    return evidence


def kernels(problem: str, column: str) -> Reader:
    """One value a depth of exact regression."""

    def evidence(tables: Tables) -> Evidence:
        if "kernels" not in tables:
            return NO_EVIDENCE
        rows = tables["kernels"].filter(pl.col("problem") == problem)
        return Evidence.of(values(rows, column), members=len(rows))

    return evidence


def slope(learner: str, stripes: bool, criterion: str = "placed") -> Reader:
    """The log-log slope of each sample whose criterion is reached at every side."""

    def evidence(tables: Tables) -> Evidence:
        if "slopes" not in tables:
            return NO_EVIDENCE
        mine = (pl.col("learner") == learner) & (pl.col("criterion") == criterion)
        rows = tables["slopes"].filter(mine & (pl.col("with_stripes") == stripes))
        return Evidence.of(values(rows, "slope"), members=len(rows))

    return evidence


def score(name: str, where: str) -> Reader:
    """Rank correlation over all fitted networks, one value a kind."""

    def evidence(tables: Tables) -> Evidence:
        if "by_kind" not in tables:
            return NO_EVIDENCE
        rows = tables["by_kind"].filter((pl.col("score") == name) & (pl.col("where") == where))
        return Evidence.of(values(rows.filter("fitted"), "rho"), members=len(rows), limits=CORRELATION)

    return evidence
