"""Rows that stand for many cases: a column that says for how many, or how precise each row is.

A weight is told in units of the typical one, 1 / mean(1 / weight) over the answered rows: a row that weighs 1 is as
noisy as these are on average.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.errors import InputError
from recombine.space import quoted
from recombine.support.answers import Answers
from recombine.support.numerals import as_number, is_blank, read_numbers
from recombine.support.scan import Said, collect

HOW = "a weight is how many cases a row stands for, or how precise it is"
ONLY = "write a number above 0 there"
MOST_APART = 1e9
"""Times that the largest weight may be the smallest."""


@dataclass(frozen=True)
class Weights:
    """The column, and what the answered rows of the training table weigh."""

    name: str
    low: float
    high: float
    typical: float

    @property
    def even(self) -> bool:
        """Whether all weigh the same, so that nothing is weighed."""
        return self.low == self.high

    @property
    def words(self) -> str:
        low, high = _shown(self.low), _shown(self.high)
        if self.even:
            return f"rows weigh by {quoted(self.name)}, all {low}, so nothing is weighed"
        return f"rows weigh by {quoted(self.name)}, {low} to {high}"

    @property
    def untold(self) -> str:
        """What an asked row weighs of which nothing is told."""
        typical = f"asked combinations without a weight are taken to weigh {_shown(self.typical)}"
        made = "the harmonic mean of these, which is as noisy as they are on average"
        return f"{typical}, {made}: their ranges are too narrow for rows that weigh less"


def _shown(weight: float) -> str:
    return f"{weight:,.0f}" if weight >= 1_000 else f"{weight:.3g}"


@dataclass(frozen=True, eq=False)
class Weighing:
    """How a column of weights is read."""

    found: Weights
    column: pl.Expr

    def of(self, column: NDArray[np.float64]) -> NDArray[np.float64]:
        """In units of the typical weight; NaN where none is told."""
        return column / self.found.typical


def find_weights(frames: list[pl.LazyFrame], name: str, answers: Answers, said: Said) -> Weighing:
    """The weights of the rows, of which those of the first frame that have an answer need one."""
    if answers.classes is not None:
        raise InputError(
            f"the weights {name!r} are for answers that are numbers, and those in {answers.name!r} are classes: give "
            "every case a row of its own, or the share of one class as the answer."
        )
    told = [frame for frame in frames if name in frame.collect_schema()]
    column = _column(told, name, said)
    low = min((v for v in collect(pl.concat([f.select(column.min()) for f in told]))[" w"].drop_nulls()), default=1.0)
    if low <= 0:
        where = said.places(name, column <= 0)
        raise InputError(f"the weights {name!r} hold {low:g}{where}; {HOW}: {ONLY}, or leave such rows out.")
    seen = collect(told[0].filter(answers.column.is_not_null()).select(column))[" w"]
    if seen.null_count():
        where = said.places(name, column.is_null() & answers.column.is_not_null()) if len(frames) == 1 else ""
        many = f"{seen.null_count():,} answered row{' has' if seen.null_count() == 1 else 's have'}"
        raise InputError(f"{many} no weight in {name!r}{where}; {ONLY}, or leave such rows out.")
    w = seen.to_numpy()
    if not len(w):
        raise InputError(f"no row has an answer in {answers.name!r}, so there is nothing to weigh.")
    if w.max() > MOST_APART * w.min():
        raise InputError(
            f"the weights {name!r} go from {w.min():.3g} to {w.max():.3g}; {HOW}: one row cannot stand for a billion "
            "times what another does."
        )
    return Weighing(Weights(name, float(w.min()), float(w.max()), float(1 / np.mean(1 / w))), column)


def _column(frames: list[pl.LazyFrame], name: str, said: Said) -> pl.Expr:
    """Numbers, as they are or as texts of them."""
    kinds = {frame.collect_schema()[name] for frame in frames}
    if all(kind.is_numeric() for kind in kinds):
        column = pl.col(name).cast(pl.Float64).fill_nan(None)
    else:
        text = pl.col(name).cast(pl.String)
        found = pl.concat([collect(f.select(text.alias("w").unique())) for f in frames])["w"].unique().drop_nulls()
        texts = [t for t in found.to_list() if not is_blank(t)]
        numbers = read_numbers(name, texts, said.commas_are_decimal)
        if numbers is None:
            odd = [t for t in texts if as_number(t) is None] or texts
            raise InputError(f"the weights {name!r} hold {said.no_numbers(name, odd, ONLY)}.")
        said.notes += numbers.notes
        column = numbers.column(text)
    if collect(pl.concat([f.select(column.is_infinite().any().alias(" w")) for f in frames]))[" w"].any():
        raise InputError(f"the weights {name!r} hold an infinite number; {HOW}: {ONLY}.")
    return column.alias(" w")


__all__ = ["Weighing", "Weights", "find_weights"]
