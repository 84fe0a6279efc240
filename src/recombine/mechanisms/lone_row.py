"""One row that makes most of an error: a prediction that ran away, or an answer that slipped.

    its share of the squared error ≥ HALF,   its error ≥ FAR × the median of the others',   ≥ TIMES × the next largest

Means and their intervals are of that row then, whatever the verdict, and no further row would help.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from recombine.mechanisms.columns import Columns
from recombine.mechanisms.misplaced import MOST_ROWS
from recombine.mechanisms.names import brief
from recombine.support.scan import collect

FEWEST = 8
HALF, FAR, TIMES = 0.5, 20.0, 4.0
"""Of 5,000 groups of 8 to 400 normal errors none had such a row, of errors with long tails (t) 2 % with three degrees
of freedom and 6 % with two: it is said of what is there, and tests nothing."""


def lone_rows(
    frame: pl.LazyFrame, columns: Columns, factors: Sequence[str], split: tuple[str, str] | None
) -> tuple[str, ...]:
    """A sentence for training rows, test rows of seen combinations and rows of unseen ones that have such a row."""
    if columns.kind == "class" or collect(frame.select(pl.len()))[0, 0] > MOST_ROWS:
        return ()
    test = pl.lit(False) if split is None else pl.col(split[0]).cast(pl.String) == split[1]
    cell = pl.struct(factors)
    rows = collect(frame.with_row_index("row ", 1).select(
        "row ", *factors, y=pl.col(columns.target), p=pl.col(columns.prediction), test=test,
        seen=(~test).any().over(cell),
    ).drop_nulls(["y", "p", "test"]))  # fmt: skip
    told, seen = list[str](), pl.col("seen")
    groups = {"training rows": ~pl.col("test"), "test rows of seen combinations": pl.col("test") & seen,
              "rows of unseen combinations": ~seen} if split else {"rows": pl.lit(True)}  # fmt: skip
    for where, here in groups.items():
        group = rows.filter(here)
        error = np.abs(group["y"].to_numpy().astype(float) - group["p"].to_numpy().astype(float))
        if len(error) >= FEWEST and np.isfinite(error).all() and (share := _share(error)):
            one = group.row(int(error.argmax()), named=True)
            at = ", ".join(f"{brief(name)} = {brief(one[name])}" for name in factors)
            found = f"row {one['row ']} ({at}), where {one['p']:.4g} is given and {one['y']:.4g} is right"
            first = f"One of the {len(error):,} {where} makes {share:.0%} of their squared error: {found}."
            told.append(f"{first} Look at it first, and measure again without it.")
    return tuple(told)


def _share(error: np.ndarray) -> float:
    """Of the largest; 0 where it does not stand alone."""
    order = np.sort(error)
    share = float(order[-1] ** 2 / max(float(order @ order), 1e-300))
    alone = order[-1] >= max(FAR * float(np.median(order[:-1])), TIMES * order[-2]) and order[-1] > 0
    return share if alone and share >= HALF else 0.0
