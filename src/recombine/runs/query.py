"""Choose rows of a `catalogue` by conditions such as ``members>=64``, and count them by columns. Nothing is evaluated:
a condition is a column that exists, one of six signs, and a value that is compared."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from recombine.errors import InputError, unknown

if TYPE_CHECKING:
    import polars as pl

_CONDITION = re.compile(r"\s*(?P<column>[a-z]+)\s*(?P<sign>!=|<=|>=|==|=|<|>)\s*(?P<value>.*?)\s*", re.DOTALL)
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def where(table: pl.DataFrame, conditions: Sequence[str]) -> pl.DataFrame:
    """The rows that meet every condition, such as ``task=bumps``, ``members>=64``, ``started<2026-11``.

    ``tables=history`` asks for a run that has that table, ``address=3fa9`` for an address that begins so, and nothing
    after the sign for a value that is not there. Where nothing is known, ``!=`` holds and the others do not."""
    for condition in conditions:
        table = table.filter(_expression(table, condition))
    return table


def summarise(table: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """For each combination of the columns ``by``: runs, bytes, members and seconds in all; most runs first."""
    import polars as pl

    for column in by:
        if column not in table.columns:
            raise unknown("column", column, table.columns)
    columns = list(dict.fromkeys(by))
    totals = [pl.col(name).sum() for name in ("bytes", "members", "seconds") if name not in columns]
    found = table.group_by(columns).agg(pl.len().alias("runs"), *totals)
    return found.sort("runs", *columns, descending=[True, *(False for _ in columns)])


def _expression(table: pl.DataFrame, condition: str) -> pl.Expr:
    import polars as pl

    match = _CONDITION.fullmatch(condition)
    if match is None:
        raise InputError(f"{condition[:80]!r} is no condition; write a column, one of = != < <= > >=, and a value.")
    name, sign, text = match["column"], match["sign"].replace("==", "="), match["value"]
    if name not in table.columns:
        raise unknown("column", name, table.columns)
    column = pl.col(name)
    if sign in ("=", "!="):
        if not text:
            equal = column.is_null()
        elif name == "tables":
            equal = column.str.split(",").list.contains(text)
        elif name == "address":
            equal = column.str.starts_with(text)
        else:
            equal = column.eq_missing(pl.lit(_value(table, name, text)))
        return equal if sign == "=" else ~equal
    return _SIGNS[sign](column, pl.lit(_value(table, name, text)))  # type: ignore[no-any-return]


def _value(table: pl.DataFrame, name: str, text: str) -> str | float:
    if not table.schema[name].is_numeric():
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name} is a number, and {text[:80]!r} is none.") from None
