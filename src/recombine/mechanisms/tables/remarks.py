"""What is worth saying of the answers in a table of predictions, besides what they come to."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recombine.mechanisms.answers.columns import Columns, Kind
from recombine.mechanisms.answers.names import brief
from recombine.mechanisms.answers.probabilities import chance_of, one_and_zero
from recombine.support.scan import collect
from recombine.support.table import TARGET_CLASSES

OFF = 0.02
"""How far from 1 the probabilities of a row may be together: they may be rounded."""
FEWEST_COPIES = 3
"""Test rows like a training row from which it is said."""


def remarks(
    frame: pl.LazyFrame,
    columns: Columns,
    factors: Sequence[str],
    split: tuple[str, str] | None,
    told: Kind | None,
    prediction: Sequence[str],
    probable: bool,
) -> list[str]:
    """A sentence each. ``told``: the kind of answer, where a person said it; ``probable``: whether the predictions are
    probabilities."""
    notes = []
    label, lone, plain = pl.col(columns.prediction), probable and len(prediction) == 1, columns.names == ("0", "1")
    if lone and not plain and len(columns.names) == 2:
        meant = chance_of(prediction[0], columns.names)
        (other,) = set(columns.names) - {meant}
        notes.append(
            f"The numbers in {prediction[0]!r} are taken as chances of {meant!r}. Were they of {other!r}: name a "
            f"column for each class, ending with it (p_{other},p_{meant})."
        )
    if lone and columns.kind == "class" and collect(frame.select(label.n_unique()))[0, 0] == 1:
        coded = "" if plain else f"with answers written as {one_and_zero(prediction[0], columns.names)}, "
        notes.append(
            f"All probabilities in {prediction[0]!r} lie on one side of 0.5, so that as classes they are one and the "
            f"same; {coded}--target-kind number judges the probabilities themselves."
        )
    notes += _sums(frame, prediction) if probable and len(prediction) > 1 else []
    notes += _unheard_of(frame, columns) if columns.kind == "class" else []
    notes += _duplicates(frame, columns, factors, split)
    return notes + (_hints(columns, frame) if told is None else [])


def _sums(frame: pl.LazyFrame, prediction: Sequence[str]) -> list[str]:
    """Probabilities of all classes that are not 1 together."""
    each = [pl.col(name).cast(pl.String).cast(pl.Float64, strict=False) for name in prediction]
    total = pl.sum_horizontal(each).filter(pl.all_horizontal(each).is_not_null())
    off = (total - 1).abs() > OFF
    count, of, usual = collect(
        frame.select(off.sum().alias("off"), total.len().alias("of"), total.filter(off).median().alias("usual"))
    ).row(0)
    if not count:
        return []
    return [
        f"In {count:,} of {of:,} rows the probabilities in {', '.join(map(brief, prediction))} do not add up to 1 "
        f"(usually to {usual:.3g}): each row is divided by its sum. If they are not of classes of which one is right, "
        "or a class is missing, errors and log losses say little."
    ]


def _unheard_of(frame: pl.LazyFrame, columns: Columns) -> list[str]:
    """Predictions of classes that are nobody's."""
    y, p = pl.col(columns.target), pl.col(columns.prediction)
    odd = collect(frame.select(p.filter(~p.is_in(y.unique().implode())).value_counts(sort=True).alias("odd")))["odd"]
    if not len(odd):
        return []
    name, count = odd[0][columns.prediction], sum(found["count"] for found in odd)
    alike = next((own for own in columns.names if own != name and own.lower() == str(name).lower()), None)
    capitals = "" if alike is None else f" {name!r} and {alike!r} differ in capitals alone: write them alike."
    return [
        f"{rows_words(count, 'is', 'are')} predicted to be of a class that no row of the table has ({name!r}"
        + ", …" * (len(odd) > 1) + f"): wrong, whatever the answer.{capitals}"
    ]  # fmt: skip


def _duplicates(
    frame: pl.LazyFrame, columns: Columns, factors: Sequence[str], split: tuple[str, str] | None
) -> list[str]:
    """Test rows that may be copies of training rows: the same combination and answer, far more often than two training
    rows have these in common."""
    if split is None or columns.kind == "class":
        return []
    test = (pl.col(split[0]).cast(pl.String) == split[1]).fill_null(False)
    alike = frame.group_by(*factors, columns.target).agg(tested=test.sum(), trained=(~test).sum())
    tested, trained = pl.col("tested"), pl.col("trained")
    copies, again, rows = collect(alike.filter(pl.col(columns.target).is_not_null()).select(
        copies=tested.filter(trained > 0).sum(), again=trained.filter(trained > 1).sum(), rows=trained.sum()
    )).row(0)  # fmt: skip
    if copies < FEWEST_COPIES or again * 20 > rows:
        return []
    have = rows_words(copies, "has", "have")
    like = "the factors and the answer of a training row, to all digits, where training rows seldom have each other's"
    return [f"{have} {like}: if these are copies, they were known, and errors on them too small."]


def _hints(columns: Columns, frame: pl.LazyFrame) -> list[str]:
    if columns.kind == "class":
        return []
    y, p = pl.col(columns.target), pl.col(columns.prediction)
    few = collect(frame.select(((y == y.round()).all() & (y.n_unique() <= TARGET_CLASSES)).alias("few")))[0, 0]
    if not few or collect(frame.select((~p.is_in(y.unique().implode())).any().alias("other")))[0, 0]:
        return []
    return [f"The answers in {columns.target!r} are taken as numbers; if they are classes, say --target-kind class."]


def rows_words(count: int, one: str, many: str) -> str:
    """``1 row has``, ``3 rows have``."""
    return f"{count:,} row{'s' * (count != 1)} {one if count == 1 else many}"
