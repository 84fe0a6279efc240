"""What a variation changes of what is recorded along a training, and what its number of steps makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from recombine.runs import Run
from recombine.runs.training import Measured, TrainingRun

AnyRun = TypeVar("AnyRun", bound=Run)


def to_the_end(run: AnyRun, before: Run | None) -> AnyRun:
    """The run, with what it would record after its last step recorded at that, and so what it records as the run
    ``before`` it did at its own last step."""
    if not isinstance(run, TrainingRun):
        return run
    ended = [one for one in before.measured if before.steps in one.at] if isinstance(before, TrainingRun) else []
    measured = []
    for one in run.measured:
        at = [*(min(step, run.steps) for step in one.at), *([run.steps] if one in ended else [])]
        measured.append(one.replace(at=tuple(dict.fromkeys(at))))
    return run.replace(measured=tuple(measured))  # type: ignore[no-any-return]


def ends_told(declared: Run, run: Run) -> Iterator[str]:
    """What `to_the_end` made of a run, as a sentence."""
    if isinstance(declared, TrainingRun) and isinstance(run, TrainingRun) and declared.measured != run.measured:
        late = any(step > run.steps for one in declared.measured for step in one.at)
        yield f"what was {'to be recorded after' if late else 'recorded at'} the last step is recorded at the new one"


def recorded_otherwise(old: TrainingRun, new: TrainingRun) -> Iterator[str]:
    """Of two runs that record otherwise, how; nothing where it follows from their numbers of steps."""
    before, after = ({one.table: one for one in run.measured} for run in (old, new))
    both = [name for name in after if name in before]
    told = {
        "not recorded": [name for name in before if name not in after],
        "recorded too": [name for name in after if name not in before],
        "recorded at other steps": [n for n in both if not _alike(before[n], old.steps, after[n], new.steps)],
    }
    for name in both:
        if what := ", ".join(_measured(before[name], after[name])):
            told.setdefault(f"measured with {what}", []).append(name)
    for how, names in told.items():
        if names:
            yield f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {how}"
    if old.steps == new.steps and not any(told.values()):
        yield "measured is described otherwise and records the same"


def _measured(old: Measured, new: Measured) -> Iterator[str]:
    """What measures it and each argument, where they differ."""
    one, other = ({"function": of.measure, **of.arguments} for of in (old, new))
    for name in {**one, **other}:
        if one.get(name) != other.get(name):
            yield f"{name.replace('_', ' ')} {other.get(name, 'none')} instead of {one.get(name, 'none')}"


def _alike(one: Measured, last: int, other: Measured, end: int) -> bool:
    """Whether the same steps are recorded before the earlier end, and both ends or neither."""
    steps, others = ({s if s >= 0 else of + 1 + s for s in what.at} for what, of in ((one, last), (other, end)))
    until = min(last, end)
    return {s for s in steps if s < until} == {s for s in others if s < until} and (last in steps) == (end in others)
