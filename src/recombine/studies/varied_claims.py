"""What a variation changes of the runs that each of its claims reads, so that it is said beside the claim: a sentence
about SGD is judged on what was run, be it Adam. What it changes of all runs is said once, of the whole study.

A claim that reads as two runs what has become one is not asked: it would compare that run with itself, or count it
twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from recombine.studies.claims import NO_FIGURE, ClaimResult
from recombine.studies.study import Scale, Setting, Study
from recombine.studies.variation import of_runs, other_rows, some

Settings = Mapping[str, Setting]


def beside_claims(
    claims: Iterable[ClaimResult], study: Study[Any], scale: Scale, members: int | None = None
) -> tuple[ClaimResult, ...]:
    """The claims, each with what is changed of what it reads and not of all runs; as they are where nothing is."""
    before = study.varies
    if before is None or scale not in before.scales:
        return tuple(claims)
    old, new = before.planned(scale, members), study.planned(scale, members)
    return tuple(_beside(claim, before, study, old, new) for claim in claims)


def _beside(result: ClaimResult, before: Study[Any], study: Study[Any], old: Settings, new: Settings) -> ClaimResult:
    # Of a claim whose table does not say of which runs it is, they may be any.
    mine = set(result.runs) or {*old, *new}
    some_old, some_new = ({name: one for name, one in of.items() if name in mine} for of in (old, new))
    of_all = set(of_runs(old, new, brief=True)).difference(of_runs(old, new))
    told = [change for change in of_runs(some_old, some_new, brief=True) if change not in of_all]
    read = _read(study, result.claim.test.tables)
    told += [f"other rows are kept as {name}" for name in other_rows(before, study) if name in read]
    if any(claim.id == result.claim.id and claim is not result.claim for claim in before.claims):
        told.append(f"asked in other words or by another criterion than in {before.name}")
    alike = [names for names in _become_one(old, new) if mine.intersection(names)] if result.runs else []
    if others := [name for names in alike for name in names if name not in mine]:
        told.append(f"the same run{'s' * (len(others) > 1)} as {some(others)}")
    twice = [inside for names in alike if len(inside := [name for name in names if name in mine]) > 1]
    if not twice:
        return replace(result, changed=tuple(told))
    same = [
        f"{' and '.join(names)} are one run, which would be compared with itself or counted twice" for names in twice
    ]
    return replace(result, status="not run", figure=NO_FIGURE, everyone=NO_FIGURE, changed=(*same, *told))


def _become_one(old: Settings, new: Settings) -> list[list[str]]:
    """The names of runs that are the same here and were not."""
    found: dict[str, list[str]] = {}
    for name, setting in new.items():
        found.setdefault(setting.run.address, []).append(name)
    return [names for names in found.values() if len({_address(old, name) for name in names}) > 1]


def _address(settings: Settings, name: str) -> str:
    """Of a run that is not there, its name."""
    return settings[name].run.address if name in settings else name


def _read(study: Study[Any], tables: Iterable[str]) -> list[str]:
    """These tables and those that they are derived from."""
    found = list(tables)
    for name in found:
        found += [need for need in study.derived.get(name, (None,))[1:] if need not in found]
    return found
