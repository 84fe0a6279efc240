"""Plans on the command line: rows to collect for a purpose, from a table or from nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recombine.cli.options import check_file, levels_of, numbers, pairs
from recombine.cli.printing import counted, print_json, print_table, say, short, wrapped
from recombine.errors import InputError
from recombine.result import safe_csv

if TYPE_CHECKING:
    from recombine.checks import Plan
    from recombine.space import FactorSpace

ALL = 1_000


def print_plan(space: FactorSpace, plan: Plan, most: int) -> None:
    """What the plan gives, its rows by the first run of each combination, and all that is known of it."""
    from recombine.checks.plans.in_brief import details, in_brief
    from recombine.checks.plans.planned import TRAINED
    from recombine.checks.plans.run_sheet import named, together

    wrapped(f"\nplan: {in_brief(plan)}")
    if plan.order:
        wrapped(plan.order)
    records, found = space.decode(plan.cells), together(plan)
    several, seen = any(len(runs) > 1 for runs in found), TRAINED in plan.repeats
    rows = [
        [named(runs), *map(short, records[runs[0] - 1].values())]
        + ([f"×{len(runs)}"] if several else [])
        + (["seen" if plan.repeats[runs[0] - 1] == TRAINED else ""] if seen else [])
        for runs in found[:most]
    ]
    more = [*(["times"] if several else []), *(["before"] if seen else [])]
    print_table("", ["run", *map(short, space.names), *more], rows, one_line=True)
    if len(found) > most:
        say(f"… and {counted(len(found) - most, 'more combination')} (--plan FILE.csv has all)")
    for text in details(plan):
        wrapped(f"- {text}")


def plan_from_levels(
    levels: str,
    table: Path | None,
    budget: float | None,
    order: int,
    criterion: Literal["A", "D"],
    exclude: list[str],
    change: str | None,
    seed: int,
    json: bool,
    out: Path | None,
    sheet: Path | None,
    target: str | None,
) -> int:
    """Make, print and write a plan for factors that nobody has measured yet."""
    if table is not None:
        raise InputError("give either a table or --levels; a plan from nothing has no table.")
    if budget is None or budget != int(budget):
        raise InputError("--levels needs --budget: a whole number of rows to plan.")
    check_file(out)
    check_file(sheet, out, option="--plan")
    from recombine.checks import plan
    from recombine.checks.as_read import per_cent

    result = plan(
        levels_of(levels), int(budget), order=order, criterion=criterion,
        exclude=[pairs(text, "--exclude") for text in exclude], change=numbers(change, "--change") or None, seed=seed,
    )  # fmt: skip
    if out is not None:
        result.save(out)
    if sheet is not None:
        sheet.write_text(safe_csv(result.run_sheet(target or "answer")), encoding="utf-8")
    if json:
        print_json(result.to_dict())
        return 0
    if result.plan.after is None:
        say(result.sentence())
    print_plan(result.space, result.plan, ALL)
    lines = []
    for other in result.beside:
        errors = [None if other[key] is None else f"{other[key]:.3g}" for key in ("error", "worst")]
        lines.append([other["plan"], other["distinct"], per_cent(other["determined"]), *errors])
    columns = ["published plan", "distinct rows", "determined", "typical error", "largest error"]
    if lines:
        print_table(
            f"\nbeside plans of {int(budget):,} rows that repeat the published ones", columns, lines, one_line=True
        )
    if out is not None:
        say(f"written to {out}")
    if sheet is not None:
        say(f"{counted(len(result.plan.cells), 'row')} to collect written to {sheet}")
    return 0
