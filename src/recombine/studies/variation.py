"""What a study that was made of another changes: in its runs, by comparing those of equal name, and in what it asks.

A variation that changes nothing would only seem to confirm: it is refused before anything is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recombine.description import Description
from recombine.errors import InputError
from recombine.runs.training import TrainingRun
from recombine.studies.recording import ends_told, recorded_otherwise
from recombine.studies.unread import keeps_otherwise, same, unread

if TYPE_CHECKING:
    from recombine.runs import Run
    from recombine.studies.study import Scale, Setting, Study

MOST = 6
NOTHING = object()


def changes(study: Study[Any], scale: Scale, members: int | None = None) -> tuple[str, ...]:
    """Sentences such as “optimizer is adam (lr 0.01) instead of sgd (lr 0.1), in all 7 runs”; none where it is as it
    was."""
    before = study.varies
    if before is None:
        return ()
    told = [f"{before.name} has no such scale"]
    if scale in before.scales:
        told = of_runs(before.planned(scale, members), study.planned(scale, members)) or ["no run differs"]
    declared, planned = study.settings(study.scales[scale], members), study.planned(scale, members)
    told += dict.fromkeys(one for name, s in planned.items() for one in ends_told(declared[name].run, s.run))
    if changed := other_rows(before, study):
        told.append(f"other rows are kept as {some(changed)}")
    return (*told, *_of_claims(before, study))


def other_rows(before: Study[Any], study: Study[Any]) -> list[str]:
    """The tables that are kept or derived otherwise."""
    both = ((getattr(before, what), getattr(study, what)) for what in ("tables", "derived"))
    return [name for old, new in both for name in {**old, **new} if old.get(name) != new.get(name)]


def asked(study: Study[Any], scale: Scale, members: int | None = None) -> tuple[str, ...]:
    """What ``members`` and the study's precision change of its own runs, as sentences."""
    if members is None and study.precision == "float32":
        return ()
    usual: Study[Any] = replace(study, precision="float32")
    return tuple(of_runs(usual.planned(scale), study.planned(scale, members)))


def refuse_idle(study: Study[Any], scale: Scale, members: int | None = None) -> None:
    """Refuse, before anything is run, a variation that changes nothing, and one with a run that is described otherwise
    than another and computes the same."""
    before = study.varies
    if before is None or scale not in before.scales:
        return
    old, new, kept = before.planned(scale, members), study.planned(scale, members), other_rows(before, study)
    if not of_runs(old, new) and not kept:
        raise InputError(
            f"{study.name!r} changes nothing of {before.name!r} at {scale} scale: its runs have the same addresses and "
            "labels. Change a field of them (run.describe() lists what is set); for other claims alone leave settings= "
            "out."
        )
    found: dict[tuple[str, str], list[str]] = {}
    for name, beside, known in _again(old, new):
        if kept and keeps_otherwise(known.run, new[name].run):
            continue
        where = name if name == beside else f"{name} (beside {beside})"
        for change, note in _apart(known.run, new[name].run):
            note = "; no table reads weights" if change.startswith("keep_weights ") else note
            found.setdefault((change, note), []).append(where)
    if found:
        told = "; ".join(f"{change}, in {some(names)}{note}" for (change, note), names in found.items())
        raise InputError(f"{study.name!r} would compute the same again at {scale} scale: {told}. Leave these runs as "
                         "they are.")  # fmt: skip


def refuse_unasked(studies: Sequence[Study[Any]], scale: Scale, members: int | None = None) -> None:
    """Refuse a number of members or a precision that changes none of the runs, before any is run."""
    names = ", ".join(study.name for study in studies)
    if members is not None and not any(asked(replace(study, precision="float32"), scale, members) for study in studies):
        raise InputError(f"{members} members change no run of {names} at {scale} scale: each has as many, or none to "
                         "choose. Give another number, or leave it out.")  # fmt: skip
    for study in studies:
        if study.precision != "float32" and not asked(study, scale):
            raise InputError(f"the precision {study.precision} changes no run of {study.name} at {scale} scale: none "
                             "is a training that leaves it open. Leave it out.")  # fmt: skip


def _again(old: Mapping[str, Setting], new: Mapping[str, Setting]) -> Iterator[tuple[str, str, Setting]]:
    """Runs that are described otherwise than the one of their name, or than one that is there besides, and compute the
    same; each with the name of that one and itself."""
    known = dict(old)
    for name, setting in new.items():
        for other, there in ({name: old[name]} if name in old else known).items():
            if there.run.address != setting.run.address and same(there.run, setting.run):
                yield name, other, there
                break
        known.setdefault(name, setting)


