"""How the claims read the study's tables. No verdict on the unseen of a network that has not fitted the seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from recombine.studies.claims import Evidence, Tables

Reader = Callable[[Tables], Evidence]

NO_EVIDENCE = Evidence.of([], members=0)


def networks(tables: Tables, run: str) -> pl.DataFrame:
    table = tables.get("networks")
    return table.filter(pl.col("run") == run).sort("member") if table is not None else pl.DataFrame()


def of(run: str, column: str | pl.Expr, every: bool = False) -> Reader:
    """One value a fitted network of a run; with ``every``, of each network, fitted or not."""

    def evidence(tables: Tables) -> Evidence:
        rows = networks(tables, run)
        if rows.is_empty():
            return NO_EVIDENCE
        return Evidence.of(_values(rows if every else rows.filter("fitted"), column), members=len(rows))

    return evidence


def order(runs: Sequence[str], column: str) -> Reader:
    """One group a run, the fitted networks of each."""

    def evidence(tables: Tables) -> Evidence:
        found = [networks(tables, run) for run in runs]
        if any(rows.is_empty() for rows in found):
            return Evidence.of(*([] for _ in runs), members=0)
        groups = [_values(rows.filter("fitted"), column) for rows in found]
        return Evidence.of(*groups, members=min(map(len, found)))

    return evidence


def beside(run: str, other: str, column: str) -> Reader:
    """One value a fitted network of a run, less the mean over those of another run."""

    def evidence(tables: Tables) -> Evidence:
        rows, reference = networks(tables, run), networks(tables, other)
        if rows.is_empty() or reference.is_empty() or reference.filter("fitted").is_empty():
            return Evidence.of([], members=len(rows))
        level = _values(reference.filter("fitted"), column).mean()
        return Evidence.of(_values(rows.filter("fitted"), column) - level, members=len(rows))

    return evidence


def ranked(column: str, figure: str, sign: float = 1.0) -> Reader:
    """For each member number, Spearman's ρ between the published figures and this member's, over all rows trained."""
    from scipy.stats import spearmanr

    def evidence(tables: Tables) -> Evidence:
        if "published" not in tables:
            return NO_EVIDENCE
        rows = tables["networks"].join(tables["published"].select("run", figure), on="run").drop_nulls(column)
        count = tables["published"].height
        by = [part for _, part in rows.group_by("member", maintain_order=True) if part.height == count > 2]
        if not by or not rows.group_by("run").agg(pl.col("fitted").any())["fitted"].all():
            return Evidence.of([], members=max(1, len(by)))
        return Evidence.of([sign * float(spearmanr(part[column], part[figure]).statistic) for part in by])

    return evidence


def shares(run: str, candidate: str) -> Reader:
    """The learned weight of one candidate in each fitted network."""

    def evidence(tables: Tables) -> Evidence:
        rows = networks(tables, run)
        if rows.is_empty() or "shares" not in tables:
            return NO_EVIDENCE
        mine = tables["shares"].filter((pl.col("run") == run) & (pl.col("candidate") == candidate))
        kept = rows.filter("fitted").select("member").join(mine, on="member")
        return Evidence.of(_values(kept, "share"), members=len(rows))

    return evidence


def recovered(run: str, components: Sequence[int]) -> Reader:
    """The error of the learned components of fitted networks: one group a component, paired by member."""

    def evidence(tables: Tables) -> Evidence:
        rows = networks(tables, run)
        if rows.is_empty() or "recovery" not in tables:
            return Evidence.of(*([] for _ in components), members=0)
        mine = tables["recovery"].filter(pl.col("run") == run)
        groups = [
            _values(rows.filter("fitted").select("member").join(
                mine.filter(pl.col("component") == k), on="member").sort("member"), "error")
            for k in components
        ]  # fmt: skip
        return Evidence.of(*groups, members=len(rows), paired=len(components) > 1)

    return evidence


def swapped(column: str) -> Reader:
    """Of the autoencoders that reconstruct, how well recombined slots are decoded."""

    def evidence(tables: Tables) -> Evidence:
        rows = networks(tables, "slots")
        if rows.is_empty() or "slots" not in tables:
            return NO_EVIDENCE
        kept = rows.filter("fitted").select("member").join(tables["slots"], on="member")
        return Evidence.of(_values(kept, column), members=len(rows))

    return evidence


def follows(run: str) -> Reader:
    """For each network, the correlation along training of log(1 − R²) seen and unseen."""

    def evidence(tables: Tables) -> Evidence:
        rows = networks(tables, run)
        if rows.is_empty() or "fit" not in tables:
            return NO_EVIDENCE
        fit = tables["fit"].filter((pl.col("run") == run) & (pl.col("seen") > 0) & (pl.col("unseen") > 0))
        kept = fit.join(rows.filter("fitted").select("member"), on="member")
        found = [
            float(np.corrcoef(np.log(part["seen"]), np.log(part["unseen"]))[0, 1])
            for _, part in kept.sort("step").group_by("member", maintain_order=True)
            if part.height > 2
        ]
        return Evidence.of(found, members=len(rows))

    return evidence


def foretold(families: Sequence[str], column: str) -> Reader:
    """For each member number, the mean loss of R² where the assumption in ``column`` fails, less where it holds."""

    def evidence(tables: Tables) -> Evidence:
        if "verdicts" not in tables:
            return NO_EVIDENCE
        told = tables["verdicts"].filter(pl.col("family").is_in(list(families))).select("run", column)
        rows = tables["networks"].join(told, on="run")
        if rows.filter("fitted").is_empty() or told[column].n_unique() < 2:
            return Evidence.of([], members=max(1, rows["member"].n_unique()))
        means = rows.filter("fitted").group_by("member", column, maintain_order=True).agg(pl.col("loss").mean())
        holds, fails = means.filter(pl.col(column)), means.filter(~pl.col(column))
        sides = holds.join(fails, on="member", suffix="_fails").sort("member")
        return Evidence.of(sides["loss_fails"] - sides["loss"], members=rows["member"].n_unique())

    return evidence


def _values(rows: pl.DataFrame, column: str | pl.Expr) -> np.ndarray:
    values = rows.select(pl.col(column) if isinstance(column, str) else column).to_series().drop_nulls().to_numpy()
    values = values.astype(np.float64)
    return np.asarray(values[np.isfinite(values)])
