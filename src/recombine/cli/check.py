"""`recombine check`: which unseen combinations can be answered, on the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recombine.cli import check_options as own
from recombine.cli.options import (
    Bins,
    Json,
    MaxBytes,
    MaxRows,
    MergeAlike,
    Missing,
    Numeric,
    OutFile,
    Seed,
    TargetKind,
    bin_counts,
    check_file,
    numbers,
    pairs,
    prices,
    shapes,
    words,
)
from recombine.cli.plan import plan_from_levels
from recombine.cli.printing import print_json, unread
from recombine.cli.progress import bar, waiting
from recombine.errors import MAX_BYTES, MAX_ROWS, InputError
from recombine.result import safe_csv

if TYPE_CHECKING:
    from recombine.checks import CheckResult


def check(
    table: own.TrainingTable = None,
    /,
    *,
    factors: own.Factors = None,
    target: own.Target = None,
    target_kind: TargetKind = None,
    split: own.Split = None,
    test: own.Test = None,
    grid: own.Grid = False,
    order: own.Order = 1,
    min_support: own.MinSupport = 1,
    bins: Bins = None,
    numeric: Numeric = None,
    block: own.Block = None,
    weights: own.Weights = None,
    missing: Missing = "error",
    merge_alike: MergeAlike = False,
    forbid: own.Forbid = None,
    exclude: own.Exclude = None,
    cost: own.Cost = None,
    budget: own.Budget = None,
    until_error: own.UntilError = None,
    noise: own.Noise = None,
    change: own.Change = None,
    criterion: own.Criterion = "A",
    levels: own.Levels = None,
    salience: own.Salience = None,
    depth: own.Depth = 1,
    max_rows: MaxRows = MAX_ROWS,
    max_bytes: MaxBytes = MAX_BYTES,
    seed: Seed = 0,
    json: Json = False,
    out: OutFile = None,
    plan: own.PlanFile = None,
    rules: own.Rules = None,
    best: own.Best = None,
    fail_on: own.FailOn = None,
) -> int:
    """Know before training which unseen combinations can be answered.

    For example:

        recombine check train.csv --factors shape,colour,size --target label

        recombine check all.parquet --factors site,device --split fold=test

        recombine check train.csv --factors a,b --out check.html

        recombine check train.csv --factors a,b --target y --json --fail-on undetermined --fail-on error=5

        recombine check train.csv --factors variety,dose,age --numeric dose --bins age=5

        recombine check train.csv --factors ligand,base --target yield --block day

        recombine check rates.csv --factors channel,region --target rate --weights visits

        recombine check train.csv --factors a,b --budget 20 --change a=10,b=1 --plan runs.csv

        recombine check --levels a=3,b=red:green,c=4 --budget 20
    """
    if plan is not None and plan.suffix.lower() != ".csv":
        raise InputError("--plan names a .csv file.")
    if levels is not None:
        return plan_from_levels(
            levels, table, budget, order, criterion, exclude or [], change, seed, json, out, plan, target
        )
    if table is None or factors is None:
        raise InputError(f"{'TABLE' if table is None else '--factors'} is missing; recombine check --help shows how.")
    chosen, counts = words(factors), bin_counts(bins or [])
    cells, never = (
        [pairs(text, f"--{name}") for text in texts or []] for name, texts in (("forbid", forbid), ("exclude", exclude))
    )
    changes = numbers(change, "--change") or None
    check_file(out, table, test)
    check_file(plan, table, test, out, option="--plan")
    from recombine.checks import Purpose, check as run

    with _watched(f"checking {table.name}", learning=rules is not None, quiet=json):
        result = run(
            table, chosen, target=target, target_kind=target_kind, split=split, test=test, grid=grid, order=order,
            min_support=min_support, bins=counts, numeric=shapes(numeric or []),
            blocks=words(block) if block else (), weights=weights, missing=missing, merge_alike=merge_alike,
            forbid=cells, exclude=never, cost=prices(cost) if cost else None,
            purpose=Purpose(budget, until_error, criterion, noise, changes), salience=salience, depth=depth,
            rules=words(rules) if rules else (), max_rows=max_rows, max_bytes=max_bytes, seed=seed,
        )  # fmt: skip
    return _finish(result, json, out, plan, best, [name for text in fail_on or [] for name in words(text)])


@contextmanager
def _watched(words: str, learning: bool, quiet: bool) -> Iterator[None]:
    """Say on a terminal what is being done, and of learners, which take seconds to minutes, how far they are."""
    if not learning:
        with waiting(words, quiet):
            yield
        return
    from recombine.checks.rules.learners import TOLD

    with bar(words, quiet) as told:
        before = TOLD.set(told)
        try:
            yield
        finally:
            TOLD.reset(before)


def _finish(
    result: CheckResult, json: bool, out: Path | None, plan: Path | None, best: Literal["max", "min"] | None,
    fail_on: list[str],
) -> int:  # fmt: skip
    """Write what was asked for, print the rest, and return how to exit."""
    failed = result.fails(fail_on)  # a condition that cannot be read is said before anything is written
    if out is not None:
        result.save(out)
    if plan is not None:
        plan.write_text(safe_csv(result.run_sheet()), encoding="utf-8")
    with unread():
        if json:
            print_json(result.to_dict() | ({} if best is None else {"best": result.best(best)}))
        else:
            from recombine.cli.check_printing import print_check

            print_check(result, out, best, plan)
    with unread(sys.stderr):
        _conditions(result, fail_on, failed)
    return int(bool(failed))


def _conditions(result: CheckResult, asked: list[str], failed: list[str]) -> None:
    """What is near to failing, and what failed."""
    from recombine.checks.forecasts.forecast_words import drawn

    for text in asked:
        told = result.forecast if text.startswith("error=") else None
        if told is not None and not told.apart and abs(told.error - float(text.partition("=")[2])) < 2 * told.by_draw:
            sys.stderr.write(f"{text} is near the forecast, {told.error:.3g}: {drawn(told)}; high=X leaves a margin\n")
    for text in failed:
        found, name = result.forecast, text.partition("=")[0]
        worst = None if found is None else getattr(found, f"worst_{name}", 0.0)
        what = "may be, at the upper end of its interval" if name == "high" else "is expected"
        expected = ": there is no forecast" if worst is None else f": {worst:.3g} {what}"
        sys.stderr.write(f"failed on {text}{expected if '=' in text else ''}\n")
