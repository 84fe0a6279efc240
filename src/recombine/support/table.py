"""Ordinary tables as supports: chosen columns become factors, rows become distinct combinations with their counts.

Frames (polars, pandas), arrays, dictionaries, CSV and Parquet are all scanned lazily; what is kept in memory is one
small whole number a factor and row at most, and after grouping one row per distinct combination.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import reduce
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.errors import InputError, unknown
from recombine.space import Codes, Factor, FactorSpace, Level
from recombine.support.answers import TARGET_CLASSES, Answers, Target, find_answers, piled_up
from recombine.support.copies import without_copies
from recombine.support.encode import Encoder, binned, encoder, kinds_of
from recombine.support.left_out import left_out
from recombine.support.missing import as_written, missing_words, nothing_in, spelled
from recombine.support.numerals import DASHES, read_numbers
from recombine.support.one_target import refuse_several
from recombine.support.scan import Said, collect, scan
from recombine.support.split import cut, has_rows, without_others
from recombine.support.support import Explicit
from recombine.support.weights import Weighing, Weights, find_weights

Missing = Literal["error", "drop", "level"]
MISSING = ("error", "drop", "level")
NOT_TOLD = "(not told)"
"""The level of rows of a table that lacks a column which it need not have."""
FEWEST_WIDE = 3
"""Columns that may be the levels of one factor."""


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct combinations of a table, how often each occurs, and what they answered."""

    space: FactorSpace
    codes: Codes
    counts: NDArray[np.int64]
    dropped: int = 0
    """Rows left out because a factor was missing."""
    target: Target | None = None
    notes: tuple[str, ...] = ()
    """What is worth saying about how the tables were read, for all that were read together; and about these answers."""
    weights: Weights | None = None
    """What training rows weigh, where a column says so."""
    weight: NDArray[np.float64] | None = None
    """What the rows of each combination weigh together, with an answer or without, NaN where none of them says."""
    excluded: tuple[Mapping[str, Level], ...] = ()
    """(Partial) combinations whose rows were left out."""

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
    numbers: Collection[str] = (),
    missing: Missing = "error",
    merge_alike: bool | None = None,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    once: bool = False,
    beside: Collection[str] = (),
    weights: str | None = None,
    exclude: Sequence[Mapping[str, Level]] = (),
) -> list[Table]:
    """Read tables over one common space of levels; those of ``numbers`` are numbers, however many, and with
    ``merge_alike`` texts that differ only in spaces or capitals are one. ``split=(column, value)`` cuts a single table
    in two: the rows that were trained on, then those where the column has this value (`support/split.py`). With
    ``once`` copies of rows of the first count once (`support/copies.py`). Factors ``beside`` the others only the first
    table must have: rows of another without them, and rows that ask, have a level of their own there. ``weights`` names
    the column of what rows weigh, which of the tables only the first must have. Rows that have all levels of one of
    ``exclude`` are left out."""
    return read_factors(
        tables, factors, target=target, split=split, bins=bins, numbers=numbers, missing=missing,
        merge_alike=merge_alike, max_rows=max_rows, max_bytes=max_bytes, once=once, beside=beside, weights=weights,
        exclude=exclude,
    ).tables(target, target_kind, weights)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Coded:
    """Tables whose factors were read over one common space of levels, and of which any column may be the answers."""

    frames: list[pl.LazyFrame]
    dropped: list[int]
    encoders: list[Encoder]
    excluded: tuple[Mapping[str, Level], ...]
    said: Said

    def tables(
        self, target: str | None, kind: Literal["number", "class"] | None = None, weights: str | None = None
    ) -> list[Table]:
        """The combinations of each table with what they answered."""
        said = replace(self.said, notes=[*self.said.notes], problems=[*self.said.problems])
        told, answers = [f for f in self.frames if target and target in f.collect_schema()], None
        with said.collecting():
            answers = find_answers(told, target, kind, said) if target else None
        weighing = None
        with said.collecting():
            weighing = find_weights(self.frames, weights, answers, said) if weights and answers is not None else None
        classes = target is not None and answers is not None and answers.classes is not None
        if classes and (nothing := spelled(said.written, str(target))):
            texts = ", ".join(f"{text!r} in {rows:,} row{'s' * (rows > 1)}" for text, rows in nothing.items())
            fix = "if that is a class, write it in another way"
            said.notes.append(f"What is no answer in {target!r} but a blank: {texts}; {fix}.")
        said.refuse()
        space = FactorSpace(tuple(Factor(e.name, e.levels) for e in self.encoders))
        notes = tuple(dict.fromkeys(said.notes))
        each = zip(self.frames, self.dropped, strict=True)
        read = [_group(space, self.encoders, frame, lost, answers, notes, weighing) for frame, lost in each]
        return [replace(table, excluded=self.excluded) for table in read] if self.excluded else read


