"""Get runs: from the store where they exist, by computing them where they do not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from functools import partial

from recombine.errors import InputError
from recombine.runs.executors import Executor, executor
from recombine.runs.failures import keep_failure
from recombine.runs.handing_out import hand_out
from recombine.runs.layout import StoreError
from recombine.runs.run import Run, silence
from recombine.runs.store import Store
from recombine.runs.stored import StoredRun
from recombine.runs.watching import NamedProgress
from recombine.runs.work import Answer, Piece, already, compute

log = logging.getLogger("recombine.runs")


class RunFailed(InputError):
    """Some runs failed; the others are stored. ``failures`` holds the errors by name of run."""

    def __init__(self, failures: Mapping[str, Exception], asked: int, store: Store) -> None:
        self.failures = dict(failures)
        alike: dict[str, list[str]] = {}
        for name, error in failures.items():
            alike.setdefault(_brief(error), []).append(name)
        reasons = "; ".join(f"{_named(names)} ({reason})" for reason, names in alike.items())
        count, where = f"{len(failures)} of {asked} runs failed", f"{store.name}/failed"
        others = "the others are stored, " if len(failures) < asked else ""
        super().__init__(f"{count}: {reasons}; {others}the reasons are kept in {where!r}.")


def get_or_compute(
    store: Store,
    runs: Mapping[str, Run],
    *,
    device: str = "auto",
    on: str = "here",
    progress: NamedProgress | None = None,
    on_done: Callable[[str, StoredRun], None] | None = None,
) -> dict[str, StoredRun]:
    """Every run by name. What is stored costs nothing; the rest is computed ``on`` an executor and stored.

    ``on`` is ``here`` (this process, one run at a time), ``processes`` (of this machine), or ``ray``; the tables are
    the same. A run that raises keeps its reason and the others are finished first; then one `RunFailed` names the
    failed ones. A store that cannot be written ends it at once, since nothing computed after it could be kept. Ctrl-C
    ends it at once too: stored runs stay, and a run in the middle continues from its workspace when asked for again.
    """
    found: dict[str, StoredRun] = {}
    failures: dict[str, Exception] = {}
    chosen, left = executor(on, device), dict(runs)
    if chosen.apart:
        # Workers are only started for what is missing.
        for name, run in runs.items():
            if there := already(store, run):
                found[name] = there
                del left[name]
                if on_done:
                    on_done(name, there)
        if not left:
            return found
    with chosen as crew, closing(_answers(crew, store, left, progress)) as answers:
        for name, answer in answers:
            if answer.error is None:
                found[name] = answer.stored or _read(store, runs[name])
                if on_done:
                    on_done(name, found[name])
                continue
            if answer.state == "no store":
                raise answer.error
            reason = _brief(answer.error)
            before = next((other for other, error in failures.items() if _brief(error) == reason), None)
            log.warning("the run %r failed%s", name, f": {reason}" if before is None else f" as {before!r} did")
            if answer.state == "lost":
                keep_failure(store, runs[name], answer.error)
            failures[name] = answer.error
    if failures:
        raise RunFailed(failures, len(runs), store) from next(iter(failures.values()))
    return {name: found[name] for name in runs}


def _answers(
    crew: Executor, store: Store, runs: Mapping[str, Run], progress: NamedProgress | None
) -> Generator[tuple[str, Answer], None, None]:
    """Each run by name with its last answer: it is stored, or it failed."""
    if not crew.apart:
        for name, run in runs.items():
            work = partial(compute, store, progress=partial(progress, name) if progress else silence)
            for answer in crew.each(work, [Piece(run, crew.device)]):
                yield name, answer
        return
    names: dict[str, list[str]] = {}
    for name, run in runs.items():
        names.setdefault(run.address, []).append(name)
    for answer in hand_out(crew, store, {address: runs[same[0]] for address, same in names.items()}, names, progress):
        for name in names[answer.address]:
            yield name, answer


def _read(store: Store, run: Run) -> StoredRun:
    stored = store.get(run)
    if stored is None:
        raise StoreError(f"the run {run.address[:12]} does not stay in {store.name!r}: something removes its files.")
    return stored


def _named(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def _brief(error: Exception, limit: int = 200) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= limit else text[:limit] + "…"
