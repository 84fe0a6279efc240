"""Rows that are in a table twice because it was exported twice: they are one measurement and count once.

Whole rows, in all columns of the table, that repeat are copies where measuring again cannot have given them:

- every answered row occurs k times, or a multiple of that, k ≥ 2, though rows alike in all but the answer differ
  (`DIFFER` times at least): genuine repeats of a few possible answers do not come in such numbers; or
- answers are continuous: of those of one combination that differ hardly any pairs (`RARELY`, and no more than answers
  recur) are within `NEAR` steps of what they are rounded to, so that chance ties are at most a tenth of those seen; and
  `TIED` answers at least that no other combination has recur. Where several have an answer, its repeats stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from recombine.errors import InputError
from recombine.support.numerals import step
from recombine.support.scan import collect

DIFFER, TIED, NEAR, RARELY = 10, 4, 5, 0.05


def without_copies(
    frame: pl.LazyFrame, whole: Callable[[], pl.LazyFrame], used: Sequence[str], target: str
) -> tuple[pl.LazyFrame, list[str]]:
    """The table without copies and a note on them; ``used`` columns are read, ``whole`` gives all of them."""
    others, answered = [n for n in used if n != target], pl.col(target).is_not_null()
    found = collect(frame.filter(answered).group_by(*used).agg(pl.len().alias(" rows")))
    times = found[" rows"].to_numpy()
    if not len(times) or times.max() == 1:
        return frame, []
    even, shared = int(np.gcd.reduce(times)) > 1, _shared(found, others, target)
    if not even and shared is None:
        return frame, []
    try:
        table = whole()
    except InputError:  # such as more bytes in other columns than are allowed: no reason to stop
        return frame, []
    names = table.collect_schema().names()
    if pl.Object in table.collect_schema().dtypes():
        return frame, []
    rows = collect(table.filter(answered).group_by(*names).agg(pl.len().alias(" rows")))
    often = int(np.gcd.reduce(rows[" rows"].to_numpy()))
    settings = rows.select(n for n in names if n != target).n_unique()
    earlier = pl.int_range(pl.len()).over(names)
    if often > 1 and (len(rows) - settings >= DIFFER or shared is not None):
        kept = earlier % often == 0
        note = f"every answered row is in the table {often:,} times, as if exported so often: copies count once."
    elif shared is not None:
        kept = (earlier == 0) | pl.col(target).is_in(shared)
        many = int((rows.filter(~pl.col(target).is_in(shared))[" rows"] - 1).sum())
        if not many:
            return frame, []
        note = f"{many:,} rows repeat others in every column, to the last digit: taken for copies, they count once."
    else:
        return frame, []
    return collect(table.filter(kept | ~answered)).lazy(), [note]


def _shared(found: pl.DataFrame, others: list[str], target: str) -> pl.Series | None:
    """Answers that several combinations have, where answers are continuous and some recur; else None."""
    number = found[target].cast(pl.Float64, strict=False) if found[target].dtype != pl.Boolean else None
    if number is None or number.null_count() or not number.is_finite().all():
        return None
    several = found.filter(found[target].is_duplicated())[target].unique().implode()
    tied = found.filter((pl.col(" rows") > 1) & ~pl.col(target).is_in(several))
    if tied[target].n_unique() < TIED:
        return None
    found = found.with_columns(number.alias(" y")).sort(*others, " y")
    y, width = found[" y"].to_numpy(), NEAR * step(number.to_numpy())
    place = found.select(pl.struct(others).rle_id()).to_series().to_numpy()
    size = np.bincount(place).astype(np.float64)
    most = min(tied[target].n_unique(), RARELY * float((size * (size - 1)).sum()) / 2)
    near, lag, close = 0, 0, 1
    while close and near <= most:
        lag += 1
        close = int(((place[lag:] == place[:-lag]) & (y[lag:] - y[:-lag] <= width * (1 + 1e-9))).sum())
        near += close
    return several if near <= most else None
