"""`recombine measure`: where predictions fail on unseen combinations and by which rule, on the command line."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from recombine.cli.options import MaxBytes, MaxRows
from recombine.cli.printing import shown
from recombine.errors import MAX_BYTES, MAX_ROWS, InputError, unknown

if TYPE_CHECKING:
    from recombine.mechanisms import MeasureResult

SHOWN = 10
FAIL_ON = ("fails", "not fitted")
COLOURS = {"fails": "red", "not fitted": "yellow", "composes": "green"}


def measure(
    table: Annotated[Path, Parameter(help="Predictions, one row an example: CSV or Parquet.")],
    *,
    factors: Annotated[str, Parameter(help="Columns that are recombined: a,b,c.")],
    target: Annotated[str, Parameter(help="Column with the right answer.")],
    prediction: Annotated[str, Parameter(help="Column with the predicted answer.")],
    train: Annotated[
        Path | None,
        Parameter(help="What training saw: a table with the factor columns, and the target if you have it."),
    ] = None,
    split: Annotated[
        str | None, Parameter(help="column=value: these rows are test rows, the others were trained on.")
    ] = None,
    target_kind: Annotated[
        Literal["number", "class"] | None, Parameter(help="What the answer is, where it is not plain.")
    ] = None,
    bins: Annotated[
        list[str] | None, Parameter(help="column=k: cut a column of decimals into k bins.", negative=())
    ] = None,
    missing: Annotated[Literal["error", "drop", "level"], Parameter(help="What to do with missing values.")] = "error",
    fitted: Annotated[float, Parameter(help="Training error up to which a learner counts as fitted.")] = 0.1,
    margin: Annotated[float, Parameter(help="Gap up to which a learner counts as composing.")] = 0.05,
    max_rows: MaxRows = MAX_ROWS,
    max_bytes: MaxBytes = MAX_BYTES,
    seed: Annotated[int, Parameter(help="Seed of samples and shuffles.")] = 0,
    json: Annotated[bool, Parameter(help="Print one JSON object and nothing else.", negative=())] = False,
    out: Annotated[
        Path | None, Parameter(help="A folder for the page, figures (SVG, PDF) and tables (CSV, Markdown, LaTeX).")
    ] = None,
    fail_on: Annotated[
        str | None, Parameter(help="fails or not fitted: exit with 1 where this is the verdict.")
    ] = None,
) -> int:
    """Where predictions fail on combinations that training did not see, and which rule the wrong ones follow.

    For example:

        recombine measure predictions.csv --factors shape,colour --target y --prediction p --split part=test

        recombine measure predictions.csv --factors shape,colour --target y --prediction p --train seen.csv --out report

        recombine measure predictions.parquet --factors a,b --target y --prediction p --split part=test --json
    """
    from recombine.cli.check import _bins

    if fail_on is not None and fail_on not in FAIL_ON:
        raise unknown("verdict for --fail-on", fail_on, FAIL_ON)
    counted = _bins(bins or [])
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"{str(out)!r} is a file; --out names a folder.")
    from recombine.mechanisms import measure_predictions

    result = measure_predictions(
        table,
        [name.strip() for name in factors.split(",") if name.strip()],
        target=target,
        prediction=prediction,
        train=train,
        split=split,
        target_kind=target_kind,
        bins=counted,
        missing=missing,
        fitted=fitted,
        margin=margin,
        max_rows=max_rows,
        max_bytes=max_bytes,
        seed=seed,
    )
    page = None
    if out is not None:
        from recombine.reporting.measured import write_measured

        page = write_measured(result, out)
    if json:
        more = {} if page is None else {"page": str(page)}
        sys.stdout.write(json_format.dumps({**result.to_dict(), **more}, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        _show(result, page)
    return int(fail_on is not None and result.verdict == fail_on)


def _show(result: MeasureResult, page: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    from recombine.mechanisms.result import ERROR_WORDS

    console = Console(highlight=False)
    bold = f"bold {COLOURS.get(result.verdict, 'default')}"
    console.print(shown(result.verdict, bold) + shown(f" — {result.sentence()}"))
    console.print()
    for name, figure in (
        ("training", result.training),
        ("seen", result.seen),
        ("unseen", result.unseen),
        ("gap", result.gap),
    ):
        console.print(shown(f"{name:<9} error {figure}" if name != "gap" else f"{name:<9}       {figure}"))
    console.print(shown(ERROR_WORDS[result.answers.kind]))
    for note in result.notes:
        console.print(shown(f"note      {note}"))
    if result.evidence:
        console.print()
        console.print(_evidence(result, Table))
    for name, why in result.left_out.items():
        console.print(shown(f"left out  {name}: {why}"))
    if result.worst and result.verdict not in ("composes",):
        console.print()
        console.print(shown("worst unseen combinations", style="bold"))
        console.print(_worst(result, Table))
    if page is not None:
        console.print(shown(f"\nwritten to {page}"))


def _evidence(result: MeasureResult, table_type: Any) -> Any:
    table = table_type(box=None, pad_edge=False)
    for name in ("mechanism", "value", "against", "p", "explains", "named"):
        table.add_column(name, justify="right" if name in ("against", "p", "explains") else "left")
    for e in result.evidence:
        inside = f" [{e.value.low:.2f}, {e.value.high:.2f}]" if e.value.bounded else ""
        table.add_row(
            shown(e.mechanism, style="bold" if e.named else ""),
            shown(f"{e.value.mean:.2f}{inside}"),
            "" if e.chance is None else shown(f"{e.reference} {e.chance:.2f}"),
            "" if e.p is None else f"{e.p:.2g}",
            "" if e.explains is None else f"{e.explains:.0%}",
            "yes" if e.named else "",
        )
    return table


def _worst(result: MeasureResult, table_type: Any) -> Any:
    from recombine.mechanisms.names import brief

    table = table_type(box=None, pad_edge=False)
    for name in result.answers.space.names:
        table.add_column(shown(brief(name)))
    for name in ("error", "examples", "right", "answered"):
        table.add_column(name, justify="right" if name in ("error", "examples") else "left")
    for row in result.worst[:SHOWN]:
        said = ["" if row[k] is None else brief(f"{row[k]:.4g}" if isinstance(row[k], float) else row[k])
                for k in ("target", "prediction")]  # fmt: skip
        levels = [shown(brief(v)) for v in row["combination"].values()]
        table.add_row(*levels, f"{row['error']:.2f}", f"{row['count']:,}", *map(shown, said))
    return table
