"""`measure_predictions`: where a learner fails and by which rule, from a table of its predictions alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from recombine.checks.reading import split_of
from recombine.errors import InputError
from recombine.mechanisms._judge import FITTED, MARGIN, judge
from recombine.mechanisms.reading import read_predictions
from recombine.mechanisms.result import MeasureResult
from recombine.support.table import Missing


def measure_predictions(
    table: Any,
    factors: Sequence[str],
    *,
    target: str,
    prediction: str,
    train: Any = None,
    split: str | tuple[str, str] | None = None,
    target_kind: Literal["number", "class"] | None = None,
    bins: Mapping[str, int] | None = None,
    missing: Missing = "error",
    fitted: float = FITTED,
    margin: float = MARGIN,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    seed: int = 0,
) -> MeasureResult:
    """Where these predictions fail on unseen combinations, and which rule the wrong ones follow.

    ``table`` is a file (CSV, Parquet), a polars or pandas frame, an array or a dictionary with one row an example:
    factor columns, the right answer ``target`` and the ``prediction``. What training saw is said by ``train``, another
    table with the factor columns (and the target, if you have it), or by ``split="column=value"``: rows with this value
    are test rows, the others were trained on. ``fitted``: the error on training combinations up to which a learner
    counts as fitted. ``margin``: the gap up to which it counts as composing. Intervals are over combinations."""
    if (train is None) == (split is None):
        raise InputError(
            "say what training saw: either a training table (train=…, --train TABLE) or a split (split='column=value', "
            "--split column=value), and not both."
        )
    for name, value in (("fitted", fitted), ("margin", margin)):
        if not 0 <= value < float("inf"):
            raise InputError(f"{name} is {value}; give a number from 0 on.")
    names = [n for n in (str(f).strip() for f in (factors.split(",") if isinstance(factors, str) else factors)) if n]
    pair = split_of(split)
    answers, notes = read_predictions(
        table, names, target, prediction, train, pair, target_kind, bins, missing, max_rows, max_bytes
    )
    settings = {
        "factors": list(answers.space.names),
        "target": target,
        "prediction": prediction,
        "train": str(train) if isinstance(train, (str, Path)) else None,
        "split": None if pair is None else f"{pair[0]}={pair[1]}",
        "bins": dict(bins or {}),
        "missing": missing,
    }
    return judge(answers, fitted=fitted, margin=margin, notes=notes, settings=settings, seed=seed)
