"""Which columns of a prediction table are answers, what kind they are, and how their values are compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from recombine.errors import InputError, unknown
from recombine.mechanisms.answers.names import brief
from recombine.mechanisms.answers.probabilities import one_and_zero
from recombine.support.answers import Look, look, plain_number, two_flags
from recombine.support.numerals import DECIMAL_COMMA, LARGEST_ANSWER, as_number, refuse_enormous
from recombine.support.pasted import option
from recombine.support.scan import collect
from recombine.support.table import TARGET_CLASSES

Kind = Literal["number", "class"]
FLAGS = {"true", "false"}
MOST_LABELS, OFTEN = 10, 5
"""Whole numbers that may be labels of classes, and rows for each of them."""


@dataclass(frozen=True)
class Columns:
    """The columns of a prediction table, and how their values are compared."""

    target: str
    prediction: str
    kind: Kind
    names: tuple[str, ...]
    """The classes, of target and prediction together."""
    numeric: bool
    """Whether the classes are written as numbers, so that 1 and 1.0 are one class."""

    def answer(self, column: str) -> pl.Expr:
        """The column as numbers, or as class names."""
        text = pl.col(column).cast(pl.String).str.strip_chars()
        if self.kind == "number" or self.numeric:
            value = text.cast(pl.Float64, strict=False)
            return value if self.kind == "number" else _written(value)
        return text.str.to_lowercase() if set(self.names) <= FLAGS else text


def check_roles(factors: Sequence[str], target: str, predictions: Sequence[tuple[str, ...]], split: str | None) -> None:
    """Refuse a column that is named as two things; the first of ``predictions`` is the learner's, the others other
    models'."""
    said = [name for columns in predictions for name in columns]
    for name in (target, *said):
        if name in factors:
            raise InputError(f"{name!r} cannot be a factor and an answer at once.")
        if name == split:
            raise InputError(f"{name!r} cannot be an answer and say which rows are test rows at once.")
    if target in said:
        raise InputError(f"{target!r} is named as target and as prediction; they are two columns.")
    own, *others = predictions
    if any(set(other) & set(own) for other in others):
        raise InputError(
            f"{', '.join(own)[:80]!r} is named as prediction and as what it is compared with (against, --against); "
            "name another model's there."
        )


def labels(frame: pl.LazyFrame, target: str, predictions: Sequence[str], train: pl.LazyFrame | None) -> str:
    """The labels of classes that the answers seem to be, in words, or nothing: a few whole numbers from 0 or 1 on, with
    none left out and each often, which are all that is ever predicted. Numbers that a model predicts lie between."""
    if not {target, *predictions} <= set(frame.collect_schema().names()):
        return ""
    y = pl.concat([f.select(_text(f, target).drop_nulls().alias("y")) for f in (frame, train) if f is not None])
    number = plain_number(pl.col("y"))
    low, high, count, rows, whole = collect(
        y.select(number.min().alias("low"), number.max().alias("high"), number.n_unique().alias("count"),
                 pl.len().alias("rows"), (number % 1 == 0).fill_null(False).all().alias("whole"))
    ).row(0)  # fmt: skip
    if not whole or count > MOST_LABELS or rows < OFTEN * count or low not in (0, 1) or high - low + 1 != count:
        return ""
    given = [plain_number(_text(frame, name).drop_nulls()) for name in predictions]
    among = pl.all_horizontal(((p % 1 == 0) & p.is_between(low, high)).fill_null(False).all() for p in given)
    return f"{low:g} to {high:g}" if high > 1 and collect(frame.select(among.alias("among")))[0, 0] else ""


