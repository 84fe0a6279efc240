"""Anything with ``predict`` or ``predict_proba``, asked about the rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from recombine.errors import InputError, unknown
from recombine.mechanisms.predictions import measure_predictions
from recombine.mechanisms.result import MeasureResult
from recombine.support.scan import collect, scan


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
    if not factors or target is None:
        raise InputError("say which columns are factors and which is the answer: factors=[…], target='…'.")
    frame = collect(scan(table, "the table", options.get("max_bytes"), options.get("max_rows")))
    named = {} if against is None else against if isinstance(against, Mapping) else {"the other model": against}
    taken = set(frame.columns)
    labels = {"the model": estimator, **named}
    columns: dict[str, str] = {}
    for name, one in labels.items():
        column = str(name)
        while column in taken:
            column += "_"
        taken.add(column)
        columns[name] = column
        frame = frame.with_columns(_answers(one, frame, table, inputs, column))
    first, *rest = columns.values()
    options.setdefault("factors_alone", set(_inputs(estimator, inputs)) <= set(factors))
    return measure_predictions(frame, factors, target=target, prediction=first, against=rest, **options)


def _inputs(estimator: Any, inputs: Sequence[str] | None) -> list[str]:
    """The columns that an estimator is called with."""
    fitted_on = getattr(estimator, "feature_names_in_", None)
    chosen = list(inputs) if inputs is not None else [] if fitted_on is None else [str(c) for c in fitted_on]
    if not chosen:
        raise InputError("say which columns the estimator is called with: inputs=[…].")
    return chosen


def _answers(estimator: Any, frame: pl.DataFrame, table: Any, inputs: Sequence[str] | None, name: str) -> pl.Series:
    """What is predicted for each row: the probability of 1 of a classifier of 0 and 1, or the prediction."""
    fitted_on = getattr(estimator, "feature_names_in_", None)
    chosen = _inputs(estimator, inputs)
    for column in chosen:
        if column not in frame.columns:
            raise unknown("column", column, frame.columns)
    try:
        # A frame of the kind it was fitted on; an array where it was fitted without names, or knows none.
        rows = table[chosen] if hasattr(table, "iloc") else frame.select(chosen)
        steps = hasattr(estimator, "steps") and not hasattr(estimator, "n_features_in_")
        rows = rows if fitted_on is not None or steps else rows.to_numpy()
        classes = [_plain(c) for c in getattr(estimator, "classes_", [])]
        if hasattr(estimator, "predict_proba") and classes in ([0, 1], [False, True]):
            return pl.Series(name, estimator.predict_proba(rows)[:, 1], dtype=pl.Float64)
        said = estimator.predict(rows)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"the estimator cannot predict from {', '.join(chosen)[:200]}: {error}.") from None
    if getattr(said, "ndim", 1) != 1 or len(said) != frame.height:
        raise InputError(f"the estimator must predict one answer for each of {frame.height:,} rows.")
    return pl.Series(name, [_plain(value) for value in said], strict=False)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
