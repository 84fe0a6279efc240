"""`recombine measure`: where predictions fail on unseen combinations and by which rule, on the command line."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from recombine.cli.options import (
    OUTPUT,
    Bins,
    Factors,
    Json,
    MaxBytes,
    MaxRows,
    MergeAlike,
    Missing,
    Seed,
    TargetKind,
    bin_counts,
    check_file,
    words,
)  # fmt: skip
from recombine.cli.printing import console, print_facts, print_json, print_verdict, say, shown, unread
from recombine.cli.progress import waiting
from recombine.errors import MAX_BYTES, MAX_ROWS, InputError, unknown

if TYPE_CHECKING:
    from recombine.mechanisms import MeasureResult

SHOWN, FEW_SHOWN = 10, 3
FAILURES = ("fails", "partly", "overfits", "not fitted", "unclear")
COLOURS = {"fails": "red", "partly": "yellow", "overfits": "yellow", "not fitted": "yellow", "composes": "green"}


Prediction = Annotated[
    list[str],
    Parameter(
        help="Column with the predicted answer or, of two classes, the probability of the second (1, true, yes); or "
        "several (p_cat,p_dog), the probability of each class, in columns that end with its name.",
        negative=(),
    ),
]
Against = Annotated[
    list[str] | None,
    Parameter(
        help="Columns with other models' predictions, judged and compared on the same rows: a,b; as many as those "
        "of --prediction are one model's, where these are probabilities (q_cat,q_dog). May be given several times.",
        negative=(),
    ),
]
Train = Annotated[
    Path | None,
    Parameter(help="What training saw: a table with the factor columns, and the target if you have it."),
]
Split = Annotated[
    str | None,
    Parameter(
        help="column=value: these rows are test rows, the others were trained on; where some are called train, those "
        "alone, and the rest (val) is left out."
    ),
]
Group = Annotated[
    str | None,
    Parameter(
        help="Column of patients, devices or batches whose rows in one combination are no repeats of each other: "
        "they count as one, by their mean or, of classes, one row of them that is drawn."
    ),
]
Fitted = Annotated[float, Parameter(help="Training error above the noise up to which a learner counts as fitted.")]
Margin = Annotated[
    float,
    Parameter(
        help="Gap up to which a learner counts as composing: a share of the variance of the training answers; of "
        "classes, a share of wrong answers."
    ),
]
Noise = Annotated[
    float | None,
    Parameter(
        help="Noise of the answers, where you know it: a standard deviation, or a share of wrong classes. 0 if "
        "answers follow from the factors exactly. Else it is told from rows that share a combination."
    ),
]
Out = Annotated[
    Path | None,
    Parameter(
        group=OUTPUT,
        help="Write the result as this file (.html .json .csv .parquet .svg .pdf .png .bib) or, without an ending, as "
        "a folder with the page, figures (SVG, PDF) and tables (CSV, Markdown, LaTeX).",
    ),
]
FailOn = Annotated[
    list[str] | None,
    Parameter(
        group=OUTPUT,
        help="Exit with 1 where this is the verdict on --prediction (fails, partly, overfits, not fitted, unclear), or "
        "its gap is above X (gap=X); may be given several times. Models of --against do not count.",
        negative=(),
    ),
]


def measure(
    table: Annotated[Path, Parameter(help="Predictions, one row per example: CSV or Parquet.")],
    /,
    *,
    factors: Factors,
    target: Annotated[str, Parameter(help="Column with the right answer.")],
    prediction: Prediction,
    against: Against = None,
    train: Train = None,
    split: Split = None,
    group: Group = None,
    target_kind: TargetKind = None,
    bins: Bins = None,
    missing: Missing = "error",
    merge_alike: MergeAlike = False,
    fitted: Fitted = 0.1,
    margin: Margin = 0.05,
    noise: Noise = None,
    max_rows: MaxRows = MAX_ROWS,
    max_bytes: MaxBytes = MAX_BYTES,
    seed: Seed = 0,
    json: Json = False,
    out: Out = None,
    fail_on: FailOn = None,
) -> int:
    """Where predictions fail on combinations that training did not see, and which rule the wrong ones follow.

    For example, where one table has what was trained on and what was not, and where there are two:

        recombine measure predictions.csv --factors shape,colour \\
            --target y --prediction p --split part=test --out report

        recombine measure predictions.csv --factors shape,colour \\
            --target y --prediction p --train seen.csv --json
    """
    counted = bin_counts(bins or [])
    above = [_above(text) for text in fail_on or ()]
    if out is not None and _is_file(out):
        check_file(out, table, train)
    elif out is not None and out.is_file():
        raise InputError(f"{str(out)!r} is a file; --out without an ending names a folder.")
    from recombine.mechanisms import measure_predictions

    given = [column for text in prediction for column in words(text)]
    with waiting(f"reading {table.name}", quiet=json):
        result = measure_predictions(
            table,
            words(factors),
            target=target,
            prediction=given[0] if len(given) == 1 else given,
            against=[one for text in against or () for one in _models(words(text), len(given))],
            train=train,
            split=split,
            group=group,
            target_kind=target_kind,
            bins=counted,
            missing=missing,
            merge_alike=merge_alike,
            fitted=fitted,
            margin=margin,
            noise=noise,
            max_rows=max_rows,
            max_bytes=max_bytes,
            seed=seed,
        )
    page = None if out is None else _write(result, out)
    with unread():
        if json:
            print_json(result.to_dict() | ({} if page is None else {"page": str(page)}))
        else:
            _show(result, page)
    verdict = "unclear" if result.verdict.startswith("nothing ") else result.verdict  # Nothing was found out.
    return int(verdict in (fail_on or ()) or any(result.gap.mean > limit for limit in above))


def _models(columns: list[str], classes: int) -> list[str | list[str]]:
    """One model per column, or all of them one where there is a column per class."""
    return [columns] if len(columns) == classes > 1 else [*columns]


def _above(text: str) -> float:
    """The gap from which on a condition of --fail-on is met; none for a verdict."""
    if text in FAILURES:
        return inf
    name, _, number = text.partition("=")
    try:
        limit = float(number) if name.strip() == "gap" else nan
    except ValueError:
        limit = nan
    if not isfinite(limit):
        raise unknown("condition", text, [*FAILURES, "gap=X"])
    return limit


def _is_file(out: Path) -> bool:
    return bool(out.suffix) and not out.is_dir()


def _write(result: MeasureResult, out: Path) -> Path:
    if _is_file(out):
        return result.save(out)
    from recombine.reporting.measured import write_measured

    return write_measured(result, out)


def _show(result: MeasureResult, page: Path | None) -> None:
    from rich.table import Table

    from recombine.mechanisms.answers.names import figure_words
    from recombine.mechanisms.verdicts.result import ERROR_WORDS
    from recombine.mechanisms.verdicts.verdict_words import noise_words

    where = console()
    print_verdict(result.verdict, COLOURS.get(result.verdict, "default"), result.sentence())
    say("")
    errors = {"training": result.training} if isfinite(result.training.mean) else {}
    errors |= {"seen": result.seen, "unseen": result.unseen}
    off = ", each less its noise" * (max(result.noise) > 0)
    print_facts(
        [
            *((name, f"error {figure_words(figure)}{_scores(result, name)}") for name, figure in errors.items()),
            ("gap", f"      {figure_words(result.gap)}: unseen less seen{off}"),
            ("noise", noise_words(result)),
            ("", f"{ERROR_WORDS[result.answers.kind]} Intervals are 95 %."),
            *(("note", note) for note in result.notes),
        ]
    )
    if result.comparison.others and result.answers.unseen.any():
        say("")
        where.print(_beside(result, Table))
    if result.evidence:
        say("")
        named = any(e.named for e in result.evidence)
        where.print(shown(f"mechanisms that were tested{'' if named else ', none of them named'}", style="bold"))
        where.print(_evidence(result, Table))
    silent = [("not named", f"{e.mechanism}: {e.why}") for e in result.evidence if e.puzzles]
    silent += [("left out", f"{name}: {why}") for name, why in result.left_out.items()]
    if silent:
        print_facts(silent)
    if words_ := result.worst_level_words():
        say("")
        where.print("worst level ", shown(words_[0], style="bold"), shown(f": {words_[1]}"), sep="")
    if result.worst:
        say("")
        where.print(shown("worst unseen combinations", style="bold"))
        where.print(_worst(result, Table))
    if page is not None:
        say(f"\nwritten to {page}")


def _beside(result: MeasureResult, table_type: Any) -> Any:
    """The learner and what it is compared with, on the same unseen rows."""
    from recombine.mechanisms.answers.names import NOTHING, brief, ranged

    table = table_type(box=None, pad_edge=False)
    for name in ("on the same unseen rows", "error", "this model is"):
        table.add_column(name)
    table.add_row(shown("this model", style="bold"), shown(ranged(result.unseen)), "")
    for other in result.comparison.others:
        apart = other.difference
        word = (
            "better by"
            if apart.high < 0
            else "worse by"
            if apart.low > 0
            else (f"{other.mostly}:" if other.mostly else "not clearly apart:")
        )
        apart = replace(apart, mean=-apart.mean, low=-apart.high, high=-apart.low) if apart.high < 0 else apart
        same = apart.bounded and max(-apart.low, apart.high) < NOTHING
        said = "the same" if same else f"{word} {ranged(apart)}" if apart.bounded else ""
        judged = f" ({other.verdict})" * bool(other.verdict)
        table.add_row(shown(brief(other.name) + judged), shown(ranged(other.error)), shown(said))
    return table


def _scores(result: MeasureResult, side: str) -> str:
    """What else is quoted of an error; accuracy is what is left of it."""
    from recombine.mechanisms.answers.names import score

    found = {k: v for k, v in result.scores().get(side, {}).items() if v is not None and k != "accuracy"}
    return "".join(f"; {name} {score(name, value)}" for name, value in found.items())


def _evidence(result: MeasureResult, table_type: Any) -> Any:
    from recombine.mechanisms.answers.names import ranged, share

    table = table_type(box=None, pad_edge=False)
    for name in ("mechanism", "value", "against", "p", "of the error", "named"):
        table.add_column(name, justify="right" if name in ("against", "p", "of the error") else "left")
    for e in result.evidence:
        table.add_row(
            shown(e.mechanism, style="bold" if e.named else ""),
            shown(ranged(e.value)),
            "" if e.chance is None else shown(f"{e.reference} {share(e.chance)}"),
            "" if e.p is None else f"{e.p:.2g}",
            f"{e.explains:.0%}" if e.explains is not None and e.speaks else "",  # else luck, which would be quoted
            "yes" if e.named else "no",
        )
    return table


def _worst(result: MeasureResult, table_type: Any) -> Any:
    from recombine.mechanisms.answers.names import brief, share

    table = table_type(box=None, pad_edge=False)
    for name in result.answers.space.names:
        table.add_column(shown(brief(name)))
    answer = "mean answer" if result.answers.kind == "number" else "usual answer"
    rows = result.worst[: SHOWN if result.verdict != "composes" else FEW_SHOWN]
    told = ("target", "prediction") if any(row["target"] != row["prediction"] for row in rows) else ("target",)
    for name in ("error", "examples", *("right", answer)[: len(told)]):
        table.add_column(name, justify="right" if name in ("error", "examples") else "left")
    for row in rows:
        said = ["" if row[k] is None else brief(f"{row[k]:.4g}" if isinstance(row[k], float) else row[k])
                for k in told]  # fmt: skip
        levels = [shown(brief(v)) for v in row["combination"].values()]
        table.add_row(*levels, share(row["error"]), f"{row['count']:,}", *map(shown, said))
    return table
