"""`recombine check`: which unseen combinations can be answered, on the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

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
from recombine.cli.plan import plan_from_levels, print_plan
from recombine.cli.printing import (
    console,
    counted,
    level,
    print_facts,
    print_json,
    print_verdict,
    say,
    shown,
    unread,
    wrapped,
)
from recombine.cli.progress import bar, waiting
from recombine.errors import MAX_BYTES, MAX_ROWS, InputError
from recombine.result import safe_csv

if TYPE_CHECKING:
    from rich.table import Table

    from recombine.checks import CheckResult, Query

SHOWN, PLANNED = 10, 30
UNBROKEN = ("answer", "one row")
"""Columns whose cells stay on one line: a range that breaks inside its brackets is misread."""
SPARED = ("cut", "leverage", "smoothed")
"""Columns left out, one after the other, where a terminal is too narrow."""
NOTHING = ": nothing needs to be collected; --budget N plans rows that make the answers more precise"
FEW = 3
"""Interactions up to which those that are missing are named."""
MOST_COLUMNS = 20
"""Factors up to which combinations are shown as rows of a table."""
COLOURS = {
    "seen": "green",
    "determined": "green",
    "assumption unsupported": "yellow",
    "assumption rejected": "yellow",
    "extrapolation": "yellow",
    "undetermined": "red",
    "unseen level": "red",
}
NUMBERS = {
    "answer": "by the forecast's rule",
    "one row": "a range meant to hold 9 of 10 single new rows",
    "rows": "of a seen combination, whose answer is what was observed: their mean, or the commonest class",
    "smoothed": "what the rule says of a seen combination, from the other combinations too",
    "leverage": "variance of the answer of a plain additive fit, in units of the noise of one row",
    "cut": "seen combinations that must be lost before it is no longer determined",
    "network": "not an estimate: what a wide network would give, as a share of the sum of seen effects",
}
"""What the numbers of a combination are."""


def check(
    table: Annotated[Path | None, Parameter(help="Training table: CSV, Parquet, Excel; may be gzipped.")] = None,
    /,
    *,
    factors: Annotated[str | None, Parameter(help="Columns that are recombined: a,b,c.")] = None,
    target: Annotated[str | None, Parameter(help="Column with the answer.")] = None,
    target_kind: TargetKind = None,
    split: Annotated[
        str | None, Parameter(help="column=value: ask about these rows of the table, train on the others.")
    ] = None,
    test: Annotated[Path | None, Parameter(help="Ask about the rows of this table.")] = None,
    grid: Annotated[
        bool, Parameter(help="Ask about the grid of levels as well as about rows.", negative=(), show_default=False)
    ] = False,
    order: Annotated[int, Parameter(help="Effects of up to this many factors at once.")] = 1,
    min_support: Annotated[int, Parameter(help="Rows from which a combination counts as trained.")] = 1,
    bins: Bins = None,
    numeric: Numeric = None,
    block: Annotated[
        str | None,
        Parameter(
            help="Columns that shift the answer and are not recombined (day,plate): their shifts are taken off; "
            "site:block where blocks are numbered anew in each level of the factor site."
        ),
    ] = None,
    missing: Missing = "error",
    merge_alike: MergeAlike = False,
    forbid: Annotated[list[str] | None, Parameter(help="a=x,b=y: cells that cannot be collected.", negative=())] = None,
    exclude: Annotated[list[str] | None, Parameter(help="a=x,b=y: cells that cannot exist.", negative=())] = None,
    cost: Annotated[
        list[str] | None, Parameter(help="a=x:5: what a level adds to the price; rows without one cost 1.", negative=())
    ] = None,
    budget: Annotated[float | None, Parameter(help="The best rows to collect for this many (or this price).")] = None,
    until_error: Annotated[float | None, Parameter(help="Rows until every asked standard error is below this.")] = None,
    noise: Annotated[float | None, Parameter(help="Standard deviation of one row; estimated if not given.")] = None,
    change: Annotated[str | None, Parameter(help="a=10,b=1: cost of changing a factor, for a visiting order.")] = None,
    criterion: Annotated[Literal["A", "D"], Parameter(help="A: precise answers; D: precise effects.")] = "A",
    levels: Annotated[str | None, Parameter(help="a=3,b=red:green: a plan from nothing; needs --budget.")] = None,
    salience: Annotated[float | None, Parameter(help="Learner: salience S(1;2) of a kernel over two factors.")] = None,
    depth: Annotated[int, Parameter(help="Learner: hidden layers of a wide ReLU network.")] = 1,
    max_rows: MaxRows = MAX_ROWS,
    max_bytes: MaxBytes = MAX_BYTES,
    seed: Seed = 0,
    json: Json = False,
    out: OutFile = None,
    plan: Annotated[
        Path | None,
        Parameter(
            help="Write the rows to collect here, a run sheet with an empty column for the answers of --target (.csv)."
        ),
    ] = None,
    rules: Annotated[
        str | None,
        Parameter(
            help="Learners that join the forecast's contest: forest (100 trees), networks (the mean of five with two "
            "layers of 64 units), both scikit-learn's, untuned; they take seconds to minutes."
        ),
    ] = None,
    best: Annotated[
        Literal["max", "min"] | None,
        Parameter(
            help="Which asked combinations have the largest or smallest answers; of two classes the largest or "
            "smallest chance of “yes”, 1 or “true”, else of the rarer one."
        ),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        Parameter(
            help="Exit with 1 if anything asked is undetermined, extrapolated or has an unseen level (undetermined), "
            "if effects are not shown to add up (assumption), if the forecast error, or that of a level far "
            "harder than the others, is above X (error=X), or the upper end of its interval (high=X); several are "
            "a,b or repeated.",
            negative=(),
        ),
    ] = None,
) -> int:
    """Know before training which unseen combinations can be answered.

    For example:

        recombine check train.csv --factors shape,colour,size --target label

        recombine check all.parquet --factors site,device --split fold=test

        recombine check train.csv --factors a,b --out check.html

        recombine check train.csv --factors a,b --target y --json --fail-on undetermined --fail-on error=5

        recombine check train.csv --factors variety,dose,age --numeric dose --bins age=5

        recombine check train.csv --factors ligand,base --target yield --block day

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
    from threadpoolctl import threadpool_limits

    from recombine.checks import Purpose, check as run

    # The matrices are small: threads would wait for each other, on a busy machine longer than one alone takes.
    with _watched(f"checking {table.name}", learning=rules is not None, quiet=json), threadpool_limits(limits=1):
        result = run(
            table, chosen, target=target, target_kind=target_kind, split=split, test=test, grid=grid, order=order,
            min_support=min_support, bins=counts, numeric=shapes(numeric or []),
            blocks=words(block) if block else (), missing=missing, merge_alike=merge_alike, forbid=cells, exclude=never,
            cost=prices(cost) if cost else None,
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
    from recombine.checks.learners import TOLD

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
            _show(result, out, best, plan)
    _conditions(result, fail_on, failed)
    return int(bool(failed))


def _conditions(result: CheckResult, asked: list[str], failed: list[str]) -> None:
    """What is near to failing, and what failed."""
    for text in asked:
        told = result.forecast if text.startswith("error=") else None
        if told is not None and not told.apart and abs(told.error - float(text.partition("=")[2])) < 2 * told.by_draw:
            sys.stderr.write(f"{text} is near the forecast, {told.error:.3g}: {told.drawn}; high=X leaves a margin\n")
    for text in failed:
        found, name = result.forecast, text.partition("=")[0]
        worst = None if found is None else getattr(found, f"worst_{name}", 0.0)
        expected = ": there is no forecast" if worst is None else f": {worst:.3g} is expected"
        sys.stderr.write(f"failed on {text}{expected if '=' in text else ''}\n")


def _show(result: CheckResult, out: Path | None, best: Literal["max", "min"] | None, plan: Path | None) -> None:
    from recombine.checks.planned import AT_SEEN

    print_verdict(result.verdict + result.beside, COLOURS.get(result.verdict, "green"), result.sentence())
    if result.plan is not None:  # somebody asked for it
        print_plan(result.space, result.plan, PLANNED)
        if result.shifts is None and len(result.plan.cells):
            wrapped(AT_SEEN)
    say("")
    print_facts(_facts(result))
    if any(q.status != "seen" or q.rows for q in result.queries) and len(result.space) <= MOST_COLUMNS:
        say("")
        _print_queries(result)
    if result.plan is None and len(result.advice.cells):
        say("")
        _print_suggestions(result)
    elif result.plan is None and result.advice.needed and result.advice.enough:
        say(f"\ncollect {counted(result.advice.needed, 'combination')} ({result.advice.method})")
    if out is not None:
        part = (
            f" ({len(result.queries):,} of {_count(result.total)} combinations)"
            if len(result.queries) < result.total
            else ""
        )
        say(f"\nwritten to {out}{part}")
    if best is not None:
        say(f"\nbest ({best}): {result.best(best)['words']}")
    if plan is not None:
        rows, done = len(result.run_sheet()), not result.advice.needed
        say(f"\n{counted(rows, 'row')} to collect written to {plan}{NOTHING if done and not rows else ''}")


def _facts(result: CheckResult) -> list[tuple[str, str]]:
    from recombine.checks.expected import per_cent, shown as rounded

    names = result.space.names
    factors = " × ".join(names) if len(names) <= MOST_COLUMNS else f"{len(names)} factors"
    rows, combinations = counted(int(result.row_counts.sum()), "row"), len(result.known.codes)
    sampled = {name: per_cent(share, 1) for name, share in (result.share or {}).items() if share}
    counts = {name: _count(n) for name, n in (result.counts or {}).items() if n}
    found = ", ".join(f"{much} {name}" for name, much in (sampled if result.counts is None else counts).items())
    found += " (sampled)" if result.counts is None else ""
    if result.doubted_levels and len(result.queries) == result.total:
        found += f", {sum(bool(result.doubt_of(q)) for q in result.queries):,} of them in doubt"
    facts = [
        *(("note", slip) for slip in result.notes[: result.slips]),
        ("training", f"{rows}, {combinations:,} of {_count(result.space.size)} combinations of {factors}"),
        ("asked", f"{_count(result.total)} combination{'' if result.total == 1 else 's'}: {result.asked}"),
        ("found", found or "nothing is left to ask"),
    ]
    settled = result.rank_train >= result.rank_needed
    if not settled:  # this is why
        facts.append(("rank", f"{result.rank_train:,} of {result.rank_needed:,} needed"))
    from recombine.space import quoted

    facts += [("unseen", f"{name}: {_some([quoted(v) for v in vs])}") for name, vs in result.unseen_levels.items()]
    for t in (2, 3):
        possible, seen, missing = result.coverage.total(t)
        named = _named(result, t) if missing <= FEW and t < len(names) else ""
        if possible and (named or not settled):
            words = f"{seen:,} of {possible:,} interactions seen, {missing:,} asked for and missing"
            facts.append((f"{t}-way", words + named))
    if result.forecast is not None:
        share = result.forecast.share
        tried = ", ".join(f"{rule.rule} {rounded(rule.error, share)}" for rule in result.forecast.rules)
        facts.append(("rules", f"{tried} ({result.forecast.metric})"))
    if result.additivity is not None and not result.doubt:  # else the first sentence has it
        facts.append(("additive", result.additivity.words))
    if result.rescaled is not None:
        facts.append(("rescaled", f"on the {result.rescaled.scale} scale {result.rescaled.words}"))
    return facts + [("note", note) for note in result.notes[result.slips :]]


def _named(result: CheckResult, t: int) -> str:
    """The few interactions that are asked for and were never seen."""
    from recombine.space import quoted

    factors = result.space.factors
    named = [
        " × ".join(f"{quoted(factors[k].name)}={quoted((factors[k].levels or ())[c])}" for k, c in pairs)
        for found in result.coverage.strength(t)
        for pairs in (list(zip(found.factors, example, strict=True)) for example in found.examples)
    ]
    return f" ({', '.join(named)})" if named else ""


def _count(number: int) -> str:
    from recombine.space import about

    return f"{number:,}" if number < 10**15 else about(number)


def _some(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (f" … ({len(names):,} in all)" if len(names) > SHOWN else "")


def _print_queries(result: CheckResult) -> None:
    listed, title = _listed(result)
    numbers = {
        "answer": ["" if q.prediction is None else _answer(q) for q in listed],
        "one row": ["" if q.row_low is None else _ends(q.row_low, q.row_high) for q in listed],
        "rows": ["" if q.rows is None else f"{q.rows:,}" for q in listed],
        "smoothed": ["" if q.smoothed is None else _plain(q.smoothed) for q in listed],
        "leverage": ["" if q.leverage is None else _lever(q.leverage) for q in listed],
        "cut": ["" if q.min_cut is None else str(q.min_cut) for q in listed],
    }
    if result.settings["salience"] is not None or result.settings["depth"] != 1:  # somebody asked about a learner
        shares = [q.shrinkage if q.status == "determined" else None for q in listed]
        numbers["network"] = ["" if s is None else f"× {s:.2f}" for s in shares]
    numbers = {name: cells for name, cells in numbers.items() if any(cells)}
    status = [_marked(result, q) for q in listed]
    alike = len({_marked(result, q) for q in result.queries}) == 1
    where, names = console(), [*([] if alike else ["status"]), *numbers]
    columns = ({} if alike else {"status": status}) | numbers

    def drawn(names: list[str]) -> Table:
        table = _of_combinations(result, names)
        for i, query in enumerate(listed):
            levels = [level(v) for v in result.combination(query.codes).values()]
            table.add_row(*levels, *(columns[name][i] for name in names))
        return table

    room = where.options.update(max_width=10_000)
    while where.measure(drawn(names), options=room).maximum > where.width and set(names) & set(SPARED):
        names.remove(next(name for name in SPARED if name in names))
    gone = [name for name in SPARED if name in numbers and name not in names]
    numbers = {name: cells for name, cells in numbers.items() if name in names}
    many, whole = len(result.queries), len(result.queries) == result.total
    of = f", {len(listed)} of {many:,} (--out FILE.csv has {'all' if whole else 'these'})" if many > len(listed) else ""
    title = title.replace("combinations asked", f"asked, {'all ' if many > 1 else ''}{status[0]}") if alike else title
    where.print(shown(f"{title}{of}", style="bold"))
    where.print(drawn(names))
    if gone:
        where.print(shown(f"no room for {' and '.join(gone)}: --out FILE.csv has more columns", style="dim"))
    for line in _meanings(result, listed, list(numbers)):
        where.print(shown(line, style="dim"))


def _marked(result: CheckResult, query: Query) -> str:
    """The status, with a mark where something speaks against it."""
    return query.status + (" (?)" if result.doubt_of(query) else "")


def _meanings(result: CheckResult, listed: list[Query], numbers: list[str]) -> Iterator[str]:
    """What the statuses and numbers in the list mean."""
    from recombine.checks.expected import CHANCES

    if doubted := dict.fromkeys(q.status for q in listed if result.doubt_of(q)):
        yield f"{', '.join(f'{name} (?)' for name in doubted)}: only if {result.rests}"
    answered = [q for q in listed if q.prediction is not None and not q.rows]
    if answered and not result.by_sums and not result.doubt:
        said = f"“determined” supposes that {result.assumes}; the answers are those of the rule “{result.rule}”"
        said += ", which does not suppose that" if result.rule == "substitution" else ""
        yield said
    for name in numbers if answered else [name for name in numbers if name != "answer"]:
        learner = f" ({result.prediction.learner})" if name == "network" and result.prediction is not None else ""
        untried = name == "answer" and result.forecast is None
        what = "the sum of seen effects, not tried" if untried else NUMBERS[name]
        what += f", of a new {result.shifts.name}" if name == "one row" and result.shifts is not None else ""
        if name == "answer" and not untried:
            ranged = any(q.low is not None for q in listed)
            what += ", with a range meant to hold 9 of 10 numbers" if ranged else ""
            what += " (fewer in tables this small)" if ranged and result.forecast and result.forecast.small else ""
            what += f", {CHANCES}" if any(q.probabilities for q in answered) else ""
            what += f"; {'both are' if ranged else 'it is'} of {result.of_means}" if result.of_means else ""
        if name == "smoothed" and not result.doubt and any(q.rows == 1 for q in listed):
            what += "; where that was seen in one row take this: effects add up, and it errs less than one reading"
        yield f"{name}: {what}{learner}"


def _listed(result: CheckResult) -> tuple[list[Query], str]:
    """The worst first, of one status those that are doubted; where those without an answer would fill the list, as many
    with one beside them."""
    told = [q for q in result.queries if q.prediction is not None]
    dark = [q for q in result.queries if q.prediction is None]
    levered = ", by leverage" if any(q.leverage is not None for q in result.queries) else ""
    if not told or not dark:
        statuses = list(dict.fromkeys(q.status for q in result.queries))
        marked = {_marked(result, q) for q in result.queries}
        listed = sorted(result.queries, key=lambda q: (statuses.index(q.status), result.doubt_of(q) is None))
        worst = ", the worst status first" if len(statuses) > 1 else ", those in doubt first"
        return listed[:SHOWN], "combinations asked" + (worst if len(marked) > 1 else levered)
    first = dark[: max(SHOWN // 2, SHOWN - len(told))]
    return [*first, *told[: SHOWN - len(first)]], "combinations without an answer, then answers" + levered


def _lever(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _answer(query: Query) -> str:
    from recombine.checks.expected import per_cent

    said = _plain(query.prediction or 0.0)
    if query.probabilities:
        return f"{said} ({per_cent(max(query.probabilities.values()))})"
    return said if query.low is None else f"{said} ({_ends(query.low, query.high)})"


def _ends(low: float, high: float | None) -> str:
    from recombine.checks.expected import range_of

    return range_of(low, high or 0.0)


def _plain(answer: float | str) -> str:
    from recombine.checks.expected import shown as rounded

    return answer if isinstance(answer, str) else rounded(answer)


def _print_suggestions(result: CheckResult) -> None:
    advice, where = result.advice, console()
    table = _of_combinations(result, [])
    for record in result.suggestions[:PLANNED]:
        table.add_row(*[level(v) for v in record.values()])
    where.print(shown(f"collect {counted(len(advice.cells), 'combination')} ({advice.method})", style="bold"))
    where.print(table)
    if result.doubt or advice.outside:
        only = f"only if {result.rests}" if result.doubt else f"if {result.assumes}"
        where.print(shown(f"this determines {result.reached('what is asked')} {only}", style="dim"))
    if len(advice.cells) > PLANNED:
        say(f"… and {len(advice.cells) - PLANNED:,} more (--plan FILE.csv has all)")


def _of_combinations(result: CheckResult, more: list[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in result.space.names:
        table.add_column(shown(name), overflow="fold")
    for name in more:
        side: Any = "left" if name == "status" else "right"
        table.add_column(name, justify=side, no_wrap=name in UNBROKEN, overflow="fold")
    return table
