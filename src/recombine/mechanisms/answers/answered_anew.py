"""Is one combination answered one way on training rows and another way on test rows?

No function of the factors does that. Levels that were numbered anew on test rows do, and so do predictions of two
models: both look like overfitting in errors, and are none. It is told by rows alone: all rows of a combination get one
answer among training rows, one among test rows, and the two differ, though training's would have been better. A learner
that reads other columns answers rows of one combination differently within each part as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

FEWEST_AGAIN = 10
"""Rows beyond the first of their combination, in each part, that have to be answered as the first was."""
FEWEST, CLEAR = 3, 0.1
"""Seen combinations with rows in both parts that have to be answered in two ways, and which share of them, …"""
NEAR, EXACT = 0.05, 1e-6
"""… by how much of the spread of answers, and within which share of it two answers are one."""
RARELY = 0.001
CLEARLY = 2.0
"""Standard errors by which training's answers have to be better on the same test rows."""


def answered_anew(
    y: Any, p: Any, test: NDArray[np.bool_], cell: Any, levels: NDArray[Any], classes: bool
) -> tuple[int, int]:
    """How many seen combinations are answered in two ways, and of how many; none where that may be anything else, as
    where all are of one level: that is told of the level. ``y``, ``p``: numbers, or classes by their number;
    ``levels``: of each row, one column per factor."""
    wide = float(np.std(p))
    rows = pl.DataFrame({"y": y, "p": p, "test": test, "cell": cell})
    said = pl.col("p")
    each = rows.group_by("cell", "test").agg(n=pl.len(), p=said.first(), off=said.max() - said.min())
    again = [int((part["n"] - 1).sum()) for part in (each.filter("test"), each.filter(~pl.col("test")))]
    if min(again) < FEWEST_AGAIN or not wide > 0 or (each["off"].to_numpy() > EXACT * wide).any():
        return 0, 0
    both = each.filter("test").join(each.filter(~pl.col("test")), on="cell", suffix="_known")
    apart = (both["p"] - both["p_known"]).abs() > (0 if classes else NEAR * wide)
    two, of = int(apart.sum()), len(both)
    if two < max(FEWEST, CLEAR * of) or (1 - two / of) ** min(again) > RARELY:
        return 0, 0
    there = levels[np.isin(np.asarray(cell), both.filter(apart)["cell"].to_numpy())]
    if (there == there[0]).all(axis=0).any():
        return 0, 0
    new = rows.filter("test").join(both.filter(apart).select("cell", "p_known"), on="cell")
    cost = [(pl.col(name) != pl.col("y")).cast(pl.Float64) if classes else (pl.col(name) - pl.col("y")) ** 2
            for name in ("p", "p_known")]  # fmt: skip
    more = new.group_by("cell").agg(more=(cost[0] - cost[1]).mean())["more"].to_numpy()
    doubt = float(more.std(ddof=1)) / np.sqrt(len(more)) if len(more) > 1 else np.inf
    return (two, of) if float(more.mean()) > CLEARLY * doubt else (0, 0)