def read_factors(
    tables: Sequence[Any],
    factors: Sequence[str],
    *,
    target: str | None = None,
    split: tuple[str, str] | None = None,
    bins: Mapping[str, int] | None = None,
    numbers: Collection[str] = (),
    missing: Missing = "error",
    merge_alike: bool | None = None,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    once: bool = False,
    beside: Collection[str] = (),
    weights: str | None = None,
    exclude: Sequence[Mapping[str, Level]] = (),
) -> Coded:
    """The factors alone, as `read_tables` reads them: where several columns are read as answers to the same
    combinations, most of the work is done once. Bins are those of rows with an answer in ``target``."""
    bins = dict(bins or {})
    names = factor_names(factors, target)
    told_once = [name for name in (target, weights) if name]
    used = {*names, *bins, *told_once, *([split[0]] if split else [])}
    whats = [_called("the test table" if i else "the table", t) for i, t in enumerate(tables)]
    said = Said(merge_alike=merge_alike)
    frames = [scan(t, what, max_bytes, max_rows, used, said) for t, what in zip(tables, whats, strict=False)]
    untold = list[str]()
    for i, frame in enumerate(frames):
        schema = frame.collect_schema()
        refuse_several(target if i == 0 else None, schema.names())
        lacking = [n for n in names if i and n in beside and n not in (*schema, *numbers)]
        for name in (*names, *bins, *(told_once if i == 0 else []), *([split[0]] if split else [])):
            if name not in schema and name not in lacking:
                where = f"in {whats[i]}: " if len(tables) > 1 else ""
                wide = _melted(names, target, schema.names()) if not i else ""
                raise InputError(wide or f"{where}{unknown('column', name, schema.names())}")
        _guard_rows(frame, max_rows, whats[i])
        untold += [n for n in lacking if n in bins]
        kinds = frames[0].collect_schema()
        blank = {n: pl.lit(None, kinds[n]) if n in bins else pl.lit(NOT_TOLD) for n in lacking}
        frames[i] = frame.with_columns(value.alias(n) for n, value in blank.items())
    said.tables = [*frames]
    before = frames[0]
    frames, gone, without = left_out(frames, exclude, [n for n in names if n not in bins])
    said.notes += without
    if split:
        if gone and has_rows(before, *split) and not has_rows(frames[0], *split):
            raise InputError(f"every row with {split[0]} = {split[1]!r} is excluded; leave out fewer (--exclude).")
        frames[0], other = without_others(frames[0], *split)
        said.notes += other
    frames = [_asked_anywhere(f, [n for n in beside if n not in (*bins, *numbers)], target) for f in frames]
    if target and once:
        frames[0], copied = without_copies(
            frames[0], lambda: left_out([scan(tables[0], whats[0], max_bytes, max_rows)], gone, names)[0][0],
            sorted(used), target,
        )  # fmt: skip
        said.notes += copied
    if split:
        frames = cut(frames[0], *split)
    frames, dropped, encoders = encode(frames, names, bins, missing, said, numbers, target, untold)
    return Coded(frames, dropped, encoders, tuple(gone), said)


def _asked_anywhere(frame: pl.LazyFrame, beside: Sequence[str], target: str | None) -> pl.LazyFrame:
    """Rows that ask need no day or plate: where they leave it blank, they have a level of their own there."""
    if target is None or target not in frame.collect_schema():
        return frame
    blank = {name: pl.col(name).is_null() & pl.col(target).is_null() for name in beside}
    found = collect(frame.select(is_blank.any().alias(name) for name, is_blank in blank.items())) if blank else None
    told = [name for name in blank if found is not None and found[name].item()]
    return (
        frame.with_columns(
            pl.when(blank[n]).then(pl.lit(NOT_TOLD)).otherwise(pl.col(n).cast(pl.String)).alias(n) for n in told
        )
        if told
        else frame
    )


