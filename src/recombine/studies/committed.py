"""Committed results: read them back, renew them run by run, and what the package carries of them.

The verdict of every claim at paper scale travels inside the package (``committed.json``), so that a page made at a
smaller scale can show it beside the local one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from recombine.errors import InputError
from recombine.runs import Store, StoredRun
from recombine.studies.finding import STUDIES, find_study
from recombine.studies.running import judged, origin
from recombine.studies.study import Study, StudyResult
from recombine.studies.tables import derived, kept, renewed

Verdicts = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Claims by study and id, each as its `to_dict` says."""

_CARRIED = Path(__file__).parent / "committed.json"
_SHOWN = ("status", "how", "measured", "low", "high", "members", "fitted", "shares")


def read_all(folder: Path, mine: Study[Any] | None = None) -> list[StudyResult]:
    """The results in a folder, of one study or with one subfolder per study, in the order of the package."""
    below = [folder] if (folder / "study.json").is_file() else [p.parent for p in folder.glob("*/study.json")]
    if not below:
        raise InputError(f"{str(folder)!r} holds no results of a study (study.json), nor does any folder in it.")
    known, results = list(STUDIES), [read_results(path, mine) for path in below]
    return sorted(results, key=lambda r: (known.index(r.study.name) if r.study.name in known else len(known),
                                          r.study.name))  # fmt: skip


def study_of(record: Mapping[str, Any], mine: Study[Any] | None = None) -> Study[Any]:
    """The study whose results were committed: found by its name, or ``mine`` where that is its name. A file is never
    run because a record names it."""
    name = str(record["study"])
    if mine is not None and mine.name == name:
        return mine
    try:
        return replace(find_study(name), precision=record.get("precision", "float32"))
    except InputError as error:
        made = str(record.get("command", ""))
        hint = f" It was made by {made[:200]!r}; name that file with --study." if ".py" in made else ""
        if made.startswith("rc."):
            hint = " It was made in Python; write the study into a file and name that with --study."
        raise InputError(f"{error}{hint}") from None


def read_results(folder: Path, mine: Study[Any] | None = None) -> StudyResult:
    """A study from the tables that were committed of it, judged anew; nothing is trained. ``mine``: a study that is
    not found by its name."""
    return _read(folder, mine, judged)


def renew(folder: Path, store: Store, mine: Study[Any] | None = None) -> tuple[StudyResult, tuple[str, ...]]:
    """Committed results with every run that the store holds in place of the committed one, and the names of those. The
    committed tables are not judged: they may lack a column that a claim has come to ask for."""
    before = _read(folder, mine, lambda found: found)
    settings = before.study.planned(before.scale, before.members)
    stored = {name: run for name, s in settings.items() if (run := store.get(s.run)) is not None}
    fresh = {name: run for name, run in stored.items() if not _same(before, name, run)}
    tables = renewed(before.study, settings, before.tables, kept(before.study, settings, fresh))
    known = {name: origin(fresh[name]) if name in fresh else before.provenance.get(name) for name in settings}
    runs = {name: run for name, run in known.items() if run is not None}
    return judged(replace(before, tables=tables, provenance=runs)), tuple(fresh)


def _read(folder: Path, mine: Study[Any] | None, judge: Callable[[StudyResult], StudyResult]) -> StudyResult:
    record = read_json(folder / "study.json")
    found = study_of(record, mine)
    try:
        result = StudyResult(found, record["scale"], (), read_tables(found, folder), record["runs"], record["members"])
        float(result.seconds)  # a damaged record is found here, where it can be said
        return judge(result)
    except (OSError, KeyError, TypeError, ValueError, AttributeError, pl.exceptions.PolarsError) as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise InputError(f"{str(folder)!r} does not hold complete results of a study ({reason}).") from None


def _same(before: StudyResult, name: str, run: StoredRun) -> bool:
    """Whether a run is the very one that was committed: computed at the same moment."""
    old = before.provenance.get(name, {})
    return old.get("address") == run.address and old.get("started") == run.provenance.get("started")


def read_tables(study: Study[Any], folder: Path) -> dict[str, pl.DataFrame]:
    """The tables that the study keeps, as committed, and what is derived from them, derived again."""
    paths = {name: folder / "tables" / f"{name}.parquet" for name in study.tables}
    found = {name: pl.read_parquet(path) for name, path in paths.items() if path.exists()}
    # Some runs give only some of the tables, but runs that gave none were not committed.
    if study.tables and not found:
        raise FileNotFoundError(f"no table of {study.name} lies in {folder / 'tables'}")
    return derived(study, found)


@cache
def carried() -> Verdicts:
    """The verdicts at paper scale that came with the package."""
    found: Verdicts = json.loads(_CARRIED.read_text(encoding="utf-8")) if _CARRIED.exists() else {}
    return found


def verdicts(results: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """The verdicts under a folder of results, as the package carries them."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for file in sorted(results.glob("*/claims.json")):
        told = read_json(file)
        found[told["study"]] = {c["id"]: {name: _short(c.get(name)) for name in _SHOWN} for c in told["claims"]}
    return found


def carry(results: Path) -> Path:
    """Write what the package carries, from a folder of results."""
    text = json.dumps(verdicts(results), ensure_ascii=False, separators=(",", ":")).replace('"},"', '"},\n"')
    _CARRIED.write_text(text + "\n", encoding="utf-8")
    return _CARRIED


def read_json(path: Path) -> dict[str, Any]:
    """A file of committed results, or an error that says what it is not."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read as committed results: {error}.") from None
    if not isinstance(data, dict) or "study" not in data:
        raise InputError(f"{str(path)!r} does not hold committed results.")
    return data


def _short(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value
