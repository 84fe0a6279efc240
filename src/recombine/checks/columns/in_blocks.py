"""Factors whose levels never meet within a day, a plate or a batch: their difference may be that of the column.

Levels and values are nodes, and each row an edge from its level to its value. Levels of two pieces of this graph share
no value, directly or by others, and with a shift of each value exactly their difference cannot be told (as in
`components`). By chance a table falls into as many pieces only where values hardly recur: the column is dealt anew over
the rows, and must not in any of the deals. Not asked about are columns that measure or name something (`measured`).

Times have an order besides. What a steady drift over them would add is told from a factor by 1 − R² of it, where R² is
the share of it that goes with the factor's levels: effects then are 1 / (1 − R²) times as uncertain (their variance
inflation). Levels one after another, whether or not the last rows of one share a day with the first of the next, leave
little: 1 / L² of L levels with as many rows each. Of many rows that is enough: nothing is said where the steepest drift
in its interval, by least squares beside all factors, would move levels by little beside what they differ by. A drift
from block to block is taken off with the blocks that are named; only what is within them counts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl
from scipy.linalg import orth
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import fdtrc, stdtrit

from recombine.checks.as_read import per_cent
from recombine.checks.columns.bystanders import MOST_COLUMNS
from recombine.checks.columns.measured import as_numbers, broken, names_what, numbers_runs, words_in
from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.headed import Headed
from recombine.checks.rules.effects import LEAST_FREEDOM
from recombine.errors import InputError
from recombine.space import Level, quoted
from recombine.support import times
from recombine.support.scan import collect, scan

MOST_ROWS, DEALS = 20_000, 299
BY_CHANCE = 0.02
"""Chance of an order of combinations that goes with the levels as much."""
DRIFTING = 2 / 3
"""Share of a steady drift that looks like a factor from which it is said; of two levels, one after the other, it is
3 / 4."""
BESIDE = 0.25
"""Share of what levels differ by that the steepest drift moves them by, at most, where nothing is said."""
LARGEST = 5_000_000
"""Rows × effects up to which that is asked."""
SMALL = 2**16
"""Levels² × values up to which who meets whom is multiplied out: to make a graph of so few takes several times as long,
and it is asked of many deals."""
MOST_NAMED = 3
ANSWER = " answer"
RUNS = {"run", "runs", "order", "sequence", "seq", "trial"}
"""Words in the name of a column of whole numbers that says in which order rows were run."""
LOOKED_AT = 20
"""Texts that tell whether a column holds times."""


def in_blocks(
    table: Any, factors: Sequence[str], used: Collection[str | None], target: str | None, merge_alike: bool | None,
    max_bytes: int | None, blocks: Sequence[str] = (),
) -> list[str]:  # fmt: skip
    """A sentence for each factor whose levels never meet within values of a column that is not ``used``, or follow one
    another in time; rows without an answer in ``target`` ask, on no day yet. ``blocks``: columns whose shifts are taken
    off."""
    frame = scan(table, max_bytes=max_bytes)
    frame = frame if target is None else frame.filter(pl.col(target).is_not_null())
    kinds = frame.collect_schema()
    others = [n for n, kind in kinds.items() if n not in {*factors, *used} and not kind.is_nested()]
    others = [n for n in others if kinds[n] != pl.Object][:MOST_COLUMNS]
    if not others or len(factors) < 2:
        return []
    told = [] if target is None else [pl.col(target).cast(pl.Float64, strict=False).fill_null(np.nan).alias(ANSWER)]
    rows = collect(frame.select(*factors, *others, *blocks, *told)).drop_nulls([*factors, *blocks])
    if merge_alike:
        texts = [n for n in factors if kinds[n] == pl.String]
        rows = rows.with_columns(pl.col(texts).str.strip_chars().str.to_lowercase())
    levels = {n: codes_of(rows[n]) for n in factors}
    cells = np.unique(np.stack([*levels.values()], axis=1), axis=0, return_inverse=True)[1].ravel()
    shifts, y = [codes_of(rows[n]) for n in blocks], rows[ANSWER].to_numpy() if told else None
    said = []
    for name in others:
        if rows[name].null_count():
            continue
        value, order = codes_of(rows[name]), times_of(name, rows[name])
        if any(describes(value, level) for level in levels.values()):  # of which `bystanders` tells
            order = None
        if order is not None:
            order = _within(order, shifts)
        drifts = {f: 0.0 if order is None else like_drift(level, order, cells) for f, level in levels.items()}
        for f, share in drifts.items():
            if share >= DRIFTING and y is not None and order is not None and told_small(levels, f, shifts, order, y):
                drifts[f] = 0.0
        said += [_drift(name, f, share) for f, share in drifts.items() if share >= DRIFTING]
        if broken(rows[name]) or names_what(name, value, cells):
            continue
        mixed = {f: level for f, level in levels.items() if drifts[f] < DRIFTING}
        said += [_words(name, f, rows[f], pieces(level, value)) for f, level in mixed.items() if apart(level, value)]
    return said


def pieces(level: Ints, value: Ints) -> Ints:
    """Of each level the piece of the graph that it is in."""
    many, values = int(level.max()) + 1, int(value.max()) + 1
    if many * many * values > SMALL:
        graph = coo_array((np.ones(len(level)), (level, many + value)), shape=(many + values,) * 2)
        return np.asarray(connected_components(graph, directed=False)[1][:many])
    met = np.zeros((many, values), dtype=np.float32)
    met[level, value] = 1
    linked = met @ met.T > 0
    while (further := linked.astype(np.float32) @ linked > 0).sum() > linked.sum():
        linked = further
    return np.asarray(np.unique(linked.argmax(axis=1), return_inverse=True)[1])


def apart(level: Ints, value: Ints) -> bool:
    """Whether levels lie in several pieces, a value of their own for all rows of each level aside (`bystanders`), and
    in no deal of the values in as many."""
    found = len(np.unique(pieces(level, value)))
    if found < 2 or describes(value, level):
        return False
    rng = np.random.default_rng(0)
    return all(len(np.unique(pieces(level, rng.permutation(value)))) < found for _ in range(DEALS))


def describes(value: Ints, level: Ints) -> bool:
    """Whether all rows of each level have one value."""
    return bool(len(np.unique(level * (int(value.max()) + 1) + value)) == level.max() + 1)


def like_drift(level: Ints, order: Floats, cell: Ints) -> float:
    """Share of a steady drift over this order that goes with the levels; 0 where it may be chance. Rows of a
    combination may well follow one another, so that of a combination the mean is one draw of chance."""
    first = np.unique(cell, return_index=True)[1]
    held, means = len(np.unique(level)), np.bincount(cell, order) / np.bincount(cell)
    if held < 2 or len(means) <= held or not np.ptp(order):
        return 0.0
    share, of_means = shared_by(level, order), shared_by(level[first], means)
    free = len(means) - held
    chance = fdtrc(held - 1, free, of_means / (held - 1) * free / max(1 - of_means, 1e-12))
    return share if chance < BY_CHANCE else 0.0


def _within(order: Floats, shifts: Sequence[Ints]) -> Floats:
    """The order less its mean in each block."""
    if not shifts:
        return order
    block = np.unique(np.stack([*shifts]), axis=1, return_inverse=True)[1].ravel()
    return np.asarray(order - (np.bincount(block, order) / np.bincount(block))[block])


def told_small(levels: Mapping[str, Ints], factor: str, shifts: Sequence[Ints], order: Floats, y: Floats) -> bool:
    """Whether the answers tell that no steady drift over this order moves levels of a factor by more than little beside
    what they differ by."""
    columns = [*levels.values(), *shifts]
    if len(y) * sum(int(c.max()) + 1 for c in columns) > LARGEST or not np.isfinite(y).all():
        return False
    basis = orth(np.hstack([np.eye(int(c.max()) + 1)[c] for c in columns]))
    alone, left = (v - basis @ (basis.T @ v) for v in (order, y))
    spare, free = float(alone @ alone), len(y) - basis.shape[1] - 1
    if free < LEAST_FREEDOM or spare <= 1e-9 * float(np.square(order - order.mean()).sum()):
        return False
    slope = float(alone @ left) / spare
    error = np.sqrt(float(np.square(left - slope * alone).sum()) / free / spare)
    steepest, level = abs(slope) + float(stdtrit(free, 0.975)) * error, levels[factor]
    return bool(steepest * _spread(level, order) <= BESIDE * _spread(level, y))


def _spread(level: Ints, values: Floats) -> float:
    """Standard deviation of the means of levels, over rows."""
    return math.sqrt(shared_by(level, values)) * float(values.std())


def shared_by(level: Ints, values: Floats) -> float:
    """R² of values by levels."""
    off = values - values.mean()
    between = float((np.bincount(level, off) ** 2 / np.maximum(np.bincount(level), 1)).sum())
    return between / max(float(off @ off), 1e-300)


def parted(column: str, factor: str, levels: Sequence[Level], piece: Ints) -> str:
    """Which levels share no value of a column."""
    names, found = [quoted(v) for v in levels], np.unique(piece)
    if len(found) < len(piece) and len(piece) <= 2 * MOST_NAMED:
        groups = [" and ".join(n for n, p in zip(names, piece, strict=True) if p == one) for one in found]
        which = f"of {factor}, {'; '.join(groups)}"
    else:
        which = f"levels of {factor} ({', '.join(names[:MOST_NAMED])}{', …' if len(names) > MOST_NAMED else ''})"
        which = which if len(found) == len(piece) else f"{len(found):,} groups of {which}"
    return f"{which} share no value of column {quoted(column)}"


def _words(column: str, factor: str, levels: pl.Series, piece: Ints) -> str:
    return (
        f"{parted(column, factor, [*levels.cast(pl.String).unique().sort()], piece)}: if that is a day, a plate or a "
        f"batch, what it does cannot be told from what {factor} does. Levels of {factor} together in one of them would "
        "tell."
    )


def _drift(column: str, factor: str, share: float) -> str:
    return Headed(
        f"by column {quoted(column)} rows of one {factor} follow those of another: {per_cent(share)} of what a steady "
        f"drift over it would add looks like {factor}, so a drift can hardly be told from what {factor} does. Runs in "
        "random order would tell.",
        f"All this supposes that nothing drifts over {quoted(column)}, which could hardly be told from {factor}.",
        steady=column,
    )


def codes_of(column: pl.Series) -> Ints:
    """Places of the values among all, as texts, sorted."""
    return np.asarray(column.cast(pl.String).rank("dense").to_numpy(), dtype=np.int64) - 1


def times_of(name: str, column: pl.Series) -> Floats | None:
    """The order of times; None where a column holds none: numbers may count rows as they were written down, sorted, but
    where their name says runs."""
    column = as_numbers(column)
    if column.dtype.is_temporal():
        return column.rank("dense").to_numpy().astype(np.float64)
    if column.dtype.is_numeric() and times.are_moments(name, column.to_list()):
        return column.rank("dense").to_numpy().astype(np.float64)
    if column.dtype.is_integer() and words_in(name) & RUNS and numbers_runs(values := column.to_numpy().astype(float)):
        return values
    if column.dtype == pl.String:
        with suppress(InputError):
            times.ranks(name, column.head(LOOKED_AT))
            return times.ranks(name, column).astype(np.float64)
    return None
