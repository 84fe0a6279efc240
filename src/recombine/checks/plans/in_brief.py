"""A plan in the few words that somebody acts on; all else that is known of it is a list of sentences."""

from __future__ import annotations

import re

from recombine.checks.plans.planned import Plan


def in_brief(plan: Plan) -> str:
    """What to collect, what that gives, and for which asked combinations it gives nothing."""
    told = not (plan.untold or plan.doubted or plan.after is None)
    beyond = f" Nothing is promised of {plan.far:,} asked outside the seen range." if plan.far and told else ""
    return f"{_promised(plan)}{beyond}"


def _promised(plan: Plan) -> str:
    """The same of those inside the seen range."""
    rows, given = plan.rows_in_words, f"if {plan.assumes}"
    if plan.untold:
        return plan.not_promised()
    if plan.floor is not None:
        where = f"on one new {plan.block}" if plan.block else "that can be collected"
        reach = f"with any number of rows {where} the largest standard error stays at {plan.size(plan.floor)}"
        return f"the error asked for is out of reach: {given}, {reach}."
    if plan.doubted:
        what = f"{rows}, chosen as {given}" if len(plan.cells) else f"no rows are needed {given}"
        return f"{what}: no standard error is told.{_outright(plan)}"
    if plan.after is None or plan.worst is None:
        return plan.words.partition(". ")[0].rstrip(".") + "."
    if plan.fewest is None:
        was = "some answers were not determined before" if plan.before is None else f"{plan.size(plan.before)} before"
        typical = f"the typical standard error of what is asked is {plan.size(plan.after)}{_unit(plan)} ({was})"
        return f"after {rows}, {given}, {typical}, the largest {plan.size(plan.worst)}."
    return _until(plan, rows, given)


def details(plan: Plan) -> list[str]:
    """All that is said of it, sentence by sentence."""
    return [f"{text[:1].upper()}{text[1:]}" for text in re.split(r"(?<=[.)]) (?=[A-Z“])", plan.words)]


def _until(plan: Plan, rows: str, given: str) -> str:
    """The same of rows until an error."""
    most = plan.size(plan.worst_high or plan.worst or 0.0)
    sure = "" if plan.freedom is None else " with the most that the noise may be"
    given = (plan.enough and plan.either_way) or given
    if plan.unsure:
        need = f"after {rows}" if len(plan.cells) else "without more rows"
        far = "out of reach with the most that it may be"
        return f"{need}, {given}, the error is reached if the noise is what it was estimated to be: {far}."
    if not len(plan.cells):
        return f"no row is needed: {given}, the largest standard error is {most}{_unit(plan)} already{sure}."
    if not plan.enough:
        return (
            f"after {rows}, {given}, the largest standard error is {most}{_unit(plan)}{sure}: not what was asked for."
        )
    again = " A few repeats first may shorten it, see below." if plan.again else ""
    fewer = "" if plan.as_estimated is None else f"; with the noise as estimated {plan.as_estimated or 'none'} would do"
    reached = f"after {rows}, {given}, the largest standard error is {most}{_unit(plan)}{sure}{fewer}."
    return f"{reached}{_outright(plan)}{again}"


def _outright(plan: Plan) -> str:
    """What it costs to measure all that is asked, where a plan costs no less."""
    asked = plan.outright
    if asked is None or plan.costs.sum() < asked.price:
        return ""
    all_of_it = "each asked combination" if asked.cells > 1 else "the one asked combination"
    return f" Measuring {all_of_it} once costs {asked.price:g}."


def _unit(plan: Plan) -> str:
    return " times the noise of one row" if plan.units == "noise" else ""
