"""From runs to the tables of a study: what each run gave, with its labels, one below the other.

Every row says of which run it is, so committed tables can be renewed run by run: the rows of new runs take the place of
the old ones, and what is derived is derived again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import polars as pl

from recombine.errors import InputError
from recombine.runs import StoredRun
from recombine.studies.readings import Tables
from recombine.studies.study import Label, Setting, Study

UNREADABLE = (InputError, pl.exceptions.PolarsError, LookupError, TypeError, ValueError)
"""What is raised where a table lacks the rows or columns of runs that a variation leaves out."""


def kept(
    study: Study[Any], settings: Mapping[str, Setting], stored: Mapping[str, StoredRun]
) -> dict[str, pl.DataFrame]:
    """What the study keeps of the runs that are there, without what is derived from it."""
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in study.tables}
    for run_name, setting in settings.items():
        if (run := stored.get(run_name)) is None:
            continue
        for name, rows in study.tables.items():
            make, *needs = rows if isinstance(rows, tuple) else (rows,)
            if not set(needs) <= set(run.tables):
                continue
            table = run.tables.get(make) if isinstance(make, str) else make(run, setting)
            if table is not None:
                parts[name].append(labelled(table, run_name, setting.labels, fitted(run)))
    # A run that was stored before a measure had a column lacks it: null there.
    return {name: pl.concat(some, how="diagonal_relaxed") for name, some in parts.items() if some}


def last(table: pl.DataFrame) -> pl.DataFrame:
    """The rows of the last step."""
    return table.filter(pl.col("step") == pl.col("step").max())


def beside(table: pl.DataFrame, *others: pl.DataFrame, on: str | Sequence[str] = "member") -> pl.DataFrame:
    """The columns of other tables beside those of the first, whose rows stay as they are."""
    for other in others:
        table = table.join(other, on=on, how="left", maintain_order="left")
    return table


def derived(study: Study[Any], tables: Tables, only: Set[str] | None = None) -> dict[str, pl.DataFrame]:
    """The tables, and those that are made of them, or ``only`` some of these and what they are made of. A variation may
    lack the runs that one is made of; it is left out."""
    found = dict(tables)
    wanted = set(study.derived if only is None else only)
    for name, (_, *needs) in reversed(list(study.derived.items())):
        wanted |= set(needs) if name in wanted else set()
    for name, (make, *needs) in study.derived.items():
        if name in wanted and all(need in found for need in needs):
            try:
                found[name] = make(*(found[need] for need in needs))
            except UNREADABLE:
                if study.varies is None:
                    raise
    return found


def tables_of(
    study: Study[Any], settings: Mapping[str, Setting], stored: Mapping[str, StoredRun]
) -> dict[str, pl.DataFrame]:
    """All tables of the study; works on any of its runs alone."""
    return derived(study, kept(study, settings, stored))


def renewed(
    study: Study[Any], settings: Mapping[str, Setting], committed: Tables, fresh: Tables
) -> dict[str, pl.DataFrame]:
    """Committed tables with the rows of fresh runs in place of theirs; runs that are no longer declared go. Rows are in
    the order of the settings, as where all runs are fresh: figures show groups in the order of their table."""
    new = {run for table in fresh.values() for run in table["run"].unique()}
    stay = [run for run in settings if run not in new]
    found = {}
    for name in study.tables:
        old = committed[name].filter(pl.col("run").is_in(stay)) if name in committed else None
        parts = [part for part in (old, fresh.get(name)) if part is not None]
        if parts:
            place = pl.col("run").replace_strict({run: i for i, run in enumerate(settings)})
            found[name] = pl.concat(parts, how="diagonal_relaxed").sort(place, maintain_order=True)
    return derived(study, found)


def labelled(
    table: pl.DataFrame,
    run: str,
    labels: Mapping[str, Label | Sequence[Label]],
    fitted: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """A table of a run with its name and labels in front, and, where rows are of members, whether they fitted."""
    if clash := {"run", *labels} & set(table.columns):
        raise InputError(f"run {run}: a label and a column share the name {', '.join(sorted(clash))}.")
    of_members = {name: value for name, value in labels.items() if isinstance(value, (tuple, list))}
    alike = [pl.lit(value).alias(name) for name, value in labels.items() if name not in of_members]
    front = ["run", *(name for name in labels if name not in of_members or "member" in table.columns)]
    if "member" in table.columns:
        for name, values in of_members.items():
            each = pl.Series(name, [values[member] for member in table["member"]])
            table = table.with_columns(each)
        if fitted is not None and "fitted" not in table.columns:
            table = beside(table, fitted)
    return table.with_columns(pl.lit(run).alias("run"), *alike).select(*front, pl.exclude(front))


def fitted(run: StoredRun) -> pl.DataFrame | None:
    """Which members fitted what they saw; one that diverged did not, also where no threshold was set."""
    table = run.tables.get("members")
    if table is None or "fitted" not in table.columns:
        return None
    whole = pl.col("diverged_at").is_null() if "diverged_at" in table.columns else pl.lit(True)
    return table.select("member", (pl.col("fitted").fill_null(True) & whole).alias("fitted"))
