"""Rows until an error by every way in which it may be reckoned: each way goes on from the rows of those before it, and
what is told is told by the way that asks for most. More rows never make an answer less precise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from recombine.checks.plans.planned import Plan
from recombine.checks.plans.reckoned import Reckoned


def until_all(plan_of: Callable[..., Plan], ways: Sequence[Reckoned]) -> Plan:
    """Rows that reach it also with the most that an estimated noise may be, and how few would do with what it was
    estimated to be; these, where no rows do with more."""
    few = _reaching(plan_of, [replace(way, freedom=None) for way in ways], None)
    freedom = next(way.freedom for way in ways if way.scale == few.scale)
    if freedom is None or few.floor is not None or not few.enough:
        return replace(few, freedom=freedom)
    sure = _reaching(plan_of, ways, few)
    if sure.floor is not None or not sure.enough:
        return replace(few, freedom=freedom, unsure=True)
    return replace(sure, as_estimated=len(few.cells))


def _reaching(plan_of: Callable[..., Plan], ways: Sequence[Reckoned], first: Plan | None) -> Plan:
    """Rows that do by all ways; or what one says by which none are known to do."""
    found = list[Plan]()
    for way in ways:
        begin = found[-1] if found else first
        found.append(plan_of(by=way, first=None if begin is None else begin.cells))
        if found[-1].floor is not None or not found[-1].enough:
            return _beside(found[-1], ways)
    if len(ways) == 1:
        return found[0]
    dearest = max((plan_of(by=way, first=found[-1].cells) for way in ways), key=lambda plan: plan.worst_high or 0.0)
    return _beside(replace(dearest, fewest=max(plan.fewest or 0 for plan in found)), ways)


def _beside(plan: Plan, ways: Sequence[Reckoned]) -> Plan:
    """With the scales that it is not told on."""
    return replace(plan, also=tuple(way.scale or "" for way in ways if way.scale != plan.scale))
