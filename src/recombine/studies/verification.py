"""Check committed results: every claim again from its tables, and one member again from nothing."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from recombine.errors import InputError
from recombine.runs import Run, Store, get_or_compute
from recombine.studies.study import Study, StudyResult

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


def verify(study: Study, folder: Path, device: str = "cpu") -> Verification:
    """Recompute every claim of ``folder`` from its tables and train one member of its smallest run again."""
    record = _read_json(folder / "study.json")
    committed = _read_json(folder / "claims.json")
    if record.get("study") != study.name:
        raise InputError(f"{str(folder)!r} holds results of the study {record.get('study')!r}, not of {study.name!r}.")
    problems: list[str] = []
    try:
        tables = {path.stem: pl.read_parquet(path) for path in sorted((folder / "tables").glob("*.parquet"))}
        before = {claim["id"]: claim for claim in committed["claims"]}
        now = [claim.evaluate(tables).to_dict() for claim in study.claims]
        addresses = {name: run["address"] for name, run in record["runs"].items()}
        runs = study.runs(record["scale"], record["members"])
    except (OSError, KeyError, TypeError, ValueError, AttributeError, pl.exceptions.PolarsError) as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise InputError(f"{str(folder)!r} does not hold complete results of {study.name!r} ({reason}).") from None
    for claim in now:
        problems += _differences(before.pop(claim["id"], None), claim)
    problems += [f"claim {name}: committed, but no longer declared" for name in before]

    for name, run in runs.items():
        if addresses.get(name) != run.address:
            problems.append(f"run {name}: its description has changed since the results were committed")
    name, compared, found = _again(study, runs, tables, device)
    return Verification(len(now), compared, name, tuple(problems + found))


def study_record(result: StudyResult) -> dict[str, Any]:
    """What is committed beside tables and claims, so that they can be verified."""
    return {
        "schema": 1,
        "study": result.study.name,
        "scale": result.scale,
        "members": result.members,
        "command": result.command,
        "runs": {name: dict(run) for name, run in result.provenance.items()},
    }


def _differences(before: dict[str, Any] | None, now: dict[str, Any]) -> list[str]:
    if before is None:
        return [f"claim {now['id']}: declared, but not among the committed ones"]
    wrong = []
    for key, value in now.items():
        old = before.get(key)
        if isinstance(value, float) and isinstance(old, (int, float)):
            same = math.isclose(value, old, rel_tol=1e-9, abs_tol=1e-12)
        else:
            same = value == old
        if not same:
            wrong.append(f"claim {now['id']}: {key} is {value!r}, committed was {old!r}")
    return wrong


def _again(
    study: Study, runs: Mapping[str, Run], tables: dict[str, pl.DataFrame], device: str
) -> tuple[str, int, list[str]]:
    """Train member 0 of the run with the fewest steps, and compare its early figures with the committed ones."""
    alone = {name: first for name, run in runs.items() if (first := run.first_member()) is not None}
    if not alone:
        return "none: no run of this study trains members", 0, []
    name = min(alone, key=lambda n: (getattr(alone[n], "steps", 0), n))
    with tempfile.TemporaryDirectory() as folder:
        one = get_or_compute(Store(Path(folder)), {name: alone[name]}, device=device)
        fresh = study.tables(one)
    compared, problems, where = 0, [], f"run {name}: member 0"
    for title, table in fresh.items():
        if "member" not in table.columns or "step" not in table.columns or title not in tables:
            continue
        if not set(table.columns) <= set(tables[title].columns):
            problems.append(f"run {name}: the committed table {title!r} has other columns")
            continue
        keys = [c for c in table.columns if not table[c].dtype.is_float() and table[c].dtype != pl.Boolean]
        if table.select(keys).is_duplicated().any():
            continue
        values = [c for c in table.columns if table[c].dtype.is_float()]
        earliest = table.filter(pl.col("step") > 0)["step"].min()
        until = max(EARLY, earliest) if isinstance(earliest, int) else EARLY
        both = table.filter(pl.col("step") <= until).join(
            tables[title], on=keys, how="left", suffix="_committed", nulls_equal=True
        )
        for column in values:
            new, old = both[column], both[f"{column}_committed"]
            apart = (new - old).abs().fill_nan(math.inf).filter(~(new.is_nan() & old.is_nan()).fill_null(False))
            compared += len(apart) - apart.null_count()
            worst = apart.max()
            if isinstance(worst, float) and worst > CLOSE:
                problems.append(f"{where} differs from the committed table {title!r} by {worst:.3g} in {column!r}")
            if missing := int((new.is_not_null() & old.is_null()).sum()):
                problems.append(f"{where} has {missing} figures in {column!r} that the committed table {title!r} lacks")
    if not compared:
        problems.append(f"run {name}: nothing of member 0 could be compared")
    return name, compared, problems


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read as committed results: {error}.") from None
    if not isinstance(data, dict):
        raise InputError(f"{str(path)!r} does not hold committed results.")
    return data