def answer_columns(
    frame: pl.LazyFrame,
    target: str,
    prediction: str,
    kind: Kind | None,
    train: pl.LazyFrame | None,
) -> Columns:
    """The columns of the answers, or an error that says why they cannot be compared."""
    names = frame.collect_schema().names()
    for name in (target, prediction):
        if name not in names:
            raise unknown("column", name, names)
    read = [(frame, target), (frame, prediction), *([(train, target)] if train is not None else [])]
    looked = [] if kind == "class" else [_look(where, name) for where, name in read]
    if (
        looked
        and all(_finite(found) for found in looked)
        and (kind == "number" or not two_flags([looked[0], *looked[2:]]))
    ):
        for one, (_, name) in zip(looked, read, strict=True):
            refuse_enormous(name, [end for end in (one.low, one.high) if end is not None], most=LARGEST_ANSWER)
        return Columns(target, prediction, "number", (), True)
    values = {name: _values(frame, name) for name in (target, prediction)}
    if train is not None:
        values[target] |= _values(train, target)
    numeric = all(as_number(v) is not None for v in values[target] | values[prediction])
    told = kind
    if kind is None:
        flags = {as_number(v) for v in values[target]} == {0.0, 1.0}
        kind = "class" if flags or not all(as_number(v) is not None for v in values[target]) else "number"
    if kind == "number":
        for name, found in values.items():
            odd = next((v for v in sorted(found) if as_number(v) is None), None)
            if odd is not None:
                two = name == target and len(found) == 2
                coded = f"; write {one_and_zero(prediction, sorted(found))}" if two else ""
                raise InputError(f"the column {name!r} holds {odd[:80]!r}, which is not a finite number{coded}.")
        return Columns(target, prediction, kind, (), True)
    known, given = (_classes(values[name], numeric) for name in (target, prediction))
    if not numeric and {v.lower() for v in known | given} <= FLAGS:
        known, given = {v.lower() for v in known}, {v.lower() for v in given}
    if numeric and given - known and len(given) > len(known):
        odd = min(given - known)
        other = _one_each(known) if told == "class" else "say that answers are numbers (--target-kind number)"
        raise InputError(
            f"the prediction {prediction!r} holds {odd!r}, which is none of the classes of {target!r}; give the "
            f"predicted class, or {other}{_no_chances(given)}."
        )
    written = known | given
    if any("," in v for v in written) and all(DECIMAL_COMMA.fullmatch(v) for v in written):
        raise InputError(
            f"the numbers in {target!r} and {prediction!r} ({_some(written)}) have decimal commas; write points."
        )
    if not known & given:
        alike = {v.lower() for v in given} & {v.lower() for v in known}
        capitals = "write them alike, as they differ in capitals alone; or " * bool(alike)
        raise InputError(
            f"none of the predictions in {prediction!r} ({_some(given)}) is a class of {target!r} ({_some(known)}); "
            f"{capitals}give the predicted class, or {_one_each(known)}{_no_chances(given)}"
            f"{_flags_for(prediction, known, given)}."
        )
    if len(known | given) > TARGET_CLASSES:
        raise InputError(
            f"{target!r} and {prediction!r} hold {len(known | given):,} different classes, more than the "
            f"{TARGET_CLASSES} that are handled."
        )
    return Columns(target, prediction, kind, tuple(sorted(known | given)), numeric)


def _look(frame: pl.LazyFrame, name: str) -> Look:
    text = _text(frame, name)
    return look(frame, plain_number(text), text)


def _finite(found: Look) -> bool:
    """Whether there are numbers, and nothing else."""
    return found.plain and all(end is not None and math.isfinite(end) for end in (found.low, found.high))


def _text(frame: pl.LazyFrame, name: str) -> pl.Expr:
    kind = frame.collect_schema()[name]
    if kind.is_nested() or kind in (pl.Object, pl.Binary):
        raise InputError(f"the column {name!r} holds {kind}; an answer is a number, a text or a boolean.")
    return (pl.col(name).fill_nan(None) if kind.is_float() else pl.col(name)).cast(pl.String).str.strip_chars()


def _values(frame: pl.LazyFrame, name: str) -> set[str]:
    found = collect(frame.select(_text(frame, name).unique().drop_nulls()))[name].to_list()
    if not found:
        raise InputError(f"the column {name!r} is empty.")
    return set(found)


def _classes(texts: set[str], numeric: bool) -> set[str]:
    if not numeric:
        return texts
    return set(pl.DataFrame({"class": sorted(texts)}).select(_written(pl.col("class").cast(pl.Float64)))["class"])


def _some(names: set[str], most: int = 3) -> str:
    return ", ".join(repr(brief(name, 12)) for name in sorted(names)[:most]) + ", …" * (len(names) > most)


def _no_chances(given: set[str]) -> str:
    """What makes probabilities of numbers that are none, in a clause: of log-odds, or of per cent."""
    numbers = [as_number(v) for v in given]
    found = [v for v in numbers if v is not None]
    if len(found) < max(len(numbers), 3):  # A few numbers may be labels.
        return ""
    if min(found) < 0 < max(found):
        return "; log-odds (logits) become probabilities by 1/(1 + exp(−x))"
    return "; per cent become probabilities by dividing by 100" * (min(found) >= 0 and 1 < max(found) <= 100)


def _flags_for(prediction: str, known: set[str], given: set[str]) -> str:
    """What 0 and 1 stand for where two classes have names, in a clause: labels, or chances that are always sure."""
    if len(known) != 2 or not {as_number(v) for v in given} <= {0.0, 1.0}:
        return ""
    return f"; 0 and 1 are no names of classes: if it is {one_and_zero(prediction, sorted(known))}, write these names"


def _one_each(classes: set[str]) -> str:
    named = option("prediction", *(f"p_{brief(name, 12)}" for name in sorted(classes)[:3]))
    more = " …" if len(classes) > 3 else ""
    return f"one column of probabilities for each class, which ends with its name ({named}{more})"


def _written(number: pl.Expr) -> pl.Expr:
    """Numbers as names of classes: 1 and 1.0 are one."""
    return number.cast(pl.String).str.replace(r"\.0$", "")
