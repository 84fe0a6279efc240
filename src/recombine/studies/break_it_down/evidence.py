"""How the claims read the study's tables. The base is the unit: masks of one base are averaged first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.measures.ranks import jackknife, partial_spearman, spearman
from recombine.studies.break_it_down.tables import last_gated
from recombine.studies.claims import CORRELATION, Evidence, Reader, Tables

Floats = NDArray[np.float64]

LANGUAGE = ("agreement", "bert-grid", "bert-scratch")
FIFTY = ("resnet50", "wide-resnet50")
"""The authors' own networks, on number–contact."""
VISION = (
    "inside-contact", "resnet18-inside-contact", "resnet18-number-contact", "resnet18-narrow", "resnet18-wide",
    "three-rules", *FIFTY,
)  # fmt: skip
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


def units(tables: Tables, runs: Sequence[str], network: str, each: str = "base", parts: int | None = None) -> int:
    """Bases that could be judged: all that were trained, whether or not they passed the gate or a mask of theirs did;
    with ``each="cell"``, bases and subroutines (or ``parts`` of them), of which a base has as many as its run names."""
    table = tables.get("bases")
    if table is None:
        return 0
    kept = table.filter(pl.col("run").is_in(list(runs)) & (pl.col("network") == network))
    if each == "base":
        return kept.select(pl.col("run").replace(SAME), "base").n_unique()
    # A table of bases has a column for each of its subroutines, empty in the runs of others.
    named = pl.sum_horizontal(pl.col("^on .*$").is_not_null()) if parts is None else pl.lit(parts)
    each_base = kept.select(pl.col("run").replace(SAME), "base", named.alias("parts")).unique(["run", "base"])
    return int(each_base["parts"].sum())


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
            asked = units(tables, names, network, each, None if subroutine is None else 1)
            return Evidence.of(means["value"].drop_nulls(), members=asked)
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
        gap = -pl.col("d_abl")
        means = found.filter(PASSED).group_by("run", "base", "subroutine", maintain_order=True).agg(
            difference=gap.filter(CHOSEN).mean() - gap.mean()
        )  # fmt: skip
        return Evidence.of(means["difference"].drop_nulls(), members=units(tables, runs, "trained", "cell"))

    return evidence


def less(value: str, run: str, than: str) -> Reader:
    """Chosen masks of trained bases of a run less those of another's bases of the same number, for the subroutines that
    have one in both."""

    def evidence(tables: Tables) -> Evidence:
        mine, others = (rows(tables, [name], "trained") for name in (run, than))
        return _compared(mine, others, value, ["base", "subroutine"], CHOSEN, CHOSEN, units(tables, [run], "trained"))

    return evidence


def one_less_other(run: str, value: str, one: str, other: str) -> Reader:
    """Chosen masks of one subroutine less those of another."""

    def evidence(tables: Tables) -> Evidence:
        found = rows(tables, [run], "trained")
        mine, others = (CHOSEN & (pl.col("subroutine") == name) for name in (one, other))
        return _compared(found, found, value, ["base"], mine, others, units(tables, [run], "trained"))

    return evidence


def layers_less(value: str, runs: Sequence[str], layers: str, than: str) -> Reader:
    """All masks over some layers less all those over others, whether or not they passed."""

    def evidence(tables: Tables) -> Evidence:
        found = rows(tables, runs, "trained")
        mine, others = (pl.col("layers") == names for names in (layers, than))
        return _compared(found, found, value, CELL, mine, others, units(tables, runs, "trained"))

    return evidence


def less_random(value: str, runs: Sequence[str]) -> Reader:
    """Chosen masks less random masks of their size."""

    def evidence(tables: Tables) -> Evidence:
        chosen, random = rows(tables, runs, "trained"), rows(tables, runs, "trained", "same size")
        return _compared(chosen, random, value, CELL, CHOSEN, pl.lit(True), units(tables, runs, "trained"))

    return evidence