def of_runs(old: Mapping[str, Setting], new: Mapping[str, Setting], brief: bool = False) -> list[str]:
    """What differs in runs of equal name, and which are on one side alone. ``brief``: what differs in all of them is
    told without their names."""
    both = [name for name in new if name in old]
    found: dict[tuple[str, str], list[str]] = {}
    for name in both:
        one, other = old[name], new[name]
        # Labels and shares of a run that was changed follow from what it is.
        told = _apart(one.run, other.run) if one.run.address != other.run.address else _beside(one, other)
        for change in told:
            found.setdefault(change, []).append(name)
    sentences = [
        f"{change}{note}" if brief and len(names) == len(both) else f"{change}, in {_runs(names, both)}{note}"
        for (change, note), names in found.items()
    ]
    if gone := [name for name in old if name not in new]:
        sentences.append(f"not run here: {some(gone)}")
    known = {setting.run.address: name for name, setting in old.items()}
    if added := [
        f"{name} (which is {known[s.run.address]})" if s.run.address in known else name
        for name, s in new.items() if name not in old
    ]:  # fmt: skip
        sentences.append(f"run here alone: {some(added)}")
    return sentences


def _beside(old: Setting, new: Setting) -> Iterator[tuple[str, str]]:
    """What is said otherwise of the same run."""
    keys = {**old.labels, **new.labels}
    if labels := [key for key in keys if old.labels.get(key, NOTHING) != new.labels.get(key, NOTHING)]:
        yield f"labels differ ({', '.join(labels)})", ""
    shares = [one.faithful and one.faithful.shares(one.run) for one in (old, new)]
    if shares[0] != shares[1]:
        yield "other numbers stand for the paper's setting", ""


def _of_claims(before: Study[Any], study: Study[Any]) -> list[str]:
    old, new = ({claim.id: claim for claim in of.claims} for of in (before, study))
    told = {
        "claims not asked here": [name for name in old if name not in new],
        "claims asked here alone": [name for name in new if name not in old],
        "claims asked in other words or by another criterion": [
            name for name in new if name in old and new[name] is not old[name]
        ],
    }
    return [f"{what}: {some(names)}" for what, names in told.items() if names]


def _apart(old: Run, new: Run) -> Iterator[tuple[str, str]]:
    """Each field that differs, by its path, and, where nothing reads it, that this is so."""
    idle = unread(old, new)
    for path, other, one in _fields(old, new):
        if path == "measured" and isinstance(old, TrainingRun) and isinstance(new, TrainingRun):
            yield from ((told, "") for told in recorded_otherwise(old, new))
            continue
        where = f" (it would be read where {idle[path]})" if idle.get(path) else ""
        note = f"; nothing there reads it{where}" if path in idle else ""
        yield f"{path} is {_said(other)} instead of {_said(one)}", note


def _fields(old: Description, new: Description, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Of two things of the same kind the fields in which they differ, as few as say it, with the new and the old
    value as described."""
    whole_old, whole_new = old.resolved(), new.resolved()
    brief_old, brief_new = whole_old | old.describe(), whole_new | new.describe()
    for name in {**whole_old, **whole_new}:
        one, other = (getattr(of, name, None) for of in (old, new))
        if whole_old.get(name, NOTHING) == whole_new.get(name, NOTHING):
            continue
        if isinstance(one, Description) and isinstance(other, Description) and one.kind == other.kind:
            yield from _fields(one, other, f"{path}{name}.")
        else:
            yield f"{path}{name}", brief_new.get(name, NOTHING), brief_old.get(name, NOTHING)


def _said(value: Any) -> str:
    if value is None or value is NOTHING:
        return "none"
    if isinstance(value, Mapping):
        inside = ", ".join(
            f"{k.replace('_', ' ')} {_said(v)}" for k, v in value.items() if k not in ("kind", "version")
        )
        return f"{value.get('kind', '')} ({inside})".strip() if inside else str(value.get("kind", "empty"))
    if isinstance(value, (list, tuple)):
        return f"[{some([_said(v) for v in value])}]"
    return str(value)


def _runs(names: Sequence[str], of: Sequence[str]) -> str:
    return f"all {len(of)} runs" if len(names) == len(of) > 1 else f"the run{'s' * (len(names) > 1)} {some(names)}"


def some(names: Sequence[str]) -> str:
    """Names, at most a few of many."""
    return ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
