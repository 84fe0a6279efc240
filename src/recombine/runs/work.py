"""What a worker does with a run, wherever it works: look whether it is stored, compute it or a piece, store it."""

from __future__ import annotations

import errno
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal

from recombine.runs._provenance import provenance, start
from recombine.runs.failures import forget_failure, keep_failure
from recombine.runs.layout import StoreError, why
from recombine.runs.notes import Note, spent
from recombine.runs.run import Context, Progress, Run, RunPlan
from recombine.runs.store import Store
from recombine.runs.stored import StoredRun

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
"""What a full or read-only disk says."""


@dataclass(frozen=True)
class Piece:
    """A run, or one unit of it, and where it is to be computed."""

    run: Run
    device: str = "auto"
    unit: int | None = None
    command: str = ""
    """What the person typed, for the provenance: a worker's own command line says nothing."""
    code: tuple[str | None, str] = (None, "")
    """Commit and source of whoever hands it out: a worker elsewhere with the same source may not know its commit."""


@dataclass(frozen=True)
class Answer:
    """What became of a piece. ``kept``: the unit is in the workspace, others are still missing; ``lost``: whoever
    worked on it is gone."""

    address: str
    state: Literal["stored", "kept", "planned", "failed", "lost", "no store"]
    error: Exception | None = None
    plan: RunPlan | None = None
    stored: StoredRun | None = None
    """The run as whoever answered sees it."""


def plan(store: Store, piece: Piece) -> Answer:
    """Whether a run is stored, or else how it will be computed."""
    run = piece.run
    try:
        if there := already(store, run):
            return Answer(run.address, "stored", stored=there)
    except StoreError as error:
        return Answer(run.address, "no store", error)
    from recombine.training import pick_device

    try:
        found = run.plan(str(pick_device(piece.device)))
    except Exception:
        found = RunPlan()  # What is wrong with it is said when it is computed.
    return Answer(run.address, "planned", plan=found)


def compute(store: Store, piece: Piece, progress: Progress | None = None) -> Answer:
    """Compute a piece; whoever completes a run stores it. Progress is noted in the workspace, and told if asked for."""
    run = piece.run
    try:
        return _compute(store, piece, progress)
    except StoreError as error:
        return Answer(run.address, "no store", error)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            # A checkpoint cannot be written: what comes after it could not be kept either.
            told = f"run {run.address[:12]} cannot write to {store.name!r}: {why(error)}; finished runs are intact; "
            again = "make room or choose another store and run the same command again."
            return Answer(run.address, "no store", StoreError(told + again))
        try:
            # Another process may have finished this run and cleared the workspace under our feet: then all is well.
            if there := store.get(run):
                return Answer(run.address, "stored", stored=there)
        except StoreError as problem:
            return Answer(run.address, "no store", problem)
        keep_failure(store, run, error)
        return Answer(run.address, "failed", error)


def _compute(store: Store, piece: Piece, progress: Progress | None) -> Answer:
    run, unit = piece.run, piece.unit
    if there := already(store, run):
        return Answer(run.address, "stored", stored=there)
    from recombine.training import one_thread_each, pick_device

    device = str(pick_device(piece.device))
    started = start(device)
    workspace = store.workspace(run)
    note = Note(workspace, unit)
    context = Context(device, workspace, note if progress is None else _both(note, progress))
    with one_thread_each() if device == "cpu" else nullcontext():
        if unit is not None:
            complete = run.compute_unit(unit, context)
            note.finish()
            if not complete:
                return Answer(run.address, "kept")
        outcome = run.compute(context)
    origin = provenance(device, started)
    if piece.command:
        origin["command"] = piece.command
    known, of = piece.code
    if origin["commit"] is None and origin["source"] == of:
        origin["commit"] = known
    origin["seconds"] = round(origin["seconds"] + note.before + spent(workspace, but=unit), 3)
    stored = store.put(run, outcome, origin)
    forget_failure(store, run)
    return Answer(run.address, "stored", stored=stored)


def _both(note: Note, progress: Progress) -> Progress:
    def tell(done: int, total: int, text: str) -> None:
        note(done, total, text)
        progress(done, total, text)

    return tell


def already(store: Store, run: Run) -> StoredRun | None:
    """The run, where it is stored."""
    there = store.get(run)
    if there is not None:
        store.forget_workspace(run)  # Left behind where a process died between storing the run and tidying up.
    return there
