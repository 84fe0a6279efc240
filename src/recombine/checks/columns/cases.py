"""Rows that are means or rates over different numbers of cases: those over few scatter more, and nothing else says so.

    r = correlation of |e| and n, as normal scores and without what the factors tell of both,   t = r √(f / (1 − r²))
    log e² = a + b log n:   b is −1 where n counts cases and nothing else makes rows scatter, nearer to 0 where it does

with e what least squares leaves of each row, over what it leaves of such a row on average. A level that is calmer and
has more cases tells nothing: what the factors tell of both is taken away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtr

from recombine.checks.as_read import shown
from recombine.checks.columns.computed import by
from recombine.checks.columns.measured import words_in
from recombine.checks.exact.modular import Floats
from recombine.checks.rules.effects import EXACT, LEAST_FREEDOM
from recombine.space import quoted

BY_CHANCE = 0.02
"""p-value, all columns counted, below which rows with few cases are said to scatter more."""
TIMES = 4.0
"""How many times as many cases a tenth of the rows has, at least, as another tenth."""
SPARE = 0.1
"""Share of a row that least squares leaves, below which it tells nothing of noise."""
STEEP = 2.0
"""Standard errors that the slope may be below −1."""


CALENDAR = {"month", "months", "day", "days", "year", "years", "hour", "hours", "week", "weeks", "date", "time",
            "quarter", "minute", "second", "weekday", "of", "the", "no", "number"}  # fmt: skip
"""Words of which the name of a column consists that says when something was; patient_days may well be cases."""
PERIODS = (7, 12, 24, 31, 52, 53, 366)


@dataclass(frozen=True)
class Cases:
    """The column, by its place, that tells how far rows scatter."""

    place: int
    p_value: float
    few: float
    """Cases of which a tenth of the rows has fewer, and of which one has more."""
    many: float
    times: float
    """How many times as far rows of the former scatter."""


def counts_cases(n: Floats, name: str = "") -> bool:
    """Whether a column may count cases: whole numbers from 1 on that differ by much, and none of a calendar or a clock,
    by its ``name`` or because each of 1 to 12, 31, 24 or 53 recurs, as months, days, hours or weeks do."""
    low, high = np.quantile(n, [0.1, 0.9])
    differ = n.min() >= 1 and (n % 1 == 0).all() and high >= TIMES * low
    return bool(differ and not _says_when(name) and not _of_a_calendar(n))


def _says_when(name: str) -> bool:
    return bool(words_in(name)) and words_in(name) <= CALENDAR


def _of_a_calendar(n: Floats) -> bool:
    return n.max() in PERIODS and len(np.unique(n)) == n.max() and np.bincount(n.astype(int))[1:].min() > 1


def by_cases(x: Floats, y: Floats, columns: Sequence[tuple[int, Floats]]) -> Cases | None:
    """Which of these columns of counts, each with its place, tells best where what x leaves of the answers is small;
    None where it may be chance, or is not as of means over so many cases."""
    q = _basis(x)
    left, spare = y - q @ (q.T @ y), 1 - (q**2).sum(axis=1)
    told = spare > SPARE
    if float(left @ left) <= EXACT * float(np.square(y - y.mean()).sum()):
        return None
    e, freedom = np.abs(left[told]) / np.sqrt(spare[told]), int(told.sum()) - q.shape[1] - 1
    if freedom < LEAST_FREEDOM:
        return None
    basis, found = _basis(q[told]), list[Cases]()
    size = np.log(np.maximum(e**2, 1e-12 * float((e**2).mean())))
    scores = _without(basis, _normal(e))
    for place, n in columns:
        own, line = _without(basis, _normal(n[told])), _without(basis, np.log(n[told]))
        if float(line @ line) <= 1e-9 * len(line):
            continue
        r = float(scores @ own / np.sqrt((scores @ scores) * (own @ own)))
        p = float(stdtr(freedom, r * np.sqrt(freedom / max(1 - r**2, 1e-12))))
        slope = float(line @ size / (line @ line))
        rest = _without(basis, size) - slope * line
        unsure = float(np.sqrt(rest @ rest / freedom / (line @ line)))
        if slope > -1 - STEEP * unsure:
            few, many = (float(v) for v in np.quantile(n, [0.1, 0.9]))
            found.append(Cases(place, p * len(columns), few, many, (many / few) ** (min(max(-slope, 0.0), 1.0) / 2)))
    best = min(found, key=lambda one: one.p_value, default=None)
    return best if best is not None and best.p_value < BY_CHANCE else None


def words(name: str, found: Cases) -> str:
    chance = f"p = {found.p_value:.1g}" if found.p_value >= 1e-4 else "p below 0.0001"
    times = f"about {found.times:.1f} times as far with {shown(found.few)} as with {shown(found.many)}"
    return (
        f"the larger {quoted(name)}, which is not named, the less rows scatter around what the factors tell "
        f"({chance}), {times}, as means or rates over so many cases do. All rows count alike here, and ranges are "
        f"those of rows in between; if it counts cases, {by(name)}."
    )


def _basis(columns: Floats) -> Floats:
    """Orthonormal columns that span the same."""
    u, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(u[:, sizes > 1e-9 * sizes[0]])


def _normal(values: Floats) -> Floats:
    """Normal scores."""
    _, at, many = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(ndtri((np.cumsum(many) - many / 2)[at] / len(values)))


def _without(basis: Floats, values: Floats) -> Floats:
    return np.asarray(values - basis @ (basis.T @ values))
