"""A check on a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from recombine.checks import CheckResult
from recombine.checks.plans.planned import AT_SEEN
from recombine.cli.check_facts import MOST_COLUMNS, count, facts
from recombine.cli.check_table import of_combinations, print_queries
from recombine.cli.plan import print_plan
from recombine.cli.printing import console, counted, level, print_facts, print_verdict, say, shown, wrapped

PLANNED = 30
"""Rows to collect that are shown."""
NOTHING = ": nothing needs to be collected; --budget N plans rows that make the answers more precise"
COLOURS = {
    "seen": "green",
    "determined": "green",
    "assumption unsupported": "yellow",
    "assumption rejected": "yellow",
    "extrapolation": "yellow",
    "undetermined": "red",
    "unseen level": "red",
}


def print_check(result: CheckResult, out: Path | None, best: Literal["max", "min"] | None, plan: Path | None) -> None:
    """The verdict, a plan that was asked for, facts, combinations, what to collect, and what was written where."""
    print_verdict(result.verdict + result.beside, COLOURS.get(result.verdict, "green"), result.paragraphs[0])
    if result.plan is not None:  # somebody asked for it
        print_plan(result.space, result.plan, PLANNED)
        if result.shifts is None and len(result.plan.cells):
            wrapped(AT_SEEN)
        if result.may_not_exist:
            wrapped(result.may_not_exist)
    elif result.unplanned:
        wrapped(f"\nno plan: {result.unplanned}")
    say("")
    print_facts(facts(result))
    if any(q.status != "seen" or q.rows for q in result.queries) and len(result.space) <= MOST_COLUMNS:
        say("")
        print_queries(result)
    if result.plan is None and len(result.advice.cells):
        say("")
        _print_suggestions(result)
    elif result.plan is None and result.advice.needed and result.advice.enough:
        say(f"\ncollect {counted(result.advice.needed, 'combination')} ({result.advice.method})")
    if out is not None:
        part = (
            f" ({len(result.queries):,} of {count(result.total)} combinations)"
            if len(result.queries) < result.total
            else ""
        )
        say(f"\nwritten to {out}{part}")
    if best is not None:
        wrapped(f"\nbest ({best}): {result.best(best)['words']}")
    if plan is not None:
        rows = len(result.run_sheet())
        needed = result.advice.needed or result.unplanned or result.doubt
        done = not needed if result.plan is None else result.plan.promised
        say(f"\n{counted(rows, 'row')} to collect written to {plan}{NOTHING if done and not rows else ''}")


def _print_suggestions(result: CheckResult) -> None:
    advice, where = result.advice, console()
    table = of_combinations(result, [])
    for record in result.suggestions[:PLANNED]:
        table.add_row(*[level(v) for v in record.values()])
    where.print(shown(f"collect {counted(len(advice.cells), 'combination')} ({advice.method})", style="bold"))
    where.print(table)
    if result.doubt or advice.outside:
        only = f"only if {result.rests}" if result.doubt else f"if {result.assumes}"
        where.print(shown(f"this determines {result.reached('what is asked')} {only}", style="dim"))
    if result.may_not_exist:
        where.print(shown(result.may_not_exist))
    if len(advice.cells) > PLANNED:
        say(f"… and {len(advice.cells) - PLANNED:,} more (--plan FILE.csv has all)")
