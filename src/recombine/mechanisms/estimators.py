"""Anything with ``predict`` or ``predict_proba``, asked about the rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from recombine.errors import InputError, unknown
from recombine.mechanisms.predictions import each_factor, measure_predictions
from recombine.mechanisms.verdicts.result import MeasureResult
from recombine.support.one_target import refuse_several, target_name
from recombine.support.scan import collect, scan

SEVERAL = (
    "the estimator gives several answers for a row, and the answer of a table is one column; fit it on the class in "
    "one column instead of one-hot ones or, of labels and numbers, measure one estimator for each."
)


def measure_estimator(
    estimator: Any,
    table: Any,
    *,
    factors: Sequence[str] = (),
    target: str | None = None,
    inputs: Sequence[str] | None = None,
    against: Any = None,
    **options: Any,
) -> MeasureResult:
    """`measure_predictions` of what a fitted estimator says of a table. ``inputs`` are the columns it is called with,
    by default those it was fitted on (``feature_names_in_``); ``against`` another estimator, or several by name."""
    if not hasattr(estimator, "predict"):
        raise InputError(
            f"a {type(table).__name__} is no task; a table is asked of an estimator with predict, and of predictions "
            "that are at hand by measure_predictions."
        )
    factors = each_factor(factors)
    if not factors or target is None:
        raise InputError("say which columns are factors and which is the answer: factors=[…], target='…'.")
    target = target_name(target)
    frame = collect(scan(table, "the table", options.get("max_bytes"), options.get("max_rows")))
    refuse_several(target, frame.columns)
    for name in (*factors, target):
        if name not in frame.columns:
            raise unknown("column", name, frame.columns)
    named = {} if against is None else against if isinstance(against, Mapping) else {"the other model": against}
    right = {str(v).strip() for v in frame[target].drop_nulls().unique()}
    columns: list[str | list[str]] = []
    for name, one in {"the model": estimator, **named}.items():
        said = _answers(one, frame, table, inputs, right)
        begin = str(name)
        while any(f"{begin}{end}" in frame.columns for end in said):
            begin += "_"
        frame = frame.with_columns(values.alias(f"{begin}{end}") for end, values in said.items())
        own = [f"{begin}{end}" for end in said]
        columns.append(own[0] if len(own) == 1 else own)
    first, *rest = columns
    options.setdefault("factors_alone", set(_inputs(estimator, inputs)) <= set(factors))
    return measure_predictions(frame, factors, target=target, prediction=first, against=rest, **options)


def _inputs(estimator: Any, inputs: Sequence[str] | None) -> list[str]:
    """The columns that an estimator is called with."""
    fitted_on = getattr(estimator, "feature_names_in_", None)
    chosen = list(inputs) if inputs is not None else [] if fitted_on is None else [str(c) for c in fitted_on]
    if not chosen:
        raise InputError("say which columns the estimator is called with: inputs=[…].")
    return chosen


def _answers(
    estimator: Any, frame: pl.DataFrame, table: Any, inputs: Sequence[str] | None, right: set[str]
) -> dict[str, pl.Series]:
    """What is predicted for each row, by how the column is to end: the probability of 1 of a classifier of 0 and 1, of
    each class where classes are texts and all of the table's (``right``) are among them, or else the prediction."""
    chosen, rows = _rows(estimator, frame, table, inputs)
    told = getattr(estimator, "classes_", [])
    if any(getattr(c, "ndim", 0) for c in told):
        raise InputError(SEVERAL)
    try:
        classes = [_plain(c) for c in told]
        texts = len(classes) > 1 and all(isinstance(c, str) and c == c.strip() for c in classes)
        if hasattr(estimator, "predict_proba") and classes in ([0, 1], [False, True]):
            return {"": pl.Series(estimator.predict_proba(rows)[:, 1], dtype=pl.Float64)}
        if hasattr(estimator, "predict_proba") and texts and right == {*classes}:
            chances = estimator.predict_proba(rows)
            return {f" {c}": pl.Series(chances[:, i], dtype=pl.Float64) for i, c in enumerate(classes)}
        said = estimator.predict(rows)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = str(error).rstrip(".")
        raise InputError(f"the estimator cannot predict from {', '.join(chosen)[:200]}: {why}.") from None
    if getattr(said, "ndim", 1) == 2 and said.shape[1] > 1:
        raise InputError(SEVERAL)
    if getattr(said, "ndim", 1) != 1 or len(said) != frame.height:
        raise InputError(f"the estimator must predict one answer for each of {frame.height:,} rows.")
    return {"": pl.Series([_plain(value) for value in said], strict=False)}


def _rows(estimator: Any, frame: pl.DataFrame, table: Any, inputs: Sequence[str] | None) -> tuple[list[str], Any]:
    """The columns that it is called with, and their rows: a frame of the kind it was fitted on; an array where it was
    fitted without names, or knows none."""
    chosen = _inputs(estimator, inputs)
    if absent := [column for column in chosen if column not in frame.columns]:
        if inputs is not None:
            raise unknown("column", absent[0], frame.columns)
        names = ", ".join(map(repr, absent[:3])) + ", …" * (len(absent) > 3)
        has = ", ".join(frame.columns)[:200]
        raise InputError(
            f"the estimator was fitted on {names}, which the table does not have (it has {has}); rename its columns "
            "or, where they were encoded before, fit a pipeline that encodes them itself."
        )
    if isinstance(table, str | Path):  # Columns of a file may be read as texts, where numbers were fitted on.
        texts = frame.select(pl.col(c).cast(pl.String).str.strip_chars().replace("", None) for c in chosen)
        numbers = texts.select(pl.all().cast(pl.Float64, strict=False))
        whole = [c for c in chosen if numbers[c].null_count() == texts[c].null_count() < frame.height]
        frame = frame.with_columns(numbers.select(whole))
    fitted_on = getattr(estimator, "feature_names_in_", None)
    rows = table[chosen] if hasattr(table, "iloc") else frame.select(chosen)
    steps = hasattr(estimator, "steps") and not hasattr(estimator, "n_features_in_")
    return chosen, rows if fitted_on is not None or steps else rows.to_numpy()


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
