"""Rows of one combination that differ by one factor, the same in several combinations, as units that were mixed up do.

    log |y| = combination + log f · (whether the row is in the other unit) + ε

Rows of a combination are parted where their logarithms lie farthest apart. Those of combinations whose parts lie more
than half of log f apart must nearly all lie log f apart, f of a list of such factors, with a mean within its error, and
rows within parts must lie together. Errors with long tails lie any distance apart, and two kinds of rows are seldom
farther apart by exactly so much in every combination.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtrc

from recombine.checks.exact.modular import Floats, Ints
from recombine.support.numerals import step
from recombine.support.rows import ROW, told_rows
from recombine.support.table import Table, Target, read_tables

TENS = tuple(10.0**k for k in (1, 2, 3, 6, 9))
OTHERS: Mapping[float, str] = {
    2.20462: "kilograms and pounds", 2.54: "inches and centimetres",
    25.4: "inches and millimetres", 30.48: "feet and centimetres", 60.0: "minutes and seconds",
    453.592: "pounds and grams", 3600.0: "hours and seconds",
}  # fmt: skip
"""Factors of units, besides powers of ten."""
FEWEST, MOSTLY = {True: 3, False: 4}, 0.8
"""Combinations in which rows must lie so far apart, of a power of ten and of another factor; their share of all whose
rows lie more than half as far apart."""
TOGETHER = 6.0
"""Standard deviations of rows that log f is, at least."""
ERRORS, ROUNDED = 2.5, 0.002
"""Standard errors that the mean distance may be off log f, and how much besides, as factors are rounded."""
SURE = ((5.0, 0.02), (20.0, 0.05), (50.0, 0.03), (math.inf, 0.15))
"""Largest standard error of log f, for factors up to these: kinds of rows that differ by 100 have another reason."""
UNEVEN = 0.02
"""p-value below which distances differ from combination to combination by more than rows within parts: then no one
factor parts them."""
NEAR, DEVIATIONS = 0.25, 4.0
"""How far one combination's distance may be off, as a share of log
f, and in standard errors of its own."""
DIFFERENT = 5
"""Different answers that rows in the smaller unit have at least: of a scale of tens there are few."""
FREEDOM = 3
MOST_ROWS, MOST_NAMED = 100_000, 20


@dataclass(frozen=True, eq=False)
class Mixed:
    """Rows that seem to be in another unit."""

    factor: float
    cells: int
    """Combinations that show it."""
    rows: tuple[int, ...]
    """Places of the rows in the smaller number of these, as the table lists them."""
    larger: bool
    """Whether these are the larger ones."""

    @property
    def words(self) -> str:
        named = ", ".join(f"{row + 1:,}" for row in self.rows[:MOST_NAMED])
        named += f" and {len(self.rows) - MOST_NAMED:,} more" if len(self.rows) > MOST_NAMED else ""
        which = f"{self.factor:,.4g} times the others" if self.larger else f"a {self.factor:,.4g}th of the others"
        kinds = f", as {OTHERS[self.factor]} are" if self.factor in OTHERS else ""
        return (
            f"in {self.cells:,} combinations some rows are about {which}{kinds}: units mixed up? These are the rows "
            f"{named} below the header. Write all in one unit (a combination wholly in the other does not show) and "
            "check again, or name what tells them apart."
        )


def mixed_units(table: Any, train: Table, **how: Any) -> Mixed | None:
    """The rows that seem to be in another unit; None where none are. ``how`` is what `read_tables` takes."""
    target = train.target
    if target is None or not target.numeric or not target.conflicts or train.rows > MOST_ROWS or how.get("weights"):
        return None
    if not _far_apart(target):
        return None
    frame = told_rows(table, how["target"], how.get("split"), how.get("max_bytes"))
    read = read_tables([frame], [*train.space.names, ROW], **{**how, "split": None, "missing": "drop"})[0]
    if read.target is None:
        return None
    use = read.target.count > 0
    codes, y = read.codes[use].astype(np.int64), read.target.mean[use]
    cell = np.unique(codes[:, :-1], axis=0, return_inverse=True)[1].ravel()
    place = np.array([int(v) for v in read.space[ROW].levels or ()])[codes[:, -1]]
    found = parted_by(cell, y)
    if found is None:
        return None
    factor, high, cells = found
    inside = np.isin(cell, cells)
    larger = 2 * int(high[inside].sum()) <= int(inside.sum())
    return Mixed(factor, len(cells), tuple(sorted(place[inside & (high == larger)].tolist())), larger)


def _far_apart(target: Target) -> bool:
    """Whether rows differ by as much as the smallest factor in enough combinations: else rows need not be read."""
    if target.ends is None:
        return True
    low, high = np.abs(target.ends).min(axis=1), np.abs(target.ends).max(axis=1)
    across = (target.ends[:, 0] <= 0) & (target.ends[:, 1] >= 0)  # as shifts that were taken off may leave them
    return int(((high > low * math.sqrt(min(OTHERS))) | across)[target.count > 1].sum()) >= min(FEWEST.values())


def parted_by(cell: Ints, y: Floats) -> tuple[float, np.ndarray, Ints] | None:
    """The factor by which rows of combinations differ, which rows are larger by it, and in which combinations; None
    where there is none."""
    largest, least = np.full(int(cell.max()) + 1, -np.inf), np.full(int(cell.max()) + 1, np.inf)
    np.maximum.at(largest, cell, y)
    np.minimum.at(least, cell, y)
    use = ((largest < 0) | (least > 0))[cell] & (np.bincount(cell) > 1)[cell]
    if not use.any():
        return None
    places, size = np.flatnonzero(use), np.abs(y[use])
    _, at = np.unique(cell[use], return_inverse=True)
    order = np.lexsort((size, at))
    places, at, log = places[order], at[order], np.log(size[order])
    high, apart = _parts(at, log)
    finest = step(size) / 4 / float(np.median(size))
    for factor in sorted([*TENS, *OTHERS], reverse=True):
        split = apart > math.log(factor) / 2
        if (matched := _matching(at, log, high, split, factor, finest)) is not None:
            parts = np.zeros(len(y), dtype=np.bool_)
            parts[places] = high & matched[at]
            return factor, parts, np.unique(cell[places[matched[at]]])
    return None


def _parts(at: Ints, log: Floats) -> tuple[np.ndarray, Floats]:
    """Which rows, sorted within combinations, lie above the widest gap of theirs, and how wide that is."""
    gaps = np.where(np.diff(at) == 0, np.diff(log), -1.0)
    widest = np.zeros(int(at.max()) + 1)
    np.maximum.at(widest, at[1:][gaps >= 0], gaps[gaps >= 0])
    first = np.full(len(widest), len(at))
    candidates = np.flatnonzero(gaps >= widest[at[1:]] * (1 - 1e-12))
    np.minimum.at(first, at[candidates + 1], candidates + 1)
    return np.arange(len(at)) >= first[at], widest


def _matching(
    at: Ints, log: Floats, high: np.ndarray, split: np.ndarray, factor: float, finest: float
) -> np.ndarray | None:
    """Which combinations differ by this factor, where those do that are ``split``; else None."""
    tens, far, cells = factor in TENS, math.log(factor), len(split)
    if split.sum() < FEWEST[tens]:
        return None
    part = 2 * at + (high & split[at])
    rows, sums = np.bincount(part, minlength=2 * cells), np.bincount(part, log, minlength=2 * cells)
    means = sums / np.maximum(rows, 1)
    low, up = rows[::2][split], rows[1::2][split]
    apart, unsure = (means[1::2] - means[::2])[split], 1 / low + 1 / up
    within = float(((log - means[part]) ** 2).sum())
    near = np.abs(apart - far) <= NEAR * far
    if near.sum() < max(FEWEST[tens], MOSTLY * split.sum()):
        return None
    mean = float(np.average(apart[near], weights=1 / unsure[near]))
    own = int((rows - 1)[rows > 0].sum())
    freedom = own + int(near.sum()) - 1
    between = float(((apart[near] - mean) ** 2 / unsure[near]).sum())
    deviation = max(math.sqrt((within + between) / max(freedom, 1)), finest)
    near &= np.abs(apart - mean) <= DEVIATIONS * deviation * np.sqrt(unsure)
    error = deviation / math.sqrt(float((1 / unsure[near]).sum())) if near.any() else math.inf
    matched = np.zeros(cells, dtype=np.bool_)
    matched[np.flatnonzero(split)[near]] = True
    if (
        freedom < FREEDOM
        or near.sum() < max(FEWEST[tens], MOSTLY * split.sum())
        or far < TOGETHER * deviation
        or abs(mean - far) > ERRORS * error + ROUNDED
        or error > next(most for end, most in SURE if factor < end)
        or _uneven(apart[near], unsure[near], within, own)
        or len(np.unique(log[matched[at] & ~high].round(9))) < DIFFERENT
    ):
        return None
    return matched


def _uneven(apart: Floats, unsure: Floats, within: float, freedom: int) -> bool:
    """Whether these distances differ by more than their errors, by what rows differ by within parts."""
    between = float(((apart - np.average(apart, weights=1 / unsure)) ** 2 / unsure).sum())
    more = len(apart) - 1
    return freedom >= FREEDOM and float(fdtrc(more, freedom, between / more / max(within / freedom, 1e-300))) < UNEVEN
