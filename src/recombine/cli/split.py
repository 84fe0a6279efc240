"""`recombine split`: hold out whole combinations that the other rows still determine, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from recombine.cli.options import (
    Bins,
    Factors,
    Json,
    MaxBytes,
    MaxRows,
    MergeAlike,
    Missing,
    Seed,
    bin_counts,
    check_file,
    pairs,
    words,
)
from recombine.cli.printing import counted, print_json, print_table, say, wrapped
from recombine.errors import MAX_BYTES, MAX_ROWS, InputError

if TYPE_CHECKING:
    import polars as pl

    from recombine.checks.splitting import Fold
    from recombine.support.rows import Rows

ENDINGS = (".csv", ".parquet")
MOSTLY_UNCLEAR = 4
"""Held-out combinations below which `measure` says unclear of most planted models, whether they compose or not: of 48
with one or two of 45, with three of 13 of 24; with four or five of 5 of 48."""


def split(
    table: Annotated[Path, Parameter(help="Table: CSV, Parquet or Excel.")],
    /,
    *,
    factors: Factors,
    hold_out: Annotated[
        list[str] | None,
        Parameter(
            help="How much is held out: a share (0.2), a number of combinations (12), or combinations by name "
            "(a=x,b=y; once for each). 0.2 unless --folds is given.",
            negative=(),
        ),
    ] = None,
    folds: Annotated[int | None, Parameter(help="Cut the combinations into this many folds instead.")] = None,
    target: Annotated[
        str | None,
        Parameter(help="Column with the answer: rows where it is blank are neither held out nor trained on."),
    ] = None,
    graded: Annotated[
        bool,
        Parameter(
            negative=(), show_default=False, help="Fold 1 is the easiest (lowest leverage), the last the hardest."
        ),
    ] = False,
    group: Annotated[str | None, Parameter(help="Column whose values never lie in training and test at once.")] = None,
    time: Annotated[str | None, Parameter(help="Column of times: no training row is later than a test row.")] = None,
    seen_rows: Annotated[
        float,
        Parameter(
            help="Hold out this share of the rows of seen combinations that have several, too: what recombine measure "
            "compares unseen ones with."
        ),
    ] = 0.0,
    bins: Bins = None,
    missing: Missing = "error",
    merge_alike: MergeAlike = False,
    max_rows: MaxRows = MAX_ROWS,
    max_bytes: MaxBytes = MAX_BYTES,
    seed: Seed = 0,
    out: Annotated[Path | None, Parameter(help="Write the table with its split: .csv or .parquet.")] = None,
    json: Json = False,
) -> int:
    """Hold out whole combinations: every level stays seen, every held-out answer is determined by the rest.

    For example:

        recombine split all.csv --factors shape,colour --target y --hold-out 0.2 --out split.csv

        recombine check split.csv --factors shape,colour --target y --split split=test

        recombine split all.csv --factors shape,colour --target y --seen-rows 0.2 --out split.csv

        recombine split all.csv --factors site,device --folds 5 --graded --out folds.csv

        recombine split all.csv --factors site,device --hold-out site=Oslo,device=B --group patient
    """
    if out is not None and out.suffix.lower() not in ENDINGS:
        raise InputError(f"--out {str(out)!r} must end in .csv or .parquet.")
    check_file(out, table)
    from recombine.checks.splitting import CombinationSplit

    splitter = CombinationSplit(
        words(factors), n_splits=folds or 1, hold_out=_hold_out(hold_out, folds), target=target, graded=graded,
        group=group, time=time, bins=bin_counts(bins or []), missing=missing, merge_alike=merge_alike,
        seen_rows=seen_rows, seed=seed,
    )  # fmt: skip
    rows = splitter.rows(table, max_rows=max_rows, max_bytes=max_bytes)
    found = splitter.folds(rows)
    if out is not None:
        _write(_labelled(rows, found, folds), out)
    if json:
        print_json(_plain(rows, found, folds))
    else:
        hinted = None if group or time or folds else 0.0
        _show(rows, found, target, graded, seen_rows or hinted, out, folds)
    return 0


def _hold_out(asked: list[str] | None, folds: int | None) -> Any:
    """A share, a number, combinations, or None for folds."""
    texts = asked or ([] if folds else ["0.2"])
    named = [text for text in texts if "=" in text]
    if named and len(named) < len(texts):
        raise InputError("--hold-out is either a share, or a number, or combinations; not several of them.")
    if named:
        return [pairs(text, "--hold-out") for text in named]
    if len(texts) > 1:
        raise InputError("--hold-out is given twice; combinations are written a=x,b=y.")
    try:
        return None if not texts else float(texts[0].removesuffix("%")) / (100 if texts[0].endswith("%") else 1)
    except ValueError:
        raise InputError(f"--hold-out {texts[0][:80]!r} is no share, number or combination (a=x,b=y).") from None


def _labelled(rows: Rows, found: list[Fold], folds: int | None) -> pl.DataFrame:
    """The table with a column for each fold: train, test, blank (no answer) or apart (in neither); of a single split,
    without the rows that are apart."""
    import numpy as np
    import polars as pl

    frame = rows.frame
    place = np.empty(int(rows.index.max()) + 1, dtype=np.int64)
    place[rows.index] = np.arange(len(rows.index))
    for i, fold in enumerate(found):
        label = np.where(rows.answered, "apart", "blank").astype(object)
        label[place[fold.train]] = "train"
        label[place[fold.test]] = label[place[fold.spare]] = "test"
        hard = np.full(len(rows.combinations), np.nan)
        hard[np.unique(rows.combination[rows.answered])[fold.held_out]] = fold.leverage
        lever = pl.Series(np.where(label == "test", hard[rows.combination], np.nan)).fill_nan(None)
        end = f"_{i + 1}" if folds else ""
        frame = frame.with_columns(
            pl.Series(_unused(f"split{end}", frame), label.tolist()), lever.alias(_unused(f"leverage{end}", frame))
        )
    return frame.filter(pl.col(_unused("split", rows.frame)) != "apart") if not folds else frame


def _unused(name: str, frame: pl.DataFrame) -> str:
    while name in frame.columns:
        name += "_"
    return name


def _write(frame: pl.DataFrame, out: Path) -> None:
    try:
        if out.suffix.lower() == ".csv":
            frame.write_csv(out)  # The person's own texts, as they were: models are trained on them.
        else:
            frame.write_parquet(out)
    except OSError as error:
        raise InputError(f"{str(out)!r} cannot be written: {error.strerror or error}.") from None


def _plain(rows: Rows, found: list[Fold], folds: int | None) -> dict[str, Any]:
    answered = rows.with_answer()
    few = _too_few(found, len(answered.combinations), folds)
    return {
        "folds": [_plain_fold(answered, fold) for fold in found],
        "blank_rows": int((~rows.answered).sum()),
        "notes": [*rows.notes, *few],
    }


def _too_few(found: list[Fold], total: int, folds: int | None) -> list[str]:
    """That `measure` can tell little of so few held-out combinations, and what to ask for where the table has more."""
    from recombine.statistics import FEW

    fewest = min(len(fold.held_out) for fold in found)
    if fewest >= FEW:
        return []
    several = len(found) > 1
    which = f"{'a fold has only' if several else 'only'} {counted(fewest, 'held-out combination')}"
    tell = f"of fewer than {FEW} recombine measure names no rule" + (
        f", and of fewer than {MOSTLY_UNCLEAR} its verdict is mostly unclear" if fewest < MOSTLY_UNCLEAR else ""
    )
    back = any(fold.back for fold in found)
    most = total // FEW if folds else 2
    more = f"--folds {most}" if folds else f"--hold-out {FEW}"
    return [f"{which}: {tell}" + (f"; {more} holds out more." if total >= 2 * FEW and most > 1 and not back else ".")]


def _plain_fold(rows: Rows, fold: Fold) -> dict[str, Any]:
    names, counts = rows.space.decode(rows.combinations[fold.held_out]), rows.counts[fold.held_out]
    return {
        "train_rows": len(fold.train),
        "test_rows": len(fold.test),
        "seen_test_rows": len(fold.spare),
        "apart_rows": len(fold.apart),
        "back": fold.back,
        "held_out": [
            {"combination": name, "rows": int(count), "leverage": float(lever)}
            for name, count, lever in zip(names, counts, fold.leverage, strict=True)
        ],
    }


def _show(
    every: Rows, found: list[Fold], target: str | None, graded: bool, seen_rows: float | None, out: Path | None,
    folds: int | None,
) -> None:  # fmt: skip
    rows, blank = every.with_answer(), int((~every.answered).sum())
    total = len(rows.combinations)
    wrapped(
        f"{counted(len(rows.index), 'row')}, {counted(total, 'combination')} of {' × '.join(rows.space.names)}; whole "
        "combinations are held out, every level stays seen, every held-out answer is determined."
    )
    if target is None:
        say("every row counts as answered: if some answers are blank, name their column with --target")
    elif blank:
        say(f"{counted(blank, 'row')} without an answer in {target!r}: neither held out nor trained on")
    _print_folds(found)
    several = f"{int((rows.counts > 1).sum()):,} of {total:,} combinations have several rows"
    if seen_rows:
        say(f"test rows: of held-out combinations + of seen ones; {several}")
    elif seen_rows is not None and rows.counts.max() > 1:
        say(f"{several}: for recombine measure hold out some of them, too (--seen-rows 0.2)")
    say("leverage: variance of a held-out answer in units of one row's noise, median (lowest … highest)")
    _print_limits(found, total, graded)
    for note in (*rows.notes, *_too_few(found, total, folds)):
        wrapped(f"note: {note}")
    if out is not None:
        apart = 0 if folds else len(found[0].apart)
        say(f"written to {out}" + (f", without the {counted(apart, 'row')} in neither" if apart else ""))


def _print_folds(found: list[Fold]) -> None:
    import numpy as np

    lines = []
    for i, fold in enumerate(found):
        hard = fold.leverage[np.isfinite(fold.leverage)]
        spread = f"{np.median(hard):.2f} ({hard.min():.2f} … {hard.max():.2f})" if len(hard) else None
        tested = f"{len(fold.test):,}" + f" + {len(fold.spare):,}" * bool(len(fold.spare))
        lines.append((i + 1, f"{len(fold.held_out):,}", tested, f"{len(fold.train):,}", f"{len(fold.apart):,}", spread))
    print_table("", ["fold", "held out", "test rows", "training rows", "in neither", "leverage"], lines, one_line=True)


def _print_limits(found: list[Fold], total: int, graded: bool) -> None:
    """What the table did not allow."""
    import numpy as np

    if graded and len(found) > 1 and np.nanmedian(found[-1].leverage) <= np.nanmax(found[0].leverage):
        say("the table is too even to be graded: half of the last fold is no harder than some of the first")
    short = [f"{len(fold.held_out):,} of {len(fold.held_out) + fold.back:,}" for fold in found if fold.back]
    if short:
        wrapped(
            f"fewer are held out than asked for ({', '.join(short)} combinations): the others are needed to determine "
            "the rest, or have no row that group and time allow"
        )
    tested = len(np.unique(np.concatenate([fold.held_out for fold in found])))
    if len(found) > 1 and tested < total:
        say(f"combinations that are in training every time: {total - tested:,}")
