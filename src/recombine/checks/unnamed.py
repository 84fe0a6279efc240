"""A column that nobody named and that explains what the factors leave: a day, an operator, a temperature, a drift.

    F = (Σ over directions of the column that x leaves of their squares / their number) / (the rest / its freedom)

for each column whose values recur, a shift of each value, and for each of numbers or times, a line and a bend over its
ranks; on normal scores of what least squares leaves, which no single large error moves. Of a column only what the
factors do not tell counts, and all of it must be told apart from them: sin² of its principal angles with x is at least
`SEPARATE`. The smallest p-value is multiplied by the ways in which its column was tried, and by the columns tried.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.special import fdtrc, ndtri

from recombine.checks.bystanders import MOST_COLUMNS
from recombine.checks.curves import curves_of
from recombine.checks.effects import EXACT
from recombine.checks.expected import per_cent
from recombine.checks.identifiability import Identifiability
from recombine.checks.modular import Floats, Ints
from recombine.checks.rules import LEAST_FREEDOM, Scale
from recombine.errors import InputError
from recombine.space import FactorSpace, Level, quoted
from recombine.support import times
from recombine.support.numerals import read_numbers
from recombine.support.scan import collect, scan
from recombine.support.table import Table, read_tables

MOST_ROWS, MOST_LEVELS, LARGEST = 20_000, 200, 1_000_000
"""Rows, levels of a column, and rows × effects, up to which it is tried: it takes longer than all else in `check`."""
BY_CHANCE, MUCH = 0.03, 0.1
"""p-value, all columns counted, and the share of what is left from which one is named. (At 0.05 up to 6.8 % of planted
tables where nothing acts had a column named, as the test is not exact.)"""
SEPARATE = 0.1
FEWEST_VALUES = 6
"""Different numbers or times from which a line and a bend say it in clearly fewer words than a shift of each."""
BINS = 4
"""Parts that a number is cut into where its shifts are to be taken off."""
Kind = str
"""What a column may be besides levels: "number", "time", or neither, ""."""


@dataclass(frozen=True, eq=False)
class Beside:
    """A column as it is tried."""

    levels: Ints | None = None
    """The level of each row, where levels recur."""
    order: Floats | None = None
    """A number for each row that says what is more, where it is a number or a time."""

    def ways(self, root: Floats) -> list[Any]:
        """Directions, orthonormal where row i has the weight rootᵢ², the first of them (together) the constant."""
        found = list[Any]()
        if self.levels is not None:
            _, level = np.unique(self.levels, return_inverse=True)
            size = np.sqrt(np.bincount(level, root**2))
            found.append(coo_array((root / size[level], (level, np.arange(len(root))))).tocsr())
        if self.order is not None:
            _, at, many = np.unique(self.order, return_inverse=True, return_counts=True)
            place = ((np.cumsum(many) - many / 2) / len(root) * 2 - 1)[at]
            found.append(np.linalg.qr(np.stack([place**0, place, place**2], axis=1) * root[:, None])[0].T)
        return found


@dataclass(frozen=True)
class Explaining:
    """The column that explains most, by its place."""

    place: int
    share: float
    p_value: float
    tried: int
    """Columns tried."""
    lined: bool
    """Whether a line and a bend explain more than a shift of each value."""


def unnamed(
    table: Any, factors: Sequence[str], blocks: Sequence[str], order: int, scale: Scale | None, alone: bool, **how: Any
) -> list[str]:
    """A sentence on the column that explains most of what the factors leave, where that is no chance; ``alone``: of
    what is left of each combination by itself, where effects do not add up. ``how`` is what `read_tables` takes."""
    split = how.get("split")
    used = {*factors, *blocks, how["target"], *(split[:1] if split else ())}
    recurring, kinds = _others(table, used, how.get("max_bytes"))
    if how["target"] is None:
        return []
    for others in (dict.fromkeys([*recurring, *kinds]), dict.fromkeys(recurring)):
        if not others:
            return []
        numbers = {**(how.get("numbers") or {}), **{n: "linear" for n in others if kinds.get(n) == "number"}}
        how_here = {**how, "missing": "drop", "numbers": numbers}
        read = read_tables([table], [*factors, *blocks, *others], once=True, **how_here)[0]
        if read.target is None or not read.target.numeric:
            return []
        x = _effects(read, len(factors), len(blocks), order, alone, how.get("numbers") or {})
        if x is not None:  # else without the columns that keep rows of a combination apart
            break
    else:
        return []
    told, target = read.target.count > 0, read.target
    columns = [
        Beside(
            read.codes[told, k].astype(np.int64) if name in recurring else None,
            _ordered(name, kinds.get(name, ""), read.space[name].levels or ())[read.codes[told, k]]
            if name in kinds else None,
        )
        for k, name in enumerate(others, len(factors) + len(blocks))
    ]  # fmt: skip
    y = target.mean[told] if scale is None else scale.forth(target.mean[told])
    found = explaining(x, y, target.count[told], float(target.spread.sum()), columns)
    return [] if found is None else [_words([*others][found.place], found, kinds)]


def _words(name: str, found: Explaining, kinds: Mapping[str, Kind]) -> str:
    beside = f", corrected for the {found.tried} columns looked at" if found.tried > 1 else ""
    chance = f"p = {found.p_value:.1g}" if found.p_value >= 1e-4 else "p below 0.0001"
    first = f"column {quoted(name)}, which is not named, explains {per_cent(found.share)} of the scatter that the "
    first += f"factors leave{', by a line or a bend along it' if found.lined else ''} ({chance}{beside}): if it was "
    block = f"--block {shlex.quote(name)} (blocks={name!r})"
    if not found.lined:
        return (
            f"{first}there before the answers, as a day or an operator is, name it with {block}, and its shifts are "
            "taken off; or as a factor if its levels can be had again, and combinations with them are asked about and "
            "planned."
        )
    if kinds[name] == "time":
        return (
            f"{first}there before the answers, something drifts: write its day or week into a column of its own and "
            "name that with --block (blocks), and its shifts are taken off."
        )
    bins = f"--bins {shlex.quote(f'{name}={BINS}')} {block.replace('blocks', f'bins={{{name!r}: {BINS}}}, blocks')}"
    return (
        f"{first}there before the answers, as a temperature is, and not measured with them, {bins} takes its shifts "
        f"off in {BINS} steps; or name it as a factor with --numeric if it can be set, and answers are asked at its "
        "values."
    )


def _others(table: Any, used: Collection[str | None], max_bytes: int | None) -> tuple[list[str], dict[str, Kind]]:
    """The columns besides those used that have no gaps: those whose values recur, twice on average, and those that are
    numbers or times, of which there are more than a few."""
    frame = scan(table, max_bytes=max_bytes)
    held = frame.collect_schema()
    names = [n for n, kind in held.items() if n not in used and not kind.is_nested() and kind != pl.Object]
    rows = collect(frame.select(names[:MOST_COLUMNS])) if names else pl.DataFrame()
    levels = {n: rows[n].n_unique() for n in rows.columns if not rows[n].null_count()}
    kinds = {n: _kind(n, rows[n]) for n, many in levels.items() if many >= FEWEST_VALUES}
    recurring = [n for n, many in levels.items() if 2 <= many <= min(len(rows) // 2, MOST_LEVELS)]
    return recurring, {n: kind for n, kind in kinds.items() if kind}


def _kind(name: str, column: pl.Series) -> Kind:
    if column.dtype.is_temporal():
        return "time"
    if column.dtype.is_numeric():
        return "number" if column.is_finite().all() else ""
    with suppress(InputError):  # an infinite number, or texts that are no times
        texts = column.cast(pl.String).unique()
        numbers = read_numbers(name, texts.head(MOST_COLUMNS))
        if numbers is not None and len(numbers.values) == len(texts.head(MOST_COLUMNS)):
            return "number" if len((read_numbers(name, texts) or numbers).values) == len(texts) else ""
        times.ranks(name, texts.head(MOST_COLUMNS))
        times.ranks(name, texts)
        return "time"
    return ""


def _ordered(name: str, kind: Kind, levels: Sequence[Level]) -> Floats:
    """What is more, for each level."""
    if kind == "number":
        return np.array([float(v) for v in levels])
    return times.ranks(name, pl.Series([str(v) for v in levels])).astype(np.float64)


def _effects(read: Table, held: int, blocks: int, order: int, alone: bool, numbers: Mapping[str, str]) -> Floats | None:
    """What the factors (and named blocks) may add to each answer; None where it is too much to try."""
    assert read.target is not None
    codes = read.codes[read.target.count > 0].astype(np.int64)
    space = FactorSpace(read.space.factors[:held])
    cells, at = np.unique(codes[:, :held], axis=0, return_inverse=True)
    known = Identifiability(cells, space.shape, order, curves_of(space, codes, numbers))
    effects = len(cells) if alone else known.rows.rows(cells[:1]).shape[1]
    sizes = [len(f) for f in read.space.factors[held : held + blocks]]
    if len(codes) * (effects + sum(sizes)) > LARGEST:
        return None
    shifts = [np.eye(n)[codes[:, held + k]] for k, n in enumerate(sizes)]
    return np.hstack([(np.eye(len(cells)) if alone else known.rows.floats(cells))[at.ravel()], *shifts])


def explaining(x: Floats, y: Floats, count: Ints, within: float, columns: Sequence[Beside]) -> Explaining | None:
    """Which of the columns explains most of what x leaves of the answers, each the mean of ``count`` rows that differ
    by ``within`` in all. None where it may be chance, or is little."""
    root = np.sqrt(count)
    u, sizes, _ = np.linalg.svd(x * root[:, None], full_matrices=False)
    q = u[:, sizes > 1e-9 * sizes[0]]
    left = y * root - q @ (q.T @ (y * root))
    if float(left @ left) <= EXACT * float(np.square((y - np.average(y, weights=count)) * root).sum()):
        return None
    _, at, many = np.unique(left, return_inverse=True, return_counts=True)
    scores = ndtri((np.cumsum(many) - many / 2)[at] / len(left))
    scores -= q @ (q.T @ scores)
    whole, rows, found = float(left @ left) + within, int(count.sum()) - q.shape[1], list[tuple[float, Explaining]]()
    for place, column in enumerate(columns):
        tried = list[tuple[float, float, bool]]()
        for into in column.ways(root):
            more = into.shape[0] - 1
            free = len(left) - q.shape[1] - more
            apart, axes = np.linalg.eigh(np.eye(more + 1) - (into @ q) @ (into @ q).T)
            if not more or free < LEAST_FREEDOM or apart[1] < SEPARATE:
                continue
            own, scored = (float(((axes[:, 1:].T @ (into @ e)) ** 2 / apart[1:]).sum()) for e in (left, scores))
            rest = max(float(scores @ scores) - scored, 1e-300)
            p_value = float(fdtrc(more, free, scored / more * free / rest))
            tried.append((p_value, 1 - (whole - own) / (rows - more) / (whole / rows), isinstance(into, np.ndarray)))
        if tried:
            p_value, share, lined = min(tried)
            found.append((p_value * len(tried), Explaining(place, share, p_value * len(tried), 0, lined)))
    if not found:
        return None
    p_value, best = min(found, key=lambda one: one[0])
    best = Explaining(best.place, best.share, p_value * len(found), len(found), best.lined)
    return best if best.p_value < BY_CHANCE and best.share >= MUCH else None
