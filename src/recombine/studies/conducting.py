"""Run a study: obtain its runs, make its tables, judge its claims."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recombine.errors import InputError
from recombine.runs import Store, StoredRun, get_or_compute
from recombine.studies.study import SCALES, Scale, Study, StudyResult

NamedProgress = Callable[[str, int, int, str], None]
Done = Callable[[str, StoredRun], None]


def conduct(
    study: Study,
    scale: Scale = "quick",
    *,
    store: Store,
    members: int | None = None,
    device: str = "auto",
    on: str = "here",
    progress: NamedProgress | None = None,
    on_done: Done | None = None,
) -> StudyResult:
    """The study at a scale, computed ``on`` an executor (see `get_or_compute`). Runs that are in the store cost
    nothing, whoever put them there."""
    _check([study], scale, members)
    started = time.monotonic()
    stored = get_or_compute(store, study.runs(scale, members), device=device, on=on, progress=progress, on_done=on_done)
    return _conclude(study, scale, members, stored, started)


def conduct_all(
    studies: Sequence[Study],
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
    _check(studies, scale, members)
    planned = {study.name: study.runs(scale, members) for study in studies}
    runs = {f"{study}/{name}": run for study, named in planned.items() for name, run in named.items()}
    stored = get_or_compute(store, runs, device=device, on=on, progress=progress, on_done=on_done)
    results = []
    for study in studies:
        mine = {name: stored[f"{study.name}/{name}"] for name in planned[study.name]}
        work = sum(float(run.provenance.get("seconds") or 0.0) for run in mine.values())
        results.append(_conclude(study, scale, members, mine, time.monotonic() - work))
    return results


def _check(studies: Sequence[Study], scale: str, members: int | None) -> None:
    for study in studies:
        if not isinstance(study, Study):
            raise InputError(f"{study!r} is not a study; find_study(name) gives one.")
    check_scale(scale, members)


def check_scale(scale: str, members: int | None) -> None:
    """Raise unless a study can be run at that scale with that many members."""
    if scale not in SCALES:
        raise InputError(f"a study has the scales {', '.join(SCALES)}, not {scale!r}.")
    if members is not None and members < 2:
        raise InputError(f"a study needs at least 2 members to give an interval, got {members}.")


def _conclude(
    study: Study, scale: Scale, members: int | None, stored: Mapping[str, StoredRun], started: float
) -> StudyResult:
    tables = study.tables(stored)
    return StudyResult(
        study=study,
        scale=scale,
        members=members,
        claims=tuple(claim.evaluate(tables) for claim in study.claims),
        tables=tables,
        provenance={name: _provenance(run) for name, run in stored.items()},
        seconds=time.monotonic() - started,
        command=_command(study, scale, members),
    )


def _provenance(run: StoredRun) -> dict[str, Any]:
    chosen = {name: run.notes.get(name) for name in ("members", "steps", "strategy", "stack", "reason", "diverged")}
    # How the study is made again is said once, for the whole of it.
    origin = {name: value for name, value in run.provenance.items() if name != "command"}
    return {"address": run.address, **chosen, **origin}


def _command(study: Study, scale: Scale, members: int | None) -> str:
    return f"recombine study run {study.name} --scale {scale}" + (f" --members {members}" if members else "")
