"""How the claims read the study's tables. The base is the unit: masks of one base are averaged first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from recombine.structure.statistics import pseudo_values, spearman
from recombine.studies.break_it_down.tables import last_gated
from recombine.studies.claims import Evidence, Tables

Reader = Callable[[Tables], Evidence]

LANGUAGE = ("agreement", "bert-grid", "bert-scratch")
VISION = ("inside-contact", "resnet18-inside-contact", "three-rules")
TASKS = (*LANGUAGE, *VISION)
SAME = {"bert-grid": "bert-scratch"}
"""Runs whose bases are those of another run, with another search: a base is counted once."""


def rows(tables: Tables, runs: Sequence[str], network: str, role: str = "search") -> pl.DataFrame:
    """The masks of some runs, kind of network and role; empty where none was run."""
    table = tables.get("masks")
    if table is None:
        return pl.DataFrame()
    kept = table.filter(pl.col("run").is_in(list(runs)) & (pl.col("network") == network) & (pl.col("role") == role))
    return kept.with_columns(pl.col("run").replace(SAME))


def units(tables: Tables, runs: Sequence[str], network: str) -> int:
    """Bases that could be judged: all that were trained, whether or not a mask of theirs passed."""
    table = tables.get("bases")
    if table is None:
        return 0
    kept = table.filter(pl.col("run").is_in(list(runs)) & (pl.col("network") == network))
    return kept.select(pl.col("run").replace(SAME), "base").n_unique()


def of(
    runs: str | Sequence[str],
    value: str | pl.Expr,
    *,
    network: str = "trained",
    role: str = "search",
    where: pl.Expr | None = None,
    subroutine: str | None = None,
    each: str = "base",
    missing: float | None = None,
) -> Reader:
    """One value a base (or ``each="cell"``: a base and subroutine): the mean over its masks that satisfy ``where``;
    ``missing`` stands for a subroutine of which no mask does."""
    names = [runs] if isinstance(runs, str) else list(runs)

    def evidence(tables: Tables) -> Evidence:
        found = rows(tables, names, network, role)
        count = units(tables, names, network)
        if found.is_empty():
            return Evidence.of([], members=count)
        if subroutine is not None:
            found = found.filter(pl.col("subroutine") == subroutine)
        cells = found.select("run", "base", "subroutine").unique(maintain_order=True)
        shown = (pl.col(value) if isinstance(value, str) else value).cast(pl.Float64).mean().alias("value")
        kept = found.filter(where) if where is not None else found
        keys = ["run", "base", "subroutine"]
        means = cells.join(kept.group_by(keys).agg(shown), on=keys, how="left", maintain_order="left")
        if missing is not None:
            means = means.with_columns(pl.col("value").fill_null(missing))
        if each == "cell":
            return Evidence.of(means["value"].drop_nulls(), members=max(cells.height, count))
        bases = means.group_by("run", "base", maintain_order=True).agg(pl.col("value").mean())
        return Evidence.of(bases["value"].drop_nulls(), members=count)

    return evidence


CHOSEN, PASSED = pl.col("chosen"), pl.col("passed")


def best_less_typical(runs: Sequence[str]) -> Reader:
    """How much larger the removable gap of the chosen setting is than the mean of all that pass, a base and subroutine
    at a time."""

    def evidence(tables: Tables) -> Evidence:
        found = rows(tables, runs, "trained")
        count = units(tables, runs, "trained")
        if found.is_empty():
            return Evidence.of([], members=count)
        parts = found["subroutine"].n_unique()
        gap = -pl.col("d_abl")
        means = found.filter(PASSED).group_by("run", "base", "subroutine", maintain_order=True).agg(
            difference=gap.filter(CHOSEN).mean() - gap.mean()
        )  # fmt: skip
        return Evidence.of(means["difference"].drop_nulls(), members=count * parts)

    return evidence


def less(
    value: str, runs: str | Sequence[str], than: str | Sequence[str], network: str = "trained", by_run: bool = False
) -> Reader:
    """Chosen masks of trained bases of ``runs`` less those of ``than`` (0 where no mask passed): base by base, or less
    the mean of the same run where bases do not correspond (``by_run``)."""
    one = of(runs, value, where=CHOSEN)

    def evidence(tables: Tables) -> Evidence:
        mine = one(tables)
        if not mine.fitted:
            return mine
        names = [runs] if isinstance(runs, str) else list(runs)
        if not by_run:
            other = of(than, value, where=CHOSEN, network=network, missing=0.0)(tables).groups[0]
            both = zip(mine.groups[0], other, strict=False)
            return Evidence.of([a - b for a, b in both], members=mine.members)
        found: list[float] = []
        for name in _bases(names):
            other = of(name, value, where=CHOSEN, network=network, missing=0.0)(tables).groups[0]
            if other:
                found += [a - float(np.mean(other)) for a in of(name, value, where=CHOSEN)(tables).groups[0]]
        return Evidence.of(found, members=mine.members)

    return evidence


def _bases(runs: Sequence[str]) -> list[list[str]]:
    """The runs, those of the same bases together."""
    found: dict[str, list[str]] = {}
    for run in runs:
        found.setdefault(SAME.get(run, run), []).append(run)
    return list(found.values())


def less_random(value: str, runs: Sequence[str]) -> Reader:
    """Chosen masks less random masks of their size, base by base."""

    def evidence(tables: Tables) -> Evidence:
        chosen, random = rows(tables, runs, "trained"), rows(tables, runs, "trained", "same size")
        count = units(tables, runs, "trained")
        if chosen.is_empty() or random.is_empty():
            return Evidence.of([], members=count)
        keys = ["run", "base"]
        both = [
            part.group_by(keys, maintain_order=True).agg(pl.col(value).mean())
            for part in (chosen.filter(CHOSEN), random)
        ]
        joined = both[0].join(both[1], on=keys, suffix="_random", maintain_order="left")
        return Evidence.of(joined[value] - joined[f"{value}_random"], members=count)

    return evidence


def truth(column: str) -> Reader:
    """One value a planted part."""

    def evidence(tables: Tables) -> Evidence:
        table = tables.get("truth")
        return Evidence.of([], members=0) if table is None else Evidence.of(table[column])

    return evidence


def overlap(between: str, network: str = "trained") -> Reader:
    """How many times more alike two masks of one network are than chance, log₁₀, one value a base and pair."""

    def evidence(tables: Tables) -> Evidence:
        table = tables.get("overlap")
        if table is None:
            return Evidence.of([], members=0)
        kept = table.filter(
            (pl.col("between") == between) & (pl.col("network") == network) & ~pl.col("run").str.starts_with("planted")
        )
        ratio = kept.filter(pl.col("expected") > 0).select((pl.col("iou") / pl.col("expected")).clip(1e-3).log10())
        return Evidence.of(ratio.to_series().drop_nulls(), members=max(kept.height, 0))

    return evidence


def correlation(score: str, given: str | None = None, fewest: int = 8) -> Reader:
    """Jackknife values of Spearman's ρ between a score and accuracy on unseen combinations, members being the unit;
    the partial ρ where something is ``given``."""

    def evidence(tables: Tables) -> Evidence:
        last, asked = _members(tables, [score] + ([given] if given else []))
        if last.height < fewest:
            return Evidence.of([], members=max(asked, fewest) if asked else 0)
        columns = [last[name].to_numpy() for name in (score, "unseen", *([given] if given else []))]
        values = pseudo_values(*columns)
        return Evidence.of(values[np.isfinite(values)], members=asked)

    return evidence


def correlations_compared(first: str, second: str, fewest: int = 8) -> Reader:
    """Jackknife values of |ρ| of two scores, paired by member."""

    def evidence(tables: Tables) -> Evidence:
        last, asked = _members(tables, [first, second])
        if last.height < fewest:
            return Evidence.of([], [], members=max(asked, fewest) if asked else 0)
        unseen = last["unseen"].to_numpy()
        both = [last[name].to_numpy() for name in (first, second)]
        groups = [np.sign(spearman(column, unseen)) * pseudo_values(column, unseen) for column in both]
        return Evidence.of(*groups, members=asked, paired=True)

    return evidence


def _members(tables: Tables, columns: list[str]) -> tuple[pl.DataFrame, int]:
    """Gated members at the last step that have all of ``columns``, and how many there were in all."""
    table = tables.get("along")
    if table is None:
        return pl.DataFrame(), 0
    asked = table.filter(pl.col("step") == pl.col("step").max()).height
    return last_gated(table).select(*columns, "unseen").drop_nulls(), asked


def spread() -> Reader:
    """The standard deviation over gated members of accuracy on unseen combinations, by jackknife."""

    def evidence(tables: Tables) -> Evidence:
        table = tables.get("along")
        if table is None:
            return Evidence.of([], members=0)
        values = last_gated(table)["unseen"].to_numpy()
        asked = table.filter(pl.col("step") == pl.col("step").max()).height
        if len(values) < 3:
            return Evidence.of([], members=asked)
        left = np.array([np.delete(values, i).std(ddof=1) for i in range(len(values))])
        return Evidence.of(len(values) * values.std(ddof=1) - (len(values) - 1) * left, members=asked)

    return evidence
