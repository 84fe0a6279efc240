"""Hand runs out to workers that are other processes: plan them, split them, the longest first, join what was split.

How a run is split follows from its description and the kind of device, never from how many workers there are, so that
its tables do not either. Whoever finishes the last unit of a run joins them and stores it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from recombine.runs import work
from recombine.runs._provenance import command
from recombine.runs.code import commit, source
from recombine.runs.executors import Executor
from recombine.runs.run import Run, RunPlan
from recombine.runs.store import Store
from recombine.runs.watching import NamedProgress, watching
from recombine.runs.work import Answer, Piece


def hand_out(
    crew: Executor,
    store: Store,
    runs: Mapping[str, Run],
    names: Mapping[str, Sequence[str]],
    progress: NamedProgress | None = None,
) -> Iterator[Answer]:
    """One answer for each run by address, as they are finished: it is stored, or it failed."""
    afield = Store(store.root.resolve()) if isinstance(store.root, Path) else store
    typed, code = command(sys.argv), (commit(), source())
    pieces = {address: Piece(run, crew.device, command=typed, code=code) for address, run in runs.items()}
    plans: dict[str, RunPlan] = {}
    for answer in crew.each(partial(work.plan, afield), list(pieces.values())):
        if answer.plan is not None:
            plans[answer.address] = answer.plan
        else:
            yield answer
    if not isinstance(store.root, Path):
        # Workspaces lie on the machine that made them: nobody else could join what is in them.
        plans = {address: replace(plan, units=1) for address, plan in plans.items()}
    units = [unit for address, plan in plans.items() for unit in split(pieces[address], plan)]
    units.sort(key=lambda unit: -cost(unit, plans[unit.run.address]))
    left = {address: names[address][0] for address in plans}
    many = {address: plan.units for address, plan in plans.items()}
    with watching(store.work, left, many, progress) if progress else nullcontext():
        yield from _finished(crew.each(partial(work.compute, afield), units), left)
        if left:
            # Nobody saw that these were complete: a slow file system, or a stack halved because memory ran out.
            yield from _finished(crew.each(partial(work.compute, afield), [pieces[address] for address in left]), left)


def _finished(answers: Iterator[Answer], left: dict[str, str]) -> Iterator[Answer]:
    """The first last word on each run that is left; what is only kept waits for the others."""
    for answer in answers:
        if answer.state != "kept" and left.pop(answer.address, None) is not None:
            yield answer


def split(piece: Piece, plan: RunPlan) -> list[Piece]:
    """The units of a run, or the run itself where it is in one piece."""
    return [replace(piece, unit=unit) for unit in range(plan.units)] if plan.units > 1 else [piece]


def cost(piece: Piece, plan: RunPlan) -> float:
    """A number that grows with the time a piece takes: bytes touched. What cannot be told beforehand goes first."""
    steps = getattr(piece.run, "steps", None)
    if plan.touched is None or plan.stack is None or not isinstance(steps, int):
        return math.inf
    members = getattr(piece.run, "members", plan.stack)
    together = plan.stack if piece.unit is not None else members if isinstance(members, int) else len(members)
    return float(plan.touched * together * steps)
