"""Get runs: from the store where they exist, by computing them where they do not. One process, one after another."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial

from recombine.errors import InputError
from recombine.runs.failures import forget_failure, keep_failure
from recombine.runs.files import StoreError
from recombine.runs.provenance import provenance, start
from recombine.runs.run import Context, Run, silence
from recombine.runs.store import Store
from recombine.runs.stored import StoredRun

log = logging.getLogger("recombine.runs")

NamedProgress = Callable[[str, int, int, str], None]
"""Told how far a run has come: its name, done, total, and a few words."""


class RunFailed(InputError):
    """Some runs failed; the others are stored. ``failures`` holds the errors by name of run."""

    def __init__(self, failures: Mapping[str, Exception], asked: int, store: Store) -> None:
        self.failures = dict(failures)
        reasons = "; ".join(f"{name!r} ({_brief(error)})" for name, error in failures.items())
        count, where = f"{len(failures)} of {asked} runs failed", str(store.root / "failed")
        super().__init__(f"{count}: {reasons}; the others are stored, the reasons are kept in {where!r}.")


def obtain(
    store: Store,
    runs: Mapping[str, Run],
    *,
    device: str = "auto",
    progress: NamedProgress | None = None,
    on_done: Callable[[str, StoredRun], None] | None = None,
) -> dict[str, StoredRun]:
    """Every run by name. What is stored costs nothing; the rest is computed and stored, one run at a time.

    A run that raises keeps its reason and the others are finished first; then one `RunFailed` names the failed ones.
    A store that cannot be written ends it at once, since nothing computed after it could be kept. Ctrl-C ends it at
    once too: stored runs stay, and a run in the middle continues from its workspace when asked for again.
    """
    found: dict[str, StoredRun] = {}
    failures: dict[str, Exception] = {}
    for name, run in runs.items():
        try:
            found[name] = _obtain(store, run, device, partial(progress, name) if progress else silence)
        except StoreError:
            raise
        except Exception as error:
            # Another process may have finished this run and cleared the workspace under our feet: then all is well.
            there = store.get(run)
            if there is None:
                log.warning("the run %r failed: %s", name, _brief(error))
                keep_failure(store, run, error)
                failures[name] = error
                continue
            found[name] = there
        if on_done:
            on_done(name, found[name])
    if failures:
        raise RunFailed(failures, len(runs), store) from next(iter(failures.values()))
    return found


def _obtain(store: Store, run: Run, device: str, progress: Callable[[int, int, str], None]) -> StoredRun:
    there = store.get(run)
    if there is not None:
        store.forget_workspace(run)  # Left behind where a process died between storing the run and tidying up.
        return there
    from recombine.training import pick_device

    device = str(pick_device(device))
    started = start(device)
    outcome = run.compute(Context(device, store.workspace(run), progress))
    stored = store.put(run, outcome, provenance(device, started))
    forget_failure(store, run)
    return stored


def _brief(error: Exception, limit: int = 200) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= limit else text[:limit] + "…"
