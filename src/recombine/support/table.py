"""Ordinary tables as supports: chosen columns become factors, rows become distinct combinations with their counts.

Frames (polars, pandas), arrays, dictionaries, CSV and Parquet are all scanned lazily; what is kept in memory is one
small whole number a factor and row at most, and after grouping one row per distinct combination.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.errors import InputError, unknown
from recombine.space import Codes, Factor, FactorSpace
from recombine.support.encode import Encoder, as_number, encoder
from recombine.support.scan import collect, scan
from recombine.support.support import Explicit

Missing = Literal["error", "drop", "level"]
MISSING = ("error", "drop", "level")
TARGET_CLASSES = 50
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+(,[0-9]+)?")


@dataclass(frozen=True, eq=False)
class Target:
    """What each distinct combination answered: moments for numbers, counts for classes."""

    name: str
    classes: tuple[str, ...] | None
    """Class names, or None where the target is a number."""
    count: NDArray[np.int64]
    """Rows with an answer, for each combination."""
    mean: NDArray[np.float64]
    """Mean answer of each combination (numbers), or share of each class (combinations × classes)."""
    spread: NDArray[np.float64]
    """Sum of squared deviations from the combination's mean (numbers only)."""

    @property
    def numeric(self) -> bool:
        return self.classes is None

    @property
    def conflicts(self) -> int:
        """Combinations that were given different answers."""
        if self.classes is None:
            return int((self.spread > 1e-12 * np.maximum(1.0, self.mean**2) * np.maximum(self.count, 1)).sum())
        return int(((self.mean > 0).sum(axis=1) > 1).sum())


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct combinations of a table, how often each occurs, and what they answered."""

    space: FactorSpace
    codes: Codes
    counts: NDArray[np.int64]
    dropped: int = 0
    """Rows left out because a factor was missing."""
    target: Target | None = None

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    def support(self) -> Explicit:
        return Explicit(self.space, self.codes.astype(np.int64))


def read_tables(
    tables: Sequence[Any],
    factors: Sequence[str],
    *,
    target: str | None = None,
    target_kind: Literal["number", "class"] | None = None,
    split: tuple[str, str] | None = None,
    bins: Mapping[str, int] | None = None,
    missing: Missing = "error",
    max_rows: int | None = None,
    max_bytes: int | None = None,
) -> list[Table]:
    """Read tables over one common space of levels. ``split=(column, value)`` cuts a single table in two: the rows where
    the column has another value, then those where it has this one."""
    bins = dict(bins or {})
    names = _factor_names(factors, target)
    if missing not in MISSING:
        raise unknown("way to treat missing values", missing, MISSING)
    used = {*names, *bins, *([target] if target else []), *([split[0]] if split else [])}
    whats = ["the table", *["the test table"] * len(tables)]
    frames = [scan(t, what, max_bytes, max_rows, used) for t, what in zip(tables, whats, strict=False)]
    for i, frame in enumerate(frames):
        schema = frame.collect_schema()
        for name in (*names, *bins, *([target] if target and i == 0 else []), *([split[0]] if split else [])):
            if name not in schema:
                raise unknown("column", name, schema.names())
        _guard_rows(frame, max_rows)
    for name, count in bins.items():
        if name not in names:
            raise unknown("factor to bin", name, names)
        if not isinstance(count, int) or count < 2:
            raise InputError(f"bins for {name!r} must be a whole number of at least 2, got {count!r}.")
    if split:
        frames = _cut(frames[0], *split)
    dropped = [0] * len(frames)
    for i, frame in enumerate(frames):
        frames[i], dropped[i] = _treat_missing(frame, names, missing)
    encoders = [encoder(name, frames, bins.get(name), missing) for name in names]
    space = FactorSpace(tuple(Factor(e.name, e.levels) for e in encoders))
    answers = _answer_kind(frames, target, target_kind) if target else None
    return [_group(space, encoders, frame, lost, target, answers) for frame, lost in zip(frames, dropped, strict=True)]


def _factor_names(factors: Sequence[str], target: str | None) -> list[str]:
    names = [f.strip() for f in factors.split(",")] if isinstance(factors, str) else [str(f) for f in factors]
    names = [n for n in names if n.strip()]
    if not names:
        raise InputError("name at least one factor column.")
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InputError(f"the factor {name!r} is named twice.")
    if target in names:
        raise InputError(f"{target!r} cannot be both a factor and the target.")
    return names


def _guard_rows(frame: pl.LazyFrame, max_rows: int | None) -> None:
    rows = int(collect(frame.select(pl.len()))[0, 0])
    if not rows:
        raise InputError("the table has a header but no rows.")
    if max_rows is not None and rows > max_rows:
        raise InputError(
            f"the table has {rows:,} rows, more than the {max_rows:,} allowed; raise max_rows (--max-rows)."
        )


def _cut(frame: pl.LazyFrame, column: str, value: str) -> list[pl.LazyFrame]:
    is_test = (_as_text(column, frame) == value).fill_null(False)
    values = collect(frame.select(_as_text(column, frame).unique().drop_nulls()))[column].to_list()
    if value not in values:
        raise unknown(f"value of the split column {column!r}:", value, sorted(values))
    if len(values) < 2 and not collect(frame.select(pl.col(column).is_null().any()))[0, 0]:
        raise InputError(f"every row has {column} = {value!r}, so the split leaves nothing to train on.")
    return [frame.filter(~is_test), frame.filter(is_test)]


def _as_text(column: str, frame: pl.LazyFrame) -> pl.Expr:
    kind = frame.collect_schema()[column]
    return pl.col(column).cast(pl.String) if kind != pl.String else pl.col(column)


def _treat_missing(frame: pl.LazyFrame, names: list[str], missing: Missing) -> tuple[pl.LazyFrame, int]:
    schema = frame.collect_schema()
    floats = [n for n in names if schema[n].is_float()]
    frame = frame.with_columns([pl.col(n).fill_nan(None) for n in floats])
    if missing == "level":
        return frame, 0
    counts = collect(frame.select(*[pl.col(n).null_count().alias(n) for n in names], pl.len().alias(" rows")))
    worst = max(names, key=lambda n: counts[n][0])
    if not counts[worst][0]:
        return frame, 0
    if missing == "error":
        raise InputError(
            f"column {worst!r} has {counts[worst][0]:,} missing values; say what to do with them: "
            "missing='drop' leaves those rows out, missing='level' makes missing a level of its own (--missing "
            "drop | level)."
        )
    kept = frame.drop_nulls(names)
    left = int(collect(kept.select(pl.len()))[0, 0])
    if not left:
        raise InputError("every row has a missing factor, so dropping them leaves nothing.")
    return kept, int(counts[" rows"][0]) - left


def _answer_kind(frames: list[pl.LazyFrame], target: str, kind: str | None) -> tuple[str, ...] | None:
    """Class names, or None for a number: texts, booleans and the two numbers 0 and 1 are classes unless said
    otherwise.
    """
    values = (
        pl.concat([_answer_values(f, target) for f in frames if target in f.collect_schema()])["y"]
        .unique()
        .drop_nulls()
    )
    if not len(values):
        raise InputError(f"the target column {target!r} is empty.")
    texts = values.to_list()
    numeric = all(_finite(t) for t in texts)
    if kind == "number" and not numeric:
        odd = next(t for t in texts if not _finite(t))
        raise InputError(f"the target {target!r} holds {odd!r}, which is not a finite number.")
    if kind == "number" or (kind is None and numeric and {float(t) for t in texts} != {0.0, 1.0}):
        return None
    if kind is None and all(DECIMAL_COMMA.fullmatch(t) for t in texts) and any("," in t for t in texts):
        odd = next(t for t in texts if "," in t)
        raise InputError(
            f"the target {target!r} holds {odd!r}: decimals are written with a point here; say target_kind='class' "
            "(--target-kind class) if these are classes."
        )
    if len(texts) > TARGET_CLASSES:
        raise InputError(
            f"the target {target!r} has {len(texts):,} different classes, more than the {TARGET_CLASSES} this "
            "check handles."
        )
    return tuple(sorted(texts))


def _finite(text: str) -> bool:
    return as_number(text) is not None


def _answer_values(frame: pl.LazyFrame, target: str) -> pl.DataFrame:
    kind = frame.collect_schema()[target]
    if kind.is_nested() or kind in (pl.Object, pl.Binary):
        raise InputError(f"the target {target!r} holds {kind}; a target is a column of numbers, texts or booleans.")
    column = pl.col(target).fill_nan(None) if kind.is_float() else pl.col(target)
    return collect(frame.select(column.cast(pl.String).alias("y").unique()))


def _group(
    space: FactorSpace,
    encoders: list[Encoder],
    frame: pl.LazyFrame,
    dropped: int,
    target: str | None,
    classes: tuple[str, ...] | None,
) -> Table:
    names = list(space.names)
    has_target = target is not None and target in frame.collect_schema()
    lazy = frame.select([e.code for e in encoders] + ([_answer(target, classes, frame)] if has_target else []))  # type: ignore[arg-type]
    packed = space.size < 2**62
    if packed:
        strides = [math.prod(space.shape[i + 1 :]) for i in range(len(space))]
        key = reduce(lambda a, b: a + b, [pl.col(n).cast(pl.Int64) * s for n, s in zip(names, strides, strict=True)])
        lazy = lazy.select(key.alias(" key"), *([" y"] if has_target else []))
    keys = [" key"] if packed else names
    if not has_target and packed:
        distinct, counts = _count_keys(collect(lazy)[" key"].to_numpy())
        return Table(space, _unpack(distinct, space), counts, dropped)
    plan = [pl.len().alias(" n")]
    if has_target and classes is None:
        y = pl.col(" y")
        plan += [y.count().alias(" count"), y.mean().alias(" mean"), ((y - y.mean()) ** 2).sum().alias(" spread")]
    elif has_target:
        plan += [(pl.col(" y") == i).sum().alias(f" c{i}") for i in range(len(classes or ()))]
    grouped = collect(lazy.group_by(keys).agg(plan)).sort(keys)
    codes = _unpack(grouped[" key"].to_numpy(), space) if packed else grouped.select(names).to_numpy()
    counts = grouped[" n"].to_numpy().astype(np.int64)
    return Table(space, codes, counts, dropped, _target(target, classes, grouped) if has_target else None)  # type: ignore[arg-type]


def _answer(target: str, classes: tuple[str, ...] | None, frame: pl.LazyFrame) -> pl.Expr:
    column = pl.col(target)
    if frame.collect_schema()[target].is_float():
        column = column.fill_nan(None)
    if classes is None:
        return column.cast(pl.Float64).alias(" y")
    return (
        column.cast(pl.String)
        .replace_strict(list(classes), list(range(len(classes))), default=None, return_dtype=pl.Int32)
        .alias(" y")
    )


def _target(name: str, classes: tuple[str, ...] | None, grouped: pl.DataFrame) -> Target:
    if classes is None:
        count = grouped[" count"].to_numpy().astype(np.int64)
        return Target(
            name, None, count, grouped[" mean"].fill_null(0.0).to_numpy(), grouped[" spread"].fill_null(0.0).to_numpy()
        )
    shares = grouped.select([f" c{i}" for i in range(len(classes))]).to_numpy().astype(np.float64)
    count = shares.sum(axis=1)
    return Target(name, classes, count.astype(np.int64), shares / np.maximum(count, 1)[:, None], np.zeros(len(count)))


def _count_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ordered = np.sort(keys)
    starts = (
        np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(ordered) else np.zeros(0, np.int64)
    )
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def _unpack(keys: NDArray[np.int64], space: FactorSpace) -> Codes:
    """Codes in the smallest whole-number type that holds every level."""
    kind = np.uint8 if max(space.shape) <= 2**8 else np.uint16 if max(space.shape) <= 2**16 else np.uint32
    codes = np.empty((len(keys), len(space)), dtype=kind)
    left = keys
    for k in range(len(space) - 1, -1, -1):
        left, codes[:, k] = np.divmod(left, space.shape[k])
    return codes


__all__ = ["Table", "Target", "read_tables"]
