"""One row, or a few, that make most of an error: predictions that ran away, or answers that slipped.

    their share of the squared error ≥ HALF,   the least of them ≥ FAR × the median of the others',   ≥ TIMES × the next

Means and their intervals are of these rows then, whatever the verdict, and no further row would help. Several are told
only among many, each of another combination: rows of one combination that err together are no slips. Nor is an event
because it is rare: where most answers are one and the same, an error counts that is far larger than events are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recombine.mechanisms.answers.columns import Columns
from recombine.mechanisms.answers.misplaced import MOST_ROWS
from recombine.mechanisms.answers.names import brief
from recombine.statistics import FloatArray
from recombine.support.scan import collect

ROW = "row "
"""The column with the numbers of rows as they stand in the table, some of which may have been left out."""
FEWEST = 8
COUNTS = {2: "Two", 3: "Three", 4: "Four", 5: "Five"}
MOST, AMONG = 5, 20
"""Rows that are named at most, and how many rows there have to be for each of several."""
HALF, FAR, TIMES = 0.5, 20.0, 3.0
"""Of 5,000 groups of 8 to 400 normal errors none had such a row, of errors with long tails (t) 2 % with three degrees
of freedom and 9 % with two: it is said of what is there, and tests nothing."""
TIMES_EVENTS = 4.0
"""How far it has to be beyond what events are, where most answers are one and the same."""


def lone_rows(
    frame: pl.LazyFrame, columns: Columns, factors: Sequence[str], split: tuple[str, str] | None
) -> tuple[str, ...]:
    """A sentence for training rows, test rows of seen combinations and rows of unseen ones that have such a row."""
    if columns.kind == "class" or collect(frame.select(pl.len()))[0, 0] > MOST_ROWS:
        return ()
    test = pl.lit(False) if split is None else pl.col(split[0]).cast(pl.String) == split[1]
    cell = pl.struct(factors)
    frame = frame if ROW in frame.collect_schema() else frame.with_row_index(ROW, 1)
    rows = collect(frame.select(
        ROW, *factors, y=pl.col(columns.target), p=pl.col(columns.prediction), test=test,
        seen=(~test).any().over(cell),
    ).drop_nulls(["y", "p", "test"]))  # fmt: skip
    told, seen, least = list[str](), pl.col("seen"), TIMES_EVENTS * _events(rows["y"].to_numpy().astype(float))
    groups = {"training rows": ~pl.col("test"), "test rows of seen combinations": pl.col("test") & seen,
              "rows of unseen combinations": ~seen} if split else {"rows": pl.lit(True)}  # fmt: skip
    for where, here in groups.items():
        group = rows.filter(here)
        error = np.abs(group["y"].to_numpy().astype(float) - group["p"].to_numpy().astype(float))
        if len(error) < FEWEST or not np.isfinite(error).all():
            continue
        few = _few(error, group.select(factors), least)
        if not len(few):
            continue
        one, *others = (group.row(int(i), named=True) for i in few)
        at = ", ".join(f"{brief(name)} = {brief(one[name])}" for name in factors)
        found = [f"row {one[ROW]} ({at}), where {one['p']:.4g} is given and {one['y']:.4g} is right"]
        found += [f"row {other[ROW]}" for other in others]
        part = float(np.square(error[few]).sum() / np.square(error).sum())
        which, makes, them = ("One", "makes", "it") if len(few) == 1 else (COUNTS[len(few)], "make", "them")
        first = f"{which} of the {len(error):,} {where} {makes} {part:.0%} of their squared error: {'; '.join(found)}."
        told.append(f"{first} Look at {them} first, and measure again without {them}.")
    return tuple(told)


def _events(answers: FloatArray) -> float:
    """How far from the usual answer others lie, all but one that may have slipped; 0 where none is that of most."""
    values, times = np.unique(answers, return_counts=True)
    if not len(answers) or 2 * times.max() < len(answers):
        return 0.0
    away = np.sort(np.abs(answers - values[times.argmax()]))
    return float(away[-2] or away[-1]) if len(away) > 1 else 0.0


def _few(error: FloatArray, cells: pl.DataFrame, least: float) -> NDArray[np.int64]:
    """The places of the few largest, the largest first; none where these do not stand apart, or are below ``least``."""
    order = np.argsort(-error, kind="stable")
    size, whole = error[order], float(error @ error)
    for k in range(1, 1 + max(1, min(MOST, len(error) // AMONG))):
        rest = size[k:]
        apart = size[k - 1] > 0 and size[k - 1] >= max(FAR * float(np.median(rest)), TIMES * rest[0], least)
        if apart and size[:k] @ size[:k] >= HALF * whole and cells[order[:k]].n_unique() == k:
            return order[:k]
    return order[:0]