def beside_untrained(value: str, runs: Sequence[str]) -> Reader:
    """Two groups: chosen masks of trained bases, and of untrained networks of the same runs (0 where no mask passed, as
    the paper scores it)."""

    def evidence(tables: Tables) -> Evidence:
        trained = of(runs, value, where=CHOSEN)(tables)
        fresh = of(runs, value, where=CHOSEN, network="untrained", missing=0.0)(tables)
        return Evidence.of(trained.groups[0], fresh.groups[0], members=(trained.members, fresh.members))

    return evidence


CELL = ["run", "base", "subroutine"]


def _compared(
    one: pl.DataFrame, other: pl.DataFrame, value: str, by: list[str], mine: pl.Expr, others: pl.Expr, members: int
) -> Evidence:
    """One value a base: the means of two sets of masks, taken ``by`` what must be the same in both, subtracted."""
    if one.is_empty() or other.is_empty():
        return Evidence.of([], members=members)
    first, second = (
        part.filter(which).group_by(by, maintain_order=True).agg(pl.col(value).mean())
        for part, which in ((one, mine), (other, others))
    )
    both = first.join(second, on=by, suffix=" of the other", maintain_order="left")
    difference = (pl.col(value) - pl.col(f"{value} of the other")).mean()
    bases = both.group_by([key for key in by if key != "subroutine"], maintain_order=True).agg(difference)
    return Evidence.of(bases[value].drop_nulls(), members=members)


def truth(column: str) -> Reader:
    """One value a planted part."""

    def evidence(tables: Tables) -> Evidence:
        table = tables.get("truth")
        return Evidence.of([], members=0) if table is None else Evidence.of(table[column])

    return evidence


def overlap(between: str) -> Reader:
    """How many times more alike masks of one trained base are than chance, log₁₀, the mean over its pairs."""

    def evidence(tables: Tables) -> Evidence:
        table = tables.get("overlap")
        if table is None:
            return Evidence.of([], members=0)
        kept = table.filter(
            (pl.col("between") == between) & (pl.col("network") == "trained")
            & ~pl.col("run").str.starts_with("planted")
        ).with_columns(pl.col("run").replace(SAME))  # fmt: skip
        likeness = (pl.col("iou") / pl.col("expected")).filter(pl.col("expected") > 0).clip(1e-3).log10().mean()
        bases = kept.group_by("run", "base", maintain_order=True).agg(likeness.alias("likeness"))
        return Evidence.of(bases["likeness"].drop_nulls(), members=bases.height)

    return evidence


def correlation(score: str, given: str | None = None, fewest: int = 8) -> Reader:
    """Jackknife values of Spearman's ρ between a score and accuracy on unseen combinations, members being the unit;
    the partial ρ where something is ``given``."""

    def evidence(tables: Tables) -> Evidence:
        last, asked = _members(tables, [score] + ([given] if given else []))
        if last.height < fewest:
            return Evidence.of([], members=max(asked, fewest) if asked else 0)
        columns = [last[name].to_numpy() for name in (score, "unseen", *([given] if given else []))]
        return Evidence.of(_pseudo_values(*columns), members=asked, limits=CORRELATION)

    return evidence


def correlations_compared(first: str, second: str, fewest: int = 8) -> Reader:
    """Jackknife values of |ρ| of two scores, paired by member."""

    def evidence(tables: Tables) -> Evidence:
        last, asked = _members(tables, [first, second])
        if last.height < fewest:
            return Evidence.of([], [], members=max(asked, fewest) if asked else 0)
        unseen = last["unseen"].to_numpy()
        both = [last[name].to_numpy() for name in (first, second)]
        groups = [np.sign(spearman(column, unseen) or 0.0) * _pseudo_values(column, unseen) for column in both]
        return Evidence.of(*(groups if all(map(len, groups)) else [[], []]), members=asked, paired=True)

    return evidence


def _pseudo_values(first: Floats, second: Floats, *given: Floats) -> Floats:
    """One value of ρ a member, of the partial ρ where something is given; none where there is no ρ."""

    def rho(rows: NDArray[np.int64]) -> float | None:
        parts = [column[rows] for column in (first, second, *given)]
        return partial_spearman(*parts) if given else spearman(*parts)

    return np.array(list((jackknife(rho, range(len(first))) or {}).values()))


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
