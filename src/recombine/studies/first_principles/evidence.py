"""How the claims read the study's tables. No verdict on the unseen of a network that has not fitted the seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from recombine.studies.claims import CORRELATION, FITTED_SHARE, Evidence, Reader, Tables
from recombine.studies.fitted import NO_EVIDENCE, networks, values


def counted(run: str, column: str) -> Reader:
    """Of how many networks of a run something is true, fitted or not."""

    def evidence(tables: Tables) -> Evidence:
        rows = networks(tables, run)
        return Evidence.of(values(rows, column), members=len(rows), counted=True) if len(rows) else NO_EVIDENCE

    return evidence


def beside(run: str, other: str, column: str) -> Reader:
    """A network of a run less that of the same number, and seed, in another; both fitted."""

    def evidence(tables: Tables) -> Evidence:
        rows, reference = networks(tables, run), networks(tables, other)
        if rows.is_empty() or reference.is_empty():
            return Evidence.of([], members=len(rows))
        both = rows.filter("fitted").join(reference.filter("fitted"), on="member", suffix="_other").sort("member")
        return Evidence.of(values(both, pl.col(column) - pl.col(f"{column}_other")), members=len(rows))

    return evidence


def ranked(column: str, figure: str, sign: float = 1.0) -> Reader:
    """For each member number that every row has, Spearman's ρ between the published figures and this member's, over
    all rows trained. Networks that collapsed are kept: the question is what came out."""
    from scipy.stats import spearmanr

    def evidence(tables: Tables) -> Evidence:
        if "published" not in tables:
            return NO_EVIDENCE
        rows = tables["networks"].join(tables["published"].select("run", figure), on="run")
        members, count = max(1, rows["member"].n_unique()), tables["published"].height
        known = rows.filter(pl.col(column).is_not_null() & pl.col(column).is_finite())
        by = [part for _, part in known.group_by("member", maintain_order=True) if part.height == count > 2]
        if not rows.group_by("run").agg(pl.col("fitted").any())["fitted"].all():
            return Evidence.of([], members=members)
        found = [sign * float(spearmanr(part[column], part[figure]).statistic) for part in by]
        return Evidence.of(found, members=members, limits=CORRELATION)

    return evidence


def shares(run: str, candidate: str) -> Reader:
    """The learned weight of one candidate in each fitted network."""

    def evidence(tables: Tables) -> Evidence:
        rows = networks(tables, run)
        if rows.is_empty() or "shares" not in tables:
            return NO_EVIDENCE
        mine = tables["shares"].filter((pl.col("run") == run) & (pl.col("candidate") == candidate))
        kept = rows.filter("fitted").select("member").join(mine, on="member")
        return Evidence.of(values(kept, "share"), members=len(rows))

    return evidence


def recovered(run: str, components: Sequence[int]) -> Reader:
    """The error of the learned components of fitted networks: one group a component, of the networks that have it for
    all of them."""

    def evidence(tables: Tables) -> Evidence:
        rows = networks(tables, run)
        if rows.is_empty() or "recovery" not in tables:
            return Evidence.of(*([] for _ in components), members=0)
        wide = _errors(tables, run, components)
        return Evidence.of(*(wide[f"{k}"] for k in components), members=len(rows), paired=len(components) > 1)

    return evidence


def recovered_all(run: str, components: Sequence[int]) -> Reader:
    """The larger error of the learned components, a fitted network at a time."""

    def evidence(tables: Tables) -> Evidence:
        rows = networks(tables, run)
        if rows.is_empty() or "recovery" not in tables:
            return NO_EVIDENCE
        wide = _errors(tables, run, components)
        return Evidence.of(wide.select(pl.max_horizontal(f"{k}" for k in components)).to_series(), members=len(rows))

    return evidence


def _errors(tables: Tables, run: str, components: Sequence[int]) -> pl.DataFrame:
    """One row a fitted network that has an error for each component, a column each."""
    mine = tables["recovery"].filter((pl.col("run") == run) & pl.col("error").is_finite())
    wide = networks(tables, run).filter("fitted").select("member")
    for k in components:
        part = mine.filter(pl.col("component") == k).select("member", pl.col("error").alias(f"{k}"))
        wide = wide.join(part, on="member", validate="1:1")
    return wide.sort("member")


def swapped(column: str) -> Reader:
    """Of the autoencoders that reconstruct, how well recombined slots are decoded."""

    def evidence(tables: Tables) -> Evidence:
        rows = networks(tables, "slots")
        if rows.is_empty() or "slots" not in tables:
            return NO_EVIDENCE
        kept = rows.filter("fitted").select("member").join(tables["slots"], on="member")
        return Evidence.of(values(kept, column), members=len(rows))

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
        return Evidence.of(found, members=len(rows), limits=CORRELATION)

    return evidence


def foretold(families: Sequence[str], column: str) -> Reader:
    """The loss of R² of each setting, its fitted networks averaged: where the assumption in ``column`` holds, and where
    it fails. Settings are compared, so a setting is the unit; one of which too few networks fitted counts as not
    fitted."""

    def evidence(tables: Tables) -> Evidence:
        if "verdicts" not in tables:
            return Evidence.of([], [], members=0)
        told = tables["verdicts"].filter(pl.col("family").is_in(list(families))).select("run", column)
        good = pl.col("fitted")
        means = tables["networks"].join(told, on="run").group_by("run", column, maintain_order=True).agg(
            pl.col("loss").filter(good).mean(), (good.mean() >= FITTED_SHARE).alias("judged")
        )  # fmt: skip
        sides = [means.filter(pl.col(column) == side) for side in (True, False)]
        return Evidence.of(*(values(s.filter("judged"), "loss") for s in sides), members=[len(s) for s in sides])

    return evidence
