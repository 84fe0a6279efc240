"""From a column to a factor: its levels, and the expression that turns each value into the code of its level.

Texts that are all whole numbers, decimals or booleans become such; dates and categories become texts; decimals with
more than fifty different values must be cut into bins, or be a number instead of a level.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import polars as pl

from recombine.errors import InputError
from recombine.space import Level
from recombine.support.numerals import alike, as_number, one_of_alike, read_numbers, refuse_enormous
from recombine.support.pasted import hint, mapped
from recombine.support.scan import Said, collect, rows_of

MISSING_LEVEL = "(missing)"
MOST_FLOAT_LEVELS = 50


@dataclass(frozen=True)
class Encoder:
    """Levels of one factor and the expression that turns the column into their codes."""

    name: str
    levels: tuple[Level, ...]
    code: pl.Expr


def _code_type(levels: int) -> Any:
    return pl.UInt8 if levels <= 2**8 else pl.UInt16 if levels <= 2**16 else pl.UInt32


def encoder(
    name: str,
    frames: list[pl.LazyFrame],
    kinds: set[pl.DataType],
    missing: str,
    distinct: pl.Series | None,
    said: Said,
    number: bool = False,
) -> Encoder:
    """``distinct``: the values of the column, where they are known; what is worth saying about them joins ``said``."""
    column = pl.col(name)
    plain = all(k.is_integer() or k == pl.Boolean for k in kinds) or all(k.is_float() or k.is_integer() for k in kinds)
    if (len(kinds) > 1 and not all(k.is_numeric() for k in kinds)) or (not plain and kinds != {pl.String}):
        column = (
            _as_day(name, frames).cast(pl.String) if all(k == pl.Datetime for k in kinds) else column.cast(pl.String)
        )
    elif len(kinds) > 1:
        column = column.cast(pl.Float64 if any(k.is_float() for k in kinds) else pl.Int64)
    values = distinct
    if values is None:
        values = pl.concat([collect(frame.select(column.unique())) for frame in frames])[name].unique()
    has_missing = values.null_count() > 0
    raw = values.drop_nulls().to_list()
    pairs = levels_of(name, raw, said, lambda: rows_of(frames, column))
    ordered = _sorted_levels(set(pairs.values()))
    if number:
        _refuse_others(name, ordered, has_missing and missing != "error", said)
    elif len(ordered) > MOST_FLOAT_LEVELS and any(isinstance(v, float) for v in ordered):
        raise InputError(
            f"column {name!r} has {len(ordered):,} different decimal values; give it bins, for example "
            f"{mapped('bins', {name: 5})}, or let `check` take it as a number, "
            f"{hint('numeric', name)}."
        )
    if has_missing:
        ordered = (*ordered, _unused(MISSING_LEVEL, ordered))
    place = {level: i for i, level in enumerate(ordered)}
    kind = _code_type(len(ordered))
    old = pl.Series(raw, dtype=values.dtype)
    code = column.replace_strict(
        old, pl.Series([place[pairs[v]] for v in raw], dtype=kind), default=None, return_dtype=kind
    )
    return Encoder(name, ordered, (code.fill_null(len(ordered) - 1) if has_missing else code).alias(name))


def kinds_of(name: str, schemas: list[pl.Schema]) -> set[pl.DataType]:
    """What a column holds; an error for what cannot be levels."""
    kinds = {schema[name] for schema in schemas}
    if any(k.is_nested() or k in (pl.Object, pl.Binary) for k in kinds):
        raise InputError(
            f"column {name!r} holds {', '.join(str(k) for k in kinds)}; a factor is a column of texts, "
            "numbers, booleans or dates."
        )
    return kinds


def _refuse_others(name: str, levels: tuple[Level, ...], has_missing: bool, said: Said) -> None:
    """An error for what is no number."""
    texts = [str(v) for v in levels if isinstance(v, (str, bool))]
    if odd := [t for t in texts if as_number(t) is None] or texts:
        what = said.no_numbers(name, odd, "correct such cells, or leave the column out of numeric")
        raise InputError(f"column {name!r} holds {what}.")
    if has_missing:
        raise InputError(f"a missing value of the number {name!r} is no level; leave such rows out (--missing drop).")


def _as_day(name: str, frames: list[pl.LazyFrame]) -> pl.Expr:
    """A moment as its day where every moment is midnight."""
    midnight = pl.col(name).dt.time() == datetime.time(0)
    return pl.col(name).dt.date() if all(collect(f.select(midnight.all()))[0, 0] for f in frames) else pl.col(name)


def _unused(text: str, levels: tuple[Level, ...]) -> str:
    while text in levels:
        text = f"({text})"
    return text


def _sorted_levels(levels: set[Level]) -> tuple[Level, ...]:
    if all(isinstance(v, str) for v in levels) or not any(isinstance(v, str) for v in levels):
        return tuple(sorted(levels))
    return tuple(sorted(levels, key=str))


def levels_of(name: str, raw: list[Any], said: Said, rows: Callable[[], dict[str, int]]) -> dict[Any, Level]:
    """The level each raw value stands for: texts that are all whole numbers, decimals or booleans become such.
    ``rows``: in how many rows each text stands, asked for where some are taken for one."""
    if not all(isinstance(v, str) for v in raw):
        refuse_enormous(name, (v for v in raw if isinstance(v, float)))
        return {v: v for v in raw}
    if all(_whole(v) for v in raw):
        return {v: int(v) for v in raw}
    if {v.lower() for v in raw} == {"true", "false"}:
        return {v: v.lower() == "true" for v in raw}
    numbers = read_numbers(name, raw, said.commas_are_decimal)
    if numbers is not None and len(numbers.values) == len(raw):
        said.notes += numbers.notes
        return dict(numbers.values)
    counts = rows() if said.merge_alike else None
    said.notes += alike(name, raw, merged=said.merge_alike, rows=counts)
    return dict(one_of_alike(raw, counts)) if said.merge_alike else {v: v for v in raw}


def _whole(text: str) -> bool:
    try:
        return str(int(text)) == text and abs(int(text)) < 2**53
    except ValueError:
        return False


def binned(
    name: str,
    frames: list[pl.LazyFrame],
    bins: int,
    missing: str,
    distinct: pl.Series | None,
    said: Said,
    untold: str = "",
) -> Encoder:
    """Equal-frequency bins over the rows of the first frame; what lies outside of them elsewhere is a level of its own,
    and so is what a frame does not tell, where that is called something (``untold``). Ends of bins are shown with four
    digits."""
    column = pl.col(name).cast(pl.Float64, strict=False)
    texts = distinct.drop_nulls().to_list() if distinct is not None and distinct.dtype == pl.String else []
    if (numbers := read_numbers(name, texts, said.commas_are_decimal)) is not None:
        said.notes += numbers.notes
        column = numbers.column(pl.col(name))
    found = [collect(frame.select(column.alias("x"), pl.col(name).is_null().alias("blank"))) for frame in frames]
    everything = pl.concat(found)
    if everything["x"].null_count() > everything["blank"].sum():
        odd = [t for t in texts if as_number(t) is None]
        fix = "correct such cells, so that it can be cut into bins"
        what = (
            f"holds {said.no_numbers(name, odd, fix)}" if odd else "cannot be cut into bins: it has other than numbers"
        )
        raise InputError(f"column {name!r} {what}.")
    whole = everything["x"].fill_nan(None).drop_nulls()
    if not len(whole):
        raise InputError(f"column {name!r} has no numbers to cut into bins.")
    least, most = float(whole.min()), float(whole.max())  # type: ignore[arg-type]
    refuse_enormous(name, (least, most))
    values = found[0]["x"].fill_nan(None).drop_nulls()
    values = values if len(values) else whole
    low, high = float(values.min()), float(values.max())  # type: ignore[arg-type]
    inner = sorted({float(values.quantile(i / bins, "lower") or 0.0) for i in range(1, bins)} - {low})
    ends = [low, *inner, high]
    labels: list[Level] = [f"{a:.4g} … {b:.4g}" for a, b in itertools.pairwise(ends)]
    if len(set(labels)) < len(labels):
        labels = [f"{a!r} … {b!r}" for a, b in itertools.pairwise(ends)]
    code = reduce(lambda total, edge: total + (column >= edge).cast(pl.UInt8), inner, pl.lit(0, dtype=pl.UInt8))
    for there, outside, label in (
        (least < low, column < low, f"below {low:.4g}"),
        (most > high, column > high, f"above {high:.4g}"),
    ):
        if there:
            code = pl.when(outside).then(len(labels)).otherwise(code)
            labels.append(label)
    code = pl.when(column.is_null() | column.is_nan()).then(None).otherwise(code)
    has_missing = (missing == "level" or untold) and any(
        collect(f.select((column.is_null() | column.is_nan()).any()))[0, 0] for f in frames
    )
    if has_missing:
        labels.append(_unused(untold or MISSING_LEVEL, tuple(labels)))
        code = code.fill_null(len(labels) - 1)
    return Encoder(name, tuple(labels), code.cast(_code_type(len(labels))).alias(name))