def encode(
    frames: list[pl.LazyFrame],
    names: list[str],
    bins: Mapping[str, int],
    missing: Missing,
    said: Said,
    numbers: Collection[str] = (),
    target: str | None = None,
    untold: Collection[str] = (),
) -> tuple[list[pl.LazyFrame], list[int], list[Encoder]]:
    """The frames without blanks, how many rows each lost, and how each factor's column becomes codes. Bins are those of
    the answered rows of the first frame; columns of bins that a later frame lacks (``untold``) may be blank there."""
    if missing not in MISSING:
        raise unknown("way to treat missing values", missing, MISSING)
    for name, count in bins.items():
        if name not in names:
            raise unknown("factor to bin", name, names)
        if not isinstance(count, int) or count < 2:
            raise InputError(f"bins for {name!r} must be a whole number of at least 2, got {count!r}.")
    frames, distinct = _without_blanks(frames, names, said)
    whole = all(name in distinct and not distinct[name].null_count() for name in names)
    told = [names if not i else [n for n in names if n not in untold] for i in range(len(frames))]
    if missing == "error" and not whole:
        for some, own in ((frames[:1], names), (frames[1:], told[-1])) if untold else ((frames, names),):
            with said.collecting():
                _refuse_missing(some, own, said)
    if not whole:
        said.notes += missing_words(frames, told[-1], missing, said.written)
    kept = [
        (frame, 0) if whole else _treat_missing(frame, own, missing, len(frames) > 1)
        for frame, own in zip(frames, told, strict=True)
    ]
    frames = [frame for frame, _ in kept]
    both = next((name for name in numbers if name in bins), None)
    if both is not None:
        raise InputError(f"{both!r} is to be cut into bins and to be a number; give one of them.")
    if any(lost for _, lost in kept):
        distinct = {n: pl.concat([collect(f.select(pl.col(n).unique()))[n] for f in frames]).unique() for n in distinct}
    learnt = frames[0].filter(pl.col(target).is_not_null()) if target else frames[0]
    schemas = [frame.collect_schema() for frame in frames]
    kinds = {name: kinds_of(name, schemas) for name in names}
    encoders = []
    for name in names:
        with said.collecting():
            encoders.append(
                binned(
                    name, [learnt, *frames], bins[name], missing, distinct.get(name), said, NOT_TOLD * (name in untold)
                )
                if name in bins
                else encoder(name, frames, kinds[name], missing, distinct.get(name), said, name in numbers)
            )
    return frames, [lost for _, lost in kept], encoders


def _without_blanks(
    frames: list[pl.LazyFrame], names: list[str], said: Said
) -> tuple[list[pl.LazyFrame], dict[str, pl.Series]]:
    """Texts that mean nothing (spaces; a dash among numbers) become missing; and the distinct values of each column
    that holds texts, or whole numbers, in every frame."""
    schemas = [f.collect_schema() for f in frames]
    kinds = {n: {schema[n] for schema in schemas} for n in names}
    names = [n for n, held in kinds.items() if len(held) == 1 and all(k == pl.String or k.is_integer() for k in held)]
    if not names:
        return frames, {}
    lists = [collect(f.select(pl.col(n).unique().implode() for n in names)) for f in frames]
    distinct, blank = {}, {}
    for name in names:
        values = distinct[name] = pl.concat([found[name][0] for found in lists]).unique()
        if values.dtype != pl.String:
            continue
        told = values.drop_nulls().to_list()
        nothing = [t for t in told if not t.strip()]
        if any(t.strip() in DASHES for t in told):
            numbers = read_numbers(name, told, said.commas_are_decimal)
            if numbers is not None:
                said.notes += [n for n in numbers.notes if n.endswith("missing.")]
                nothing = [t for t in told if t not in numbers.values]
        if nothing:
            blank[name] = nothing
            distinct[name] = values.filter(~values.is_in(nothing)).extend_constant(None, 1)
    changes = [pl.when(~pl.col(n).is_in(gone)).then(pl.col(n)).alias(n) for n, gone in blank.items()]
    return [f.with_columns(changes) for f in frames], distinct


def factor_names(factors: Sequence[str], target: str | None = None) -> list[str]:
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


def _called(what: str, table: Any) -> str:
    """What a table is called, with its file where it is one."""
    return f"{what} {str(table)!r}" if isinstance(table, (str, Path)) else what


def _melted(names: list[str], target: str | None, columns: list[str]) -> str:
    """What to do where the table seems to have one column for each level of a factor; nothing where it does not: one
    factor and the target are no columns, three others or more are, and none is nearly called as the target is."""
    missing = [n for n in names if n not in columns]
    others = [c for c in columns if c not in names]
    if target is None or target in columns or len(missing) != 1 or len(others) < FEWEST_WIDE:
        return ""
    if get_close_matches(target, others, n=1, cutoff=0.5):
        return ""
    (factor,), index = missing, [n for n in names if n in columns]
    some = ", ".join(others[:FEWEST_WIDE]) + (", …" if len(others) > FEWEST_WIDE else "")
    return (
        f"there is no column {factor!r} and none {target!r}; if each of {some} is one {factor} and holds its "
        f"{target}, make rows of them first: frame.melt({index!r}, var_name={factor!r}, value_name={target!r}) in "
        f"pandas, frame.unpivot(index={index!r}, variable_name={factor!r}, value_name={target!r}) in polars."
    )


def _guard_rows(frame: pl.LazyFrame, max_rows: int | None, what: str) -> None:
    rows = int(collect(frame.select(pl.len()))[0, 0])
    if not rows:
        raise InputError(f"{what} has a header but no rows.")
    if max_rows is not None and rows > max_rows:
        raise InputError(f"{what} has {rows:,} rows, more than the {max_rows:,} allowed; raise max_rows (--max-rows).")


