"""`recombine check`: which unseen combinations can be answered, on the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from recombine.cli.options import MaxBytes, MaxRows
from recombine.cli.printing import shown
from recombine.errors import MAX_BYTES, MAX_ROWS, InputError, unknown

if TYPE_CHECKING:
    from recombine.checks import CheckResult

SHOWN = 10
FAIL_ON = ("undetermined",)


def check(
    table: Annotated[Path, Parameter(help="Training table: CSV or Parquet.")],
    *,
    factors: Annotated[str, Parameter(help="Columns that are recombined: a,b,c.")],
    target: Annotated[str | None, Parameter(help="Column with the answer.")] = None,
    target_kind: Annotated[
        Literal["number", "class"] | None, Parameter(help="What the answer is, where it is not plain.")
    ] = None,
    split: Annotated[
        str | None, Parameter(help="column=value: ask about these rows of the table, train on the others.")
    ] = None,
    test: Annotated[Path | None, Parameter(help="Ask about the rows of this table.")] = None,
    order: Annotated[int, Parameter(help="Effects of up to this many factors at once.")] = 1,
    min_support: Annotated[int, Parameter(help="Rows from which a combination counts as trained.")] = 1,
    bins: Annotated[
        list[str] | None, Parameter(help="column=k: cut a column of decimals into k bins.", negative=())
    ] = None,
    missing: Annotated[Literal["error", "drop", "level"], Parameter(help="What to do with missing factors.")] = "error",
    forbid: Annotated[list[str] | None, Parameter(help="a=x,b=y: cells that cannot be collected.", negative=())] = None,
    salience: Annotated[float | None, Parameter(help="Learner: salience S(1;2) of a kernel over two factors.")] = None,
    depth: Annotated[int, Parameter(help="Learner: hidden layers of a wide ReLU network.")] = 1,
    max_rows: MaxRows = MAX_ROWS,
    max_bytes: MaxBytes = MAX_BYTES,
    seed: Annotated[int, Parameter(help="Seed of samples and of random tables.")] = 0,
    json: Annotated[bool, Parameter(help="Print one JSON object and nothing else.", negative=())] = False,
    out: Annotated[
        Path | None, Parameter(help="Write the result: .html page, .json, .csv, .parquet, .svg, .png or .pdf.")
    ] = None,
    fail_on: Annotated[
        str | None,
        Parameter(help="undetermined: exit with 1 if anything asked is undetermined or has an unseen level."),
    ] = None,
) -> int:
    """Know before training which unseen combinations can be answered.

    For example:

        recombine check train.csv --factors shape,colour,size --target label

        recombine check all.parquet --factors site,device --split fold=test --out check.html

        recombine check train.csv --factors a,b --test deploy.csv --json --fail-on undetermined

        recombine check train.csv --factors dose,age --bins dose=4 --bins age=5 --missing drop
    """
    if fail_on is not None and fail_on not in FAIL_ON:
        raise unknown("finding for --fail-on", fail_on, FAIL_ON)
    chosen = [name.strip() for name in factors.split(",") if name.strip()]
    counted, cells = _bins(bins or []), _forbidden(forbid or [])
    if out is not None:
        _check_ending(out)
    from recombine.checks import check as run

    result = run(
        table,
        chosen,
        target=target,
        target_kind=target_kind,
        split=split,
        test=test,
        order=order,
        min_support=min_support,
        bins=counted,
        missing=missing,
        forbid=cells,
        salience=salience,
        depth=depth,
        max_rows=max_rows,
        max_bytes=max_bytes,
        seed=seed,
    )
    if out is not None:
        _save(result, out)
    if json:
        sys.stdout.write(result.to_json() + "\n")
    else:
        _show(result, out)
    return int(fail_on == "undetermined" and not result.determined)


def _pairs(text: str, what: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise InputError(f"{what} is {text!r}; write column=value.")
    return name.strip(), value.strip()


def _bins(texts: list[str]) -> dict[str, int]:
    bins = {}
    for text in (part for t in texts for part in t.split(",")):
        name, value = _pairs(text, "--bins")
        if not value.isdecimal():
            raise InputError(f"--bins {text!r} needs a whole number after the sign.")
        bins[name] = int(value)
    return bins


def _forbidden(texts: list[str]) -> list[dict[str, str]]:
    return [dict(_pairs(part, "--forbid") for part in text.split(",")) for text in texts]


def _check_ending(out: Path) -> None:
    from recombine.result import PICTURES, TABLES

    endings = (".html", *TABLES, *PICTURES)
    if out.suffix.lower() not in endings:
        raise unknown("ending of --out", out.suffix or out.name, endings)
    if not out.parent.is_dir():
        raise InputError(f"there is no folder {str(out.parent)!r} to write {out.name!r} into.")


def _save(result: CheckResult, out: Path) -> None:
    try:
        result.save(out)
    except OSError as error:
        raise InputError(f"{str(out)!r} cannot be written: {error.strerror}.") from None


def _show(result: CheckResult, out: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    colour = {"seen": "green", "determined": "green", "undetermined": "red", "unseen level": "red"}[result.verdict]
    console.print(shown(result.verdict, f"bold {colour}") + shown(f" — {result.sentence()}"))
    console.print()
    known = result.known
    console.print(
        shown(
            f"training  {int(result.row_counts.sum()):,} rows, {len(known.codes):,} of {result.space.size:,} "
            f"combinations of {' × '.join(result.space.names)}"
        )
    )
    console.print(shown(f"asked     {result.total:,} combinations: {result.asked}"))
    numbers = (
        ", ".join(f"{n:,} {name}" for name, n in result.counts.items() if n)
        if result.counts is not None
        else ", ".join(f"{share:.1%} {name}" for name, share in (result.share or {}).items() if share) + " (sampled)"
    )
    console.print(shown(f"found     {numbers or 'nothing is left to ask'}"))
    console.print(shown(f"rank      {result.rank_train:,} of {result.rank_needed:,} needed"))
    for name, levels in result.unseen_levels.items():
        console.print(shown(f"unseen    {name}: {_some([str(v) for v in levels])}"))
    for t in (2, 3):
        possible, seen, missing = result.coverage.total(t)
        if possible:
            console.print(
                shown(f"{t}-way     {seen:,} of {possible:,} interactions seen, {missing:,} asked for and missing")
            )
    if result.additivity is not None:
        console.print(shown(f"additive  {result.additivity.words}"))
    for note in result.notes:
        console.print(shown(f"note      {note}"))
    if result.queries and result.verdict != "seen":
        console.print()
        console.print(shown("worst queries", style="bold"))
        console.print(_queries(result, Table))
    if result.advice.needed:
        console.print()
        for part in _suggestions(result, Table):
            console.print(part)
    if out is not None:
        console.print(shown(f"\nwritten to {out}"))


def _some(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (f" … ({len(names):,} in all)" if len(names) > SHOWN else "")


def _queries(result: CheckResult, table_type: Any) -> Any:

    table = table_type(box=None, pad_edge=False)
    for name in result.space.names:
        table.add_column(shown(name))
    for name in ("status", "leverage", "cut", "shrinkage"):
        table.add_column(name, justify="left" if name == "status" else "right")
    for query in result.queries[:SHOWN]:
        levels = [shown(str(v)) for v in result.combination(query.codes).values()]
        numbers = ["" if v is None else f"{v:.2f}" for v in (query.leverage,)]
        table.add_row(
            *levels,
            query.words,
            *numbers,
            "" if query.min_cut is None else str(query.min_cut),
            "" if query.shrinkage is None else f"{query.shrinkage:.2f}",
        )
    return table


def _suggestions(result: CheckResult, table_type: Any) -> list[Any]:
    advice = result.advice
    if not len(advice.cells):
        return [shown(f"collect   {advice.needed:,} further combinations ({advice.method})")]
    number = len(advice.cells)
    title = f"collect {number:,} combination{'s' if number != 1 else ''} ({advice.method})"
    table = table_type(box=None, pad_edge=False)
    for name in result.space.names:
        table.add_column(shown(name))
    for record in result.suggestions[:SHOWN]:
        table.add_row(*[shown(str(v)) for v in record.values()])
    more = [shown(f"… and {number - SHOWN:,} more (--json lists them)")] if number > SHOWN else []
    return [shown(title, style="bold"), table, *more]
