"""Run a study: get or compute its runs, make its tables, judge its claims."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recombine.errors import InputError
from recombine.runs import Store, StoredRun, get_or_compute
from recombine.studies.study import Scale, Setting, Study, StudyResult
from recombine.studies.tables import tables_of

NamedProgress = Callable[[str, int, int, str], None]
Done = Callable[[str, StoredRun], None]


def run_study(
    study: Study[Any],
    scale: Scale = "quick",
    *,
    store: Store,
    members: int | None = None,
    device: str = "auto",
    on: str = "here",
    progress: NamedProgress | None = None,
    on_done: Done | None = None,
) -> StudyResult:
    """The study at a scale, computed ``on`` an executor. Runs that are in the store cost nothing, whoever put them
    there."""
    check_study(study, members)
    started = time.monotonic()
    settings = study.planned(scale, members)
    runs = {name: setting.run for name, setting in settings.items()}
    stored = get_or_compute(store, runs, device=device, on=on, progress=progress, on_done=on_done)
    return _conclude(study, scale, members, settings, stored, started)


def run_studies(
    studies: Sequence[Study[Any]],
    scale: Scale = "quick",
    *,
    store: Store,
    members: int | None = None,
    device: str = "auto",
    on: str = "here",
    progress: NamedProgress | None = None,
    on_done: Done | None = None,
) -> list[StudyResult]:
    """Several studies. Their runs are handed out together, so that no worker waits for the last run of a study; in
    progress and errors a run is called study/run. A study's seconds are then those of its runs."""
    for study in studies:
        check_study(study, members)
    planned = {study.name: study.planned(scale, members) for study in studies}
    runs = {f"{study}/{name}": s.run for study, settings in planned.items() for name, s in settings.items()}
    stored = get_or_compute(store, runs, device=device, on=on, progress=progress, on_done=on_done)
    results = []
    for study in studies:
        mine = {name: stored[f"{study.name}/{name}"] for name in planned[study.name]}
        work = sum(float(run.provenance.get("seconds") or 0.0) for run in mine.values())
        started = time.monotonic() - work
        results.append(_conclude(study, scale, members, planned[study.name], mine, started))
    return results


def check_study(study: object, members: int | None) -> None:
    """Raise unless this is a study, and can be run with that many members."""
    if not isinstance(study, Study):
        raise InputError(f"{study!r} is not a study; find_study(name) gives one.")
    if members is not None and members < 2:
        raise InputError(f"a study needs at least 2 members to give an interval, got {members}.")


def _conclude(
    study: Study[Any],
    scale: Scale,
    members: int | None,
    settings: Mapping[str, Setting],
    stored: Mapping[str, StoredRun],
    started: float,
) -> StudyResult:
    tables = tables_of(study, settings, stored)
    return StudyResult(
        study=study,
        scale=scale,
        members=members,
        claims=study.judge(tables, settings),
        tables=tables,
        provenance={name: origin(run) for name, run in stored.items()},
        seconds=time.monotonic() - started,
        command=f"recombine study run {study.name} --scale {scale}" + (f" --members {members}" if members else ""),
    )


def origin(run: StoredRun) -> dict[str, Any]:
    """Where a run came from, as it is committed."""
    chosen = {name: run.notes.get(name) for name in ("members", "steps", "strategy", "stack", "reason", "diverged")}
    # How the study is made again is said once, for the whole of it.
    rest = {name: value for name, value in run.provenance.items() if name != "command"}
    return {"address": run.address, **chosen, **rest}