def _treat_missing(frame: pl.LazyFrame, names: list[str], missing: Missing, parts: bool) -> tuple[pl.LazyFrame, int]:
    """The frame with what is missing left out or as it is, and how many rows it lost; ``parts``: whether there are
    others beside it."""
    schema = frame.collect_schema()
    floats = [n for n in names if schema[n].is_float()]
    frame = frame.with_columns([pl.col(n).fill_nan(None) for n in floats])
    if missing == "level":
        return frame, 0
    if missing == "error":  # whatever is missing has been refused
        return frame, 0
    kept = frame.drop_nulls(names)
    rows, left = (int(collect(f.select(pl.len()))[0, 0]) for f in (frame, kept))
    if not left:
        where = "in one part (what was trained on, or what is asked about) " if parts else ""
        raise InputError(f"{where}every row has a missing factor, so dropping them leaves nothing.")
    return kept, rows - left


def _refuse_missing(frames: list[pl.LazyFrame], names: list[str], said: Said) -> None:
    """An error for factors with missing values, all of them in one sentence."""
    schema = frames[0].collect_schema()
    blank = {n: nothing_in(schema, n) for n in names}
    lacking = dict.fromkeys(names, 0)
    for frame in frames:
        found = collect(frame.select(blank[n].sum().alias(n) for n in names))
        lacking = {n: lacking[n] + int(found[n][0]) for n in names}
    told = []
    for name, count in lacking.items():
        if count:
            how = as_written(said.written, name, count)
            where = said.places(name, blank[name])
            told.append(
                f"column {name!r} has {count:,} missing value{'s' if count > 1 else ''}{f', {how}' * bool(how)}{where}"
            )
    if told:
        raise InputError(
            f"{', '.join(told)}; say what to do: missing='drop' leaves those rows out, missing='level' makes missing a "
            "level of its own (--missing drop | level)."
        )


def _group(
    space: FactorSpace,
    encoders: list[Encoder],
    frame: pl.LazyFrame,
    dropped: int,
    answers: Answers | None,
    notes: tuple[str, ...],
    weighing: Weighing | None = None,
) -> Table:
    names, held = list(space.names), frame.collect_schema()
    told = answers if answers is not None and answers.name in held else None
    weighed = None if weighing is None or weighing.found.even else weighing
    more = {" y": told.column} if told else {}
    if weighed is not None:
        more[" w"] = weighed.column if weighed.found.name in held else pl.lit(np.nan).alias(" w")
    lazy = frame.select([e.code for e in encoders] + [*more.values()])
    packed = space.size < 2**62
    if packed:
        strides = [math.prod(space.shape[i + 1 :]) for i in range(len(space))]
        key = reduce(lambda a, b: a + b, [pl.col(n).cast(pl.Int64) * s for n, s in zip(names, strides, strict=True)])
        lazy = lazy.select(key.alias(" key"), *more)
    keys = [" key"] if packed else names
    rows = collect(lazy.sort(keys, maintain_order=True))
    first = np.concatenate([[True], reduce(np.bitwise_or, [np.diff(rows[n].to_numpy()) != 0 for n in keys])])
    starts = np.flatnonzero(first[: len(rows)])
    codes = _unpack(rows[" key"].to_numpy()[starts], space) if packed else rows.select(names).to_numpy()[starts]
    counts = np.diff(np.append(starts, len(rows)))
    y = rows[" y"].cast(pl.Float64).to_numpy() if told else np.zeros(0)
    w = None if weighed is None else weighed.of(rows[" w"].cast(pl.Float64).to_numpy())
    target = told.target(y, starts, w) if told else None
    if target is not None and weighing is not None:
        target = replace(target, typical=weighing.found.typical)
    notes = (*notes, *piled_up(told.name, y, told.limits)) if told and told.classes is None else notes
    found = None if weighing is None else weighing.found
    return Table(space, codes, counts, dropped, target, notes, found, None if w is None else _together(w, starts))


def _together(w: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """What rows weigh together that lie from each of ``starts`` on, NaN where none of them says."""
    total = np.add.reduceat(np.nan_to_num(w), starts)
    return np.where(total > 0, total, np.nan)


def _unpack(keys: NDArray[np.int64], space: FactorSpace) -> Codes:
    """Codes in the smallest whole-number type that holds every level."""
    kind = np.uint8 if max(space.shape) <= 2**8 else np.uint16 if max(space.shape) <= 2**16 else np.uint32
    codes = np.empty((len(keys), len(space)), dtype=kind)
    left = keys
    for k in range(len(space) - 1, -1, -1):
        left, codes[:, k] = np.divmod(left, space.shape[k])
    return codes


__all__ = ["TARGET_CLASSES", "Coded", "Table", "Target", "read_factors", "read_tables"]
