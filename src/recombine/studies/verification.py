"""Check committed results: every table and claim again from what is kept, and one member again from nothing."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from polars.testing import assert_frame_equal

from recombine.errors import InputError
from recombine.runs import Store, get_or_compute
from recombine.studies.committed import read_json, read_results
from recombine.studies.study import Setting, Study, StudyResult
from recombine.studies.tables import kept

EARLY = 16
"""Steps up to which a member trained on another device must agree closely; later, rounding has had time to grow. A
table that records nothing so early is compared at its first step."""
CLOSE = 0.02
"""How closely: a few of the examples a figure is counted from may fall on the other side of a boundary."""


@dataclass(frozen=True)
class Verification:
    """What was checked and what was found wrong; ``problems`` is empty where all is well."""

    claims: int
    compared: int
    """Figures of the member trained again that were compared with the committed ones."""
    again: str
    """Which run gave the member."""
    problems: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    """Runs of which it is not known from which commit or version they came."""
    awaited: tuple[str, ...] = ()
    """Runs that are declared and of which nothing was committed yet: claims about them are not judged."""
    stored: bool = False
    """Whether that member was in the store that was named, so that nothing was trained now."""


def verify(
    study: Study[Any], folder: Path, device: str = "cpu", store: Store | str | Path | None = None
) -> Verification:
    """Recompute every claim of ``folder`` from its tables and train one member of its smallest run again, from nothing,
    or, where a ``store`` is named, unless it is there; there it is kept."""
    record, committed = read_json(folder / "study.json"), read_json(folder / "claims.json")
    if record.get("study") != study.name:
        raise InputError(f"{str(folder)!r} holds results of the study {record.get('study')!r}, not of {study.name!r}.")
    result = read_results(folder, study)
    settings = study.planned(result.scale, result.members)
    before = {claim.get("id"): claim for claim in committed.get("claims", [])}
    heights = {name: table.height for name, table in result.tables.items()}
    problems = _changed_tables(result, folder) + [
        f"table {name}: {rows} rows were committed, {heights.get(name, 'none')} found"
        for name, rows in record.get("tables", {}).items()
        if heights.get(name) != rows
    ]
    for claim in result.claims:
        problems += _differences(before.pop(claim.claim.id, None), claim.to_dict())
    problems += [f"claim {name}: committed, but no longer declared" for name in before]
    there = {run for table in result.tables.values() if "run" in table.columns for run in table["run"].unique()}
    awaited = tuple(name for name in settings if name not in {*result.provenance, *there})
    for name, setting in settings.items():
        if name not in awaited and result.provenance.get(name, {}).get("address") != setting.run.address:
            problems.append(f"run {name}: its description has changed since the results were committed")
    name, compared, found, stored = _again(study, settings, result.tables, device, store)
    unknown = tuple(name for name, run in result.provenance.items() if not _known(run))
    return Verification(len(result.claims), compared, name, tuple(problems + found), unknown, awaited, stored)


def study_record(result: StudyResult) -> dict[str, Any]:
    """What is committed beside tables and claims, so that they can be verified."""
    return {
        "schema": 2,
        "study": result.study.name,
        "scale": result.scale,
        "members": result.members,
        **({"precision": result.study.precision} if result.study.precision != "float32" else {}),
        "command": result.command,
        **({"made_of": result.study.original.name, "changes": list(result.changes)} if result.changes else {}),
        "tables": {name: table.height for name, table in result.tables.items()},
        "address": result.address,
        "runs": {name: dict(run) for name, run in result.provenance.items()},
    }


def _known(run: Mapping[str, Any]) -> bool:
    return bool(run.get("commit") and run.get("versions", {}).get("recombine"))


def _changed_tables(result: StudyResult, folder: Path) -> list[str]:
    """Derived tables that are no longer what is derived."""
    problems = []
    for name in result.study.derived:
        path = folder / "tables" / f"{name}.parquet"
        if (name in result.tables) != path.exists():
            problems.append(f"table {name}: {'not committed' if name in result.tables else 'no longer derived'}")
        elif path.exists():
            try:
                assert_frame_equal(result.tables[name], pl.read_parquet(path), rel_tol=1e-9, abs_tol=1e-12)
            except (AssertionError, pl.exceptions.PolarsError) as error:
                problems.append(f"table {name}: derived again it differs ({str(error).splitlines()[0]})")
    return problems


def _differences(before: dict[str, Any] | None, now: dict[str, Any]) -> list[str]:
    if before is None:
        return [f"claim {now['id']}: declared, but not among the committed ones"]
    return [
        f"claim {now['id']}: {key} is {value!r}, committed was {before.get(key)!r}"
        for key, value in now.items()
        if not _alike(value, before.get(key))
    ]


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return all(map(_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)


def _again(
    study: Study[Any], settings: Mapping[str, Setting], tables: Mapping[str, pl.DataFrame], device: str,
    store: Store | str | Path | None,
) -> tuple[str, int, list[str], bool]:  # fmt: skip
    """Train member 0 of the run with the fewest steps, and compare its early figures with the committed ones."""
    alone = {name: first for name, s in settings.items() if (first := s.run.first_member()) is not None}
    if not alone:
        return "none: no run of this study trains members", 0, [], False
    name = min(alone, key=lambda n: (getattr(alone[n], "steps", 0), n))
    with tempfile.TemporaryDirectory() as folder:
        kept_in = store if isinstance(store, Store) else Store(store or folder)
        stored = kept_in.get(alone[name]) is not None
        one = get_or_compute(kept_in, {name: alone[name]}, device=device)
        fresh = kept(study, {name: settings[name]}, one)
    compared = 0
    problems: list[str] = []
    for title, table in fresh.items():
        count, found = _compare(f"run {name}: member 0", title, table, tables.get(title))
        compared, problems = compared + count, problems + found
    if not compared:
        problems.append(f"run {name}: nothing of member 0 could be compared")
    return name, compared, problems, stored


def _compare(where: str, title: str, table: pl.DataFrame, committed: pl.DataFrame | None) -> tuple[int, list[str]]:
    """How many early figures of a fresh table were compared with the committed one, and what was wrong."""
    if committed is None or "member" not in table.columns or "step" not in table.columns:
        return 0, []
    if not set(table.columns) <= set(committed.columns):
        return 0, [f"{where}: the committed table {title!r} has other columns"]
    keys = [c for c in table.columns if not table[c].dtype.is_float() and table[c].dtype != pl.Boolean]
    if table.select(keys).is_duplicated().any():
        return 0, []
    earliest = table.filter(pl.col("step") > 0)["step"].min()
    until = max(EARLY, earliest) if isinstance(earliest, int) else EARLY
    both = table.filter(pl.col("step") <= until).join(
        committed, on=keys, how="left", suffix="_committed", nulls_equal=True
    )
    compared, problems = 0, []
    for column in (c for c in table.columns if table[c].dtype.is_float()):
        new, old = both[column], both[f"{column}_committed"]
        apart = (new - old).abs().fill_nan(math.inf).filter(~(new.is_nan() & old.is_nan()).fill_null(False))
        compared += len(apart) - apart.null_count()
        worst = apart.max()
        if isinstance(worst, float) and worst > CLOSE:
            problems.append(f"{where} differs from the committed table {title!r} by {worst:.3g} in {column!r}")
        if missing := int((new.is_not_null() & old.is_null()).sum()):
            problems.append(f"{where} has {missing} figures in {column!r} that the committed table {title!r} lacks")
    return compared, problems
