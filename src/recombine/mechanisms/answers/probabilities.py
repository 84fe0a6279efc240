"""Probabilities as answers: the class that is most probable, and the log loss beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from recombine.errors import InputError, unknown
from recombine.mechanisms.answers.names import brief
from recombine.support.numerals import as_number
from recombine.support.scan import collect

SMALLEST = 1e-12
CONFIDENCE = "confidence"
"""The name of the probability of the answer that is given, beside other scores."""


PAIRS = ({0.0, 1.0}, {1.0, 2.0}, {-1.0, 1.0})
"""Numbers that two classes are called."""


def likely_class(
    frame: pl.LazyFrame, target: str, columns: Sequence[str], named: str, loss: str, sure: str, told: bool = False
) -> pl.LazyFrame | None:
    """The frame with the most probable class as the column ``named``, its probability as ``sure`` and −log of the right
    one's as ``loss``; None where the columns are no probabilities.

    One column is the probability of one of two classes (`chance_of`); numbers are these if they are usual names of two
    classes, or if that is ``told``. Of several, one belongs to each class: it is called like the class, or ends so
    (``p_cat``)."""
    schema = frame.collect_schema()
    for name in (target, *columns):
        if name not in schema:
            raise unknown("column", name, schema.names())
    values = [pl.col(name).cast(pl.String).cast(pl.Float64, strict=False) for name in columns]
    texts = pl.any_horizontal(
        (v.is_null() & pl.col(n).is_not_null()).any() for n, v in zip(columns, values, strict=True)
    )
    values = [v.fill_nan(None) for v in values]  # What is not a number is no chance, and missing.
    if collect(frame.select(texts.alias("texts")))[0, 0]:
        if len(columns) == 1:
            return None
        raise InputError("several prediction columns are probabilities, one for each class; these are not numbers.")
    found = collect(
        frame.select(
            pl.min_horizontal(v.min() for v in values).alias("low"),
            pl.max_horizontal(v.max() for v in values).alias("high"),
            pl.all_horizontal(((v == 0) | (v == 1)).all() for v in values).alias("whole"),
        )
    )
    low, high, whole = found.row(0)
    inside = low is not None and low >= 0 and high <= 1
    if len(columns) == 1 and (whole or not inside):
        return None
    right = pl.col(target).cast(pl.String).str.strip_chars()
    classes = collect(frame.select(right.unique().drop_nulls()))[target].to_list()
    if len(columns) == 1:
        if len(classes) > 2:  # Of very many numbers each would be read as one.
            return None
        numbers = {v for c in classes if (v := as_number(c)) is not None}
        if classes and len(numbers) == len(classes) and numbers <= PAIRS[0]:
            numbers, classes = PAIRS[0], ["0", "1"]
        if len(classes) != 2 or not (told or not numbers or numbers in PAIRS):
            return None
        meant = chance_of(columns[0], classes)
        other = next(name for name in classes if name != meant)
        p = values[0].clip(SMALLEST, 1 - SMALLEST)
        label: pl.Expr = pl.when(values[0].is_not_null()).then(
            pl.when(values[0] >= 0.5).then(pl.lit(meant)).otherwise(pl.lit(other))
        )
        so = right.cast(pl.Float64, strict=False) == float(meant) if len(numbers) == 2 else right == meant
        wrong = -pl.when(so).then(p.log()).otherwise((1 - p).log())
        likely = pl.max_horizontal(values[0], 1 - values[0])
        return frame.with_columns(label.alias(named), wrong.alias(loss), likely.alias(sure))
    if not inside:
        logits = " Of log-odds (logits), give exp(x) over its sum over the classes." * (low is not None and low < 0)
        raise InputError(
            f"the columns {', '.join(columns)} hold numbers outside 0 to 1; probabilities are expected.{logits}"
        )
    of = {name: _class_of(name, classes) for name in columns}
    absent = sorted(set(classes) - set(of.values()))
    if absent or len(set(of.values())) < len(columns):
        missing = f"none is for {absent[0]!r} (zeros, if the model knows no such class)" if absent else ""
        raise InputError(
            f"name one probability column for each class of {target!r}, called like it or ending so (p_cat); "
            f"{missing or 'two are for the same class'}."
        )
    whole_row = pl.all_horizontal(v.is_not_null() for v in values)
    top = pl.when(whole_row).then(pl.max_horizontal(values))
    label = pl.coalesce(pl.when(v == top).then(pl.lit(of[name])) for name, v in zip(columns, values, strict=True))
    mine = pl.coalesce(pl.when(right == of[name]).then(v) for name, v in zip(columns, values, strict=True))
    sums = pl.sum_horizontal(values)
    wrong = -(mine / sums).clip(SMALLEST).log()
    return frame.with_columns(label.alias(named), wrong.alias(loss), (top / sums).alias(sure))


def chance_of(column: str, classes: Sequence[str]) -> str:
    """Of two classes the one that a lone column holds the chances of: the one its name ends with, else the second in
    order (1, true, yes), as libraries have it. The end of a name is no number of a class: it may be a model's."""
    ends = [c for c in classes if as_number(c) is None and _ends(column, c)]
    return ends[0] if len(ends) == 1 else max(classes, key=lambda c: (as_number(c) or 0.0, c))


def one_and_zero(column: str, classes: Sequence[str]) -> str:
    """How two classes are written as numbers that a lone column holds the chances of, in words."""
    meant = chance_of(column, classes)
    (other,) = set(classes) - {meant}
    return f"1 for {brief(meant)!r} and 0 for {brief(other)!r}"


def _ends(column: str, name: str) -> bool:
    return column == name or re.search(rf"(?:^|[^0-9A-Za-z]){re.escape(name)}$", column) is not None


def _class_of(column: str, classes: Sequence[str]) -> str:
    fit = [c for c in classes if _ends(column, c)]
    if not fit:
        raise InputError(
            f"the column {column!r} is called like none of the classes {', '.join(sorted(classes))[:200]}."
        )
    return max(fit, key=len)
