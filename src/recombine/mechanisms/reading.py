"""A table of predictions as answers: factor columns, the right answer and the prediction, one row an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from recombine.errors import InputError
from recombine.mechanisms.answers import Answers, Trained
from recombine.mechanisms.columns import Columns, Kind, answer_columns
from recombine.statistics import FloatArray
from recombine.support.scan import collect, scan
from recombine.support.table import TARGET_CLASSES, Table, Target, read_tables


def read_predictions(
    table: Any,
    factors: Sequence[str],
    target: str,
    prediction: str,
    train: Any,
    split: tuple[str, str] | None,
    target_kind: Kind | None,
    bins: Mapping[str, int] | None,
    missing: Literal["error", "drop", "level"],
    max_rows: int | None,
    max_bytes: int | None,
) -> tuple[Answers, list[str]]:
    """The answers of a table over one space of levels, and what is worth saying about reading it."""
    used = {*factors, *(bins or {}), target, prediction, *(split[:1] if split else [])}
    frame = scan(table, "the table of predictions", max_bytes, max_rows, used)
    known = None if train is None else scan(train, "the training table", max_bytes, max_rows, used)
    told = known is not None and target in known.collect_schema()
    columns = answer_columns(frame, factors, target, prediction, target_kind, known if told else None)
    frame, lost = _complete(frame, columns, missing)
    error = _unused("error", frame.collect_schema().names())
    frame = _with_answers(frame, columns, error)
    frames: list[Any] = [frame]
    if known is not None:
        frames.append(known.with_columns(columns.answer(target).alias(target)) if told else known)
    reading = {"split": split, "bins": bins, "missing": missing, "max_rows": max_rows}
    kind: dict[str, Any] = {"target_kind": columns.kind}
    right = read_tables(frames, factors, target=target, **kind, **reading)  # type: ignore[arg-type]
    said = read_tables(frames, factors, target=prediction, **kind, **reading)  # type: ignore[arg-type]
    wrong = read_tables(frames, factors, target=error, target_kind="number", **reading)  # type: ignore[arg-type]
    notes = [f"{lost:,} rows without target or prediction were left out."] if lost else []
    dropped = sum(t.dropped for t in right)
    notes += [f"{dropped:,} rows with missing factors were left out."] if dropped else []
    if split is not None:
        answers = _from_split(columns, right, said, wrong, notes)
    else:
        answers = _from_train(columns, right, said, wrong, told)
    notes += _hints(columns, answers)
    return answers, notes


def _complete(frame: pl.LazyFrame, columns: Columns, missing: str) -> tuple[pl.LazyFrame, int]:
    schema = frame.collect_schema()
    for name in (columns.target, columns.prediction):
        if schema[name].is_float():
            frame = frame.with_columns(pl.col(name).fill_nan(None))
    absent = pl.any_horizontal(pl.col(columns.target).is_null(), pl.col(columns.prediction).is_null())
    lost = int(collect(frame.select(absent.sum()))[0, 0] or 0)
    if lost and missing == "error":
        raise InputError(
            f"{lost:,} rows have no {columns.target!r} or no {columns.prediction!r}; leave them out with "
            "missing='drop' (--missing drop)."
        )
    return (frame.filter(~absent) if lost else frame), lost


def _with_answers(frame: pl.LazyFrame, columns: Columns, error: str) -> pl.LazyFrame:
    y, p = columns.answer(columns.target), columns.answer(columns.prediction)
    frame = frame.with_columns(y.alias(columns.target), p.alias(columns.prediction))
    y, p = pl.col(columns.target), pl.col(columns.prediction)
    wrong = (p - y) ** 2 if columns.kind == "number" else (p != y).cast(pl.Float64)
    return frame.with_columns(wrong.alias(error))


def _from_split(
    columns: Columns, right: list[Table], said: list[Table], wrong: list[Table], notes: list[str]
) -> Answers:
    """Seen combinations are measured on test rows where there are some, on training rows elsewhere."""
    train, test = right
    fresh = ~_within(train, test)
    answers = np.concatenate([_shares(columns, t.target) for t in (right[1], right[0])])
    given = np.concatenate([_shares(columns, t.target) for t in (said[1], said[0])])
    error = np.concatenate([_mean(wrong[1]), _mean(wrong[0])])
    codes = np.concatenate([test.codes, train.codes]).astype(np.int64)
    counts = np.concatenate([test.counts, train.counts])
    rows = np.concatenate([np.ones(len(test.codes), dtype=bool), ~_within(test, train)])
    seen = np.concatenate([~fresh, np.ones(len(train.codes), dtype=bool)])
    if seen[rows].any():
        held = int((~fresh).sum())
        notes.append(
            f"{held:,} of {len(train.codes):,} seen combinations are measured on rows that were not trained on; "
            "the others on training rows."
            if held
            else "Seen combinations are measured on training rows, which favours them."
        )
    trained = Trained(train.codes.astype(np.int64), _shares(columns, train.target), train.counts.astype(np.float64))
    scale = _scale(columns, trained.answers, train)
    fit = np.array([float(np.average(_mean(wrong[0]), weights=train.counts)) / scale])
    return Answers(
        train.space, codes[rows], seen[rows], counts[rows], error[None, rows] / scale, given[None, rows], answers[rows],
        trained, columns.names if columns.kind == "class" else None, fit,
    )  # fmt: skip


def _from_train(columns: Columns, right: list[Table], said: list[Table], wrong: list[Table], told: bool) -> Answers:
    """Combinations of the training table are seen; its answers are used where it has them."""
    table, train = right
    seen = _within(train, table)
    answers = _shares(columns, table.target)
    if told and train.target is not None:
        rows = train.target.count > 0
        trained = Trained(
            train.codes[rows].astype(np.int64), _shares(columns, train.target)[rows], train.counts[rows].astype(float)
        )
    else:
        trained = Trained(table.codes[seen].astype(np.int64), answers[seen], table.counts[seen].astype(float))
    known = trained if len(trained.codes) else None
    scale = _scale(columns, trained.answers if known else answers, train if told and known else table)
    return Answers(
        table.space, table.codes.astype(np.int64), seen, table.counts, _mean(wrong[0])[None] / scale,
        _shares(columns, said[0].target)[None], answers, known, columns.names if columns.kind == "class" else None,
    )  # fmt: skip


def _shares(columns: Columns, target: Target | None) -> FloatArray:
    """Numbers (combinations × 1), or shares over all classes (combinations × classes)."""
    if target is None:
        raise InputError("the target is missing from the table.")
    if target.classes is None:
        return np.asarray(target.mean, dtype=np.float64)[:, None]
    shares = np.zeros((len(target.mean), len(columns.names)))
    shares[:, [columns.names.index(c) for c in target.classes]] = target.mean
    return shares


def _mean(table: Table) -> FloatArray:
    if table.target is None:
        raise InputError("the error of the predictions is missing from the table.")
    return np.asarray(table.target.mean, dtype=np.float64)


def _scale(columns: Columns, answers: FloatArray, table: Table) -> float:
    """What always answering the mean would cost, over training rows; 1 for classes."""
    if columns.kind == "class":
        return 1.0
    within = float(table.target.spread.sum()) / table.rows if table.target is not None else 0.0
    spread = float(np.square(answers - answers.mean(axis=0)).mean()) + within
    if spread <= 0:
        raise InputError(f"every training answer in {columns.target!r} is the same, so errors have no scale.")
    return spread


def _within(table: Table, other: Table) -> Any:
    """Which combinations of ``other`` are in ``table``."""
    return table.support().contains(other.codes.astype(np.int64))


def _hints(columns: Columns, answers: Answers) -> list[str]:
    if columns.kind == "class":
        return []
    values = np.unique(answers.target)
    whole = np.array_equal(values, np.trunc(values)) and len(values) <= TARGET_CLASSES
    if not whole or not np.isin(answers.predicted, values).all():
        return []
    return [f"The answers in {columns.target!r} are taken as numbers; if they are classes, say --target-kind class."]


def _unused(name: str, names: Sequence[str]) -> str:
    while name in names:
        name += "_"
    return name
