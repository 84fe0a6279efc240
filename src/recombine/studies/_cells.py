"""Which numbers a claim is about: a column of a table, a filter over labels, and what one value stands for.

    cells("slope", "networks", network="dense", task="interpolation", sigma=1.0).near(0.03)
    cells("error", "ends", setting="B").minus(cells("error", "ends", setting="A"), pair="member").above(0)

Rows that belong to one *unit* (a network, a base, a split) become one value, so that an interval is over units. A unit
counts as fitted where all its rows are; nothing missing is filled in.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from recombine.studies.claims import Order, Sign, Test, Value
from recombine.studies.readings import Reading, Tables, paired

Names = str | Sequence[str]
Take = Literal["mean", "sum", "min", "max"]

LAST = pl.col("step") == pl.col("step").max().over("run")
"""The end of each run."""
CORRELATION, SHARE = (-1.0, 1.0), (0.0, 1.0)
"""The limits of a correlation, and of a share."""
NO_LIMITS = (-math.inf, math.inf)


class Quantity(ABC):
    """Something with one value per unit, and the tests that a claim can make of it."""

    unit: tuple[str, ...]
    """The columns that tell units apart."""
    counted: bool
    limits: tuple[float, float]
    crossed: bool
    """Whether both columns of the unit are taken as drawn, not units one by one."""

    @property
    @abstractmethod
    def tables(self) -> frozenset[str]:
        """The tables that its values are read from."""

    @abstractmethod
    def read(self, tables: Tables, everyone: bool = False) -> Reading:
        """``everyone``: units that did not fit are read too."""

    @property
    def wanted(self) -> tuple[tuple[str, Any], ...]:
        """Which columns have to have which values, where it says so."""
        return ()

    def above(self, than: float = 0.0, *, nothing: float | None = None, looks: int = 1) -> Test:
        """The interval of the mean lies above ``than``. ``nothing``: what the mean would be if nothing were going
        on, such as chance; it must lie on the other side. ``looks``: of how many it is the best."""
        return Test((self,), Sign("above", than, looks), nothing=nothing)

    def below(self, than: float = 0.0, *, nothing: float | None = None) -> Test:
        """The interval of the mean lies below ``than``; ``nothing`` as in `above`."""
        return Test((self,), Sign("below", than), nothing=nothing)

    def near(self, tolerance: float, theory: float | None = None) -> Test:
        """The published figure lies within ``tolerance``, by an interval no wider; where none was published, the figure
        that ``theory`` gives."""
        return Test((self,), Value(tolerance, theory))

    def minus(self, other: Quantity, pair: Names = "member") -> Quantity:
        """This less the other, for units of the same ``pair`` columns: seeds are shared, so differences are taken by
        seed."""
        return Difference(self, other, _names(pair))


@dataclass(frozen=True)
class Cells(Quantity):
    """A column (or an expression) of a table under a filter; see `cells`."""

    value: str | pl.Expr
    table: str
    where: tuple[pl.Expr, ...] = ()
    unit: tuple[str, ...] = ("run", "member")
    within: tuple[str, ...] = ()
    take: Take = "mean"
    fitted: bool = True
    asked: Cells | None = None
    counted: bool = False
    limits: tuple[float, float] = NO_LIMITS
    crossed: bool = False
    least: int = 1
    steps: int = 0
    labels: tuple[tuple[str, Any], ...] = ()
    """Which columns have to have which values, besides ``where``."""

    @property
    def tables(self) -> frozenset[str]:
        return frozenset({self.table})

    @property
    def wanted(self) -> tuple[tuple[str, Any], ...]:
        return self.labels

    def read(self, tables: Tables, everyone: bool = False) -> Reading:
        unit = list(self.unit)
        if self.table not in tables:
            return _none(unit)
        table = tables[self.table]
        value = (pl.col(self.value) if isinstance(self.value, str) else self.value).cast(pl.Float64)
        good = pl.lit(True)
        if self.fitted and not everyone and "fitted" in table.columns:
            good = pl.col("fitted").fill_null(True)
        # Values and filters may look at whole columns (the last step of each run), so both see the whole table.
        chosen = pl.all_horizontal(self.where) if self.where else pl.lit(True)
        table = table.with_columns(pl.col("step").max().over("run").alias("lasted ")) if self.steps else table
        rows = table.with_columns(value.alias("value"), good.alias("good"), chosen.alias("chosen ")).filter("chosen ")
        rows, short = self._long(rows) if self.steps else (rows, None)
        runs = frozenset(rows["run"].drop_nulls().unique().to_list()) if "run" in rows.columns else frozenset()
        mean = getattr(pl.col("value"), self.take)()
        if self.within:
            keys = [*unit, *self.within]
            rows = rows.group_by(keys, maintain_order=True).agg(pl.col("value").mean(), pl.col("good").all())
        each = rows.group_by(unit, maintain_order=True).agg(mean, pl.col("good").all(), _known(self.within))
        found = each.filter(pl.col("good") & pl.col("known")).select(*unit, "value").sort(unit)
        asked = each.select(unit) if self.asked is None else self.asked.read(tables, True).asked.select(unit)
        return Reading(found, asked, runs, rows.height > 0, self.least, short)

    def _long(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, tuple[int, int] | None]:
        """Rows of runs with enough steps and, where there are others alone, how many steps these have of how many."""
        enough = rows.filter(pl.col("lasted ") >= self.steps)
        longest = rows.select(pl.col("lasted ").max()).item()
        return enough, None if enough.height or longest is None else (longest, self.steps)


@dataclass(frozen=True)
class Difference(Quantity):
    """One quantity less another, pair by pair."""

    first: Quantity
    second: Quantity
    unit: tuple[str, ...]
    counted: bool = False
    limits: tuple[float, float] = NO_LIMITS
    crossed: bool = False

    @property
    def tables(self) -> frozenset[str]:
        return self.first.tables | self.second.tables

    @property
    def wanted(self) -> tuple[tuple[str, Any], ...]:
        return (*self.first.wanted, *self.second.wanted)

    def read(self, tables: Tables, everyone: bool = False) -> Reading:
        readings = paired([side.read(tables, everyone) for side in (self.first, self.second)], self.unit)
        first, second = readings
        found = first.found.with_columns((pl.col("value") - second.found["value"]).alias("value"))
        there, least = first.there and second.there, max(first.least, second.least)
        return Reading(found, first.asked, first.runs | second.runs, there, least, first.short or second.short)


def cells(
    value: str | pl.Expr, table: str, *where: pl.Expr, unit: Names = ("run", "member"), within: Names = (),
    take: Take = "mean", fitted: bool = True, asked: Cells | None = None, counted: bool = False,
    limits: tuple[float, float] = NO_LIMITS, crossed: bool = False, least: int = 1, steps: int = 0, **labels: Any,
) -> Cells:  # fmt: skip
    """One value per ``unit`` of a table: rows where every label has its value (or one of a list), and ``where`` holds.

    Rows of a unit are averaged (``take``: or added up, or the smallest or largest counts), first ``within`` other
    columns. ``asked`` names the units that there were, where a table lacks those that gave nothing. ``counted``: values
    are 0 or 1, and the figure is a share of units. ``crossed``: both columns of the unit were drawn, such as tasks and
    splits, and the interval is over both. ``fitted=False``: whether a network fitted does not matter here. ``least``:
    how many units it takes to ask; with fewer the claim is not run. ``steps``: how many steps a run must have; shorter
    ones are left out."""
    where = (*(_is(pl.col(name), wanted) for name, wanted in labels.items()), *where)
    named = tuple((name, one) for name, wanted in labels.items()
                  for one in (wanted if isinstance(wanted, (list, tuple, set, frozenset)) else (wanted,)))  # fmt: skip
    of_units = (_names(unit), _names(within), take, fitted, asked, counted, limits, crossed, least, steps)
    return Cells(value, table, where, *of_units, named)


def _is(column: pl.Expr, wanted: Any) -> pl.Expr:
    if isinstance(wanted, (list, tuple, set, frozenset)):
        return column.is_in(list(wanted))
    return column.is_null() if wanted is None else column == wanted


def rising(*quantities: Quantity, names: Sequence[str], pair: Names | None = None) -> Test:
    """Each quantity lies below the next: the interval of every neighbouring difference lies above 0. With ``pair``
    units of the same columns are compared, without it groups."""
    return Test(tuple(quantities), Order(tuple(names)), pair=None if pair is None else _names(pair))


def _known(within: Sequence[str]) -> pl.Expr:
    """Whether a unit has a value: a finite one in each of its rows, or, averaged within others, in one of them."""
    finite = pl.col("value").is_finite() & pl.col("value").is_not_null()
    return (finite.any() if within else finite.fill_null(False).all()).alias("known")


def _none(unit: list[str]) -> Reading:
    nothing = pl.DataFrame(schema=dict.fromkeys(unit, pl.String))
    return Reading(nothing.with_columns(pl.lit(None, pl.Float64).alias("value")), nothing, there=False)


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
