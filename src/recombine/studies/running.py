"""Run a study: get or compute its runs, make its tables, judge its claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from recombine.errors import InputError
from recombine.runs import Store, StoredRun, get_or_compute
from recombine.studies.claims import ClaimResult
from recombine.studies.finding import STUDIES, find_study
from recombine.studies.study import Scale, Study, StudyResult
from recombine.studies.tables import tables_of
from recombine.studies.variation import refuse_idle, refuse_unasked
from recombine.studies.varied_claims import beside_claims
from recombine.training.progress import told, watched

OF_COMMITTED = "Noted beside the committed results, at paper scale: "
STORE = ".recombine"
"""Where runs are kept if nobody says otherwise; the command line has the same."""


class How(TypedDict, total=False):
    """On which device and which executor runs are computed, and who is told of it."""

    device: str
    on: str
    progress: Callable[[str, int, int, str], None] | None
    on_done: Callable[[str, StoredRun], None] | None


def run_study(
    study: Study[Any] | str, scale: Scale = "quick", *, store: Store | str | Path = STORE, members: int | None = None,
    **how: Unpack[How],
) -> StudyResult:  # fmt: skip
    """A study, by name, as a file or as it is, at a scale: ``run_study("gradient-toy")``. Runs that are in the store
    cost nothing, whoever put them there. ``device`` is auto, cpu or cuda; ``on`` here, processes, ray …

        result = rc.run_study("gradient-toy", "smoke")     # a minute; stored, so that a second time it takes none
        result.claims                                      # each with its figure, its interval and its status
    """
    return run_studies([study], scale, store=store, members=members, **how)[0]


def run_studies(
    studies: Sequence[Study[Any] | str], scale: Scale = "quick", *, store: Store | str | Path = STORE,
    members: int | None = None, **how: Unpack[How],
) -> list[StudyResult]:  # fmt: skip
    """Several studies. Their runs are handed out together, so that no worker waits for the last run of a study; in
    progress and errors a run of one among several is called study/run."""
    found = checked(studies, scale, members)
    planned = {study.name: study.planned(scale, members) for study in found}
    called = "{0}/{1}" if len(found) > 1 else "{1}"
    runs = {called.format(of, name): s.run for of, settings in planned.items() for name, s in settings.items()}
    with _told(how, len(runs)) as ways:
        stored = get_or_compute(store if isinstance(store, Store) else Store(store), runs, **ways)
    results = []
    for study in found:
        settings = planned[study.name]
        mine = {name: stored[called.format(study.name, name)] for name in settings}
        tables = tables_of(study, settings, mine)
        provenance = {name: origin(run) for name, run in mine.items()}
        results.append(judged(StudyResult(study, scale, (), tables, provenance, members)))
    return results


@contextmanager
def _told(how: How, count: int) -> Iterator[How]:
    """A bar over all runs, where nobody else is told of progress and somebody can see it."""
    if how.get("progress") is not None or not watched():
        yield how
        return
    parts: dict[str, float] = {}
    with told(None, f"{count} run{'s' * (count > 1)}") as tell:

        def further(name: str, done: int, total: int, _: str = "") -> None:
            parts[name] = min(1.0, done / max(total, 1))
            tell(sum(parts.values()), count)

        def ended(name: str, run: StoredRun) -> None:
            further(name, 1, 1)
            if also := how.get("on_done"):
                also(name, run)

        yield {**how, "progress": further, "on_done": ended}


def judged(result: StudyResult) -> StudyResult:
    """With its claims, judged anew. Reasons of this package's studies speak of what is committed, at paper scale, where
    they have to say why a claim was not run; beside other figures they say so, and what is missing comes first."""
    study = result.study
    claims = study.judge(result.tables, study.planned(result.scale, result.members))
    ours = study.notes is getattr(STUDIES.get(study.original.name), "notes", None)
    committed = result.scale == "paper" and result.members is None and study.precision == "float32"
    if not (ours and committed):
        claims = tuple(_explained(claim, OF_COMMITTED if ours else "") for claim in claims)
    return replace(result, claims=beside_claims(claims, study, result.scale, result.members))


def _explained(claim: ClaimResult, of: str) -> ClaimResult:
    """With what is missing where it was not run, and before the reason of its study what that is ``of``."""
    said = (claim.missing, of + claim.explanation if claim.explanation else "")
    return claim.explained(" ".join(filter(None, said)), claim.settles)


def checked(studies: Sequence[Study[Any] | str], scale: Scale, members: int | None) -> list[Study[Any]]:
    """The studies, if they are and can be run with that many members, and if what they change of others, or is asked
    of them, changes something."""
    found = [find_study(study) if isinstance(study, str) else study for study in studies]
    for study in found:
        if not isinstance(study, Study):
            raise InputError(f"{study!r} is not a study; give its name, its file, or a Study.")
    if members is not None and members < 2:
        raise InputError(f"a study needs at least 2 members to give an interval, got {members}.")
    for study in found:
        refuse_idle(study, scale, members)
    refuse_unasked(found, scale, members)
    return found


def origin(run: StoredRun) -> dict[str, Any]:
    """Where a run came from, as it is committed."""
    chosen = {name: run.notes.get(name) for name in ("members", "steps", "strategy", "stack", "reason", "diverged")}
    # How the study is made again is said once, for the whole of it.
    rest = {name: value for name, value in run.provenance.items() if name != "command"}
    return {"address": run.address, **chosen, **rest}
