"""Run a study: obtain its runs, make its tables, judge its claims."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from recombine.errors import InputError
from recombine.runs import Store, StoredRun, obtain
from recombine.studies.study import SCALES, Scale, Study, StudyResult

NamedProgress = Callable[[str, int, int, str], None]


def conduct(
    study: Study,
    scale: Scale = "quick",
    *,
    store: Store,
    members: int | None = None,
    device: str = "auto",
    progress: NamedProgress | None = None,
    on_done: Callable[[str, StoredRun], None] | None = None,
) -> StudyResult:
    """The study at a scale. Runs that are in the store cost nothing, whoever put them there."""
    if scale not in SCALES:
        raise InputError(f"a study has the scales {', '.join(SCALES)}, not {scale!r}.")
    if members is not None and members < 2:
        raise InputError(f"a study needs at least 2 members to give an interval, got {members}.")
    started = time.monotonic()
    stored = obtain(store, study.runs(scale, members), device=device, progress=progress, on_done=on_done)
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
