"""What a study that was made of another changes: in its runs, by comparing those of equal name, and in what it asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recombine.studies.study import Scale, Study

MOST = 6
NOTHING = object()


def changes(study: Study[Any], scale: Scale, members: int | None = None) -> tuple[str, ...]:
    """Sentences such as “optimizer is adam (lr 0.01), not sgd (lr 0.1), in 7 runs”; none where it is as it was."""
    before = study.varies
    if before is None:
        return ()
    told = _of_runs(before, study, scale, members) if scale in before.scales else [f"{before.name} has no such scale"]
    for what in ("tables", "derived"):
        old, new = getattr(before, what), getattr(study, what)
        if old is not new:
            changed = [name for name in {**old, **new} if old.get(name) is not new.get(name)]
            told.append(f"other rows are kept as {_some(changed)}")
    return (*told, *_of_claims(before, study)) or ("nothing that descriptions of runs say",)


def _of_runs(before: Study[Any], study: Study[Any], scale: Scale, members: int | None) -> list[str]:
    old, new = before.planned(scale, members), study.planned(scale, members)
    both = [name for name in new if name in old]
    found: dict[str, list[str]] = {}
    for name in both:
        for change in _apart(old[name].run.describe(), new[name].run.describe()):
            found.setdefault(change, []).append(name)
        if dict(old[name].labels) != dict(new[name].labels):
            found.setdefault("labels differ", []).append(name)
    told = [f"{change}, in {_runs(names, both)}" for change, names in found.items()]
    if gone := [name for name in old if name not in new]:
        told.append(f"not run here: {_some(gone)}")
    if added := [name for name in new if name not in old]:
        told.append(f"run here alone: {_some(added)}")
    return told


def _of_claims(before: Study[Any], study: Study[Any]) -> list[str]:
    old, new = ({claim.id: claim for claim in of.claims} for of in (before, study))
    told = {
        "claims not asked here": [name for name in old if name not in new],
        "claims asked here alone": [name for name in new if name not in old],
        "claims asked in other words or by another criterion": [
            name for name in new if name in old and new[name] is not old[name]
        ],
    }
    return [f"{what}: {_some(names)}" for what, names in told.items() if names]


def _apart(old: Mapping[str, Any], new: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Each field that differs, by its path; of two things of the same kind, the fields in which they do."""
    for name in {**old, **new}:
        one, other = old.get(name, NOTHING), new.get(name, NOTHING)
        if one == other:
            continue
        if isinstance(one, Mapping) and isinstance(other, Mapping) and one.get("kind") == other.get("kind"):
            yield from _apart(one, other, f"{path}{name}.")
        else:
            yield f"{path}{name} is {_said(other)}, not {_said(one)}"


def _said(value: Any) -> str:
    if value is NOTHING:
        return "what it is where nothing is said"
    if isinstance(value, Mapping):
        inside = ", ".join(
            f"{k.replace('_', ' ')} {_said(v)}" for k, v in value.items() if k not in ("kind", "version")
        )
        return f"{value.get('kind', '')} ({inside})".strip() if inside else str(value.get("kind", "empty"))
    if isinstance(value, (list, tuple)):
        return f"[{_some([_said(v) for v in value])}]"
    return str(value)


def _runs(names: Sequence[str], of: Sequence[str]) -> str:
    return f"all {len(of)} runs" if len(names) == len(of) > 1 else f"the run{'s' * (len(names) > 1)} {_some(names)}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
