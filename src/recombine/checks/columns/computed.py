"""Columns that the answer was computed from: a rate is conversions over visitors.

They go with the answers as nothing else does and are no cause of them, so none may be taken for a block or a factor;
and rows over few cases say less than those over many, which a rate alone does not tell. Where conversions were not
kept, rates times visitors are whole numbers in every row, and with other rows' visitors they are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from recombine.checks.as_read import shown
from recombine.checks.exact.modular import Floats
from recombine.space import quoted
from recombine.support.counted import counted, written_to
from recombine.support.pasted import chosen

FEWEST = 6
"""Rows from which a quotient that is right in all of them is no chance."""
PER_CENT = 100.0


@dataclass(frozen=True)
class Quotient:
    """The answer is one column over another, by their places, so many times; without the former, so many cases over the
    latter."""

    part: int | None
    whole: int
    times: float = 1.0


def quotient(y: Floats, columns: Sequence[tuple[int, Floats]]) -> Quotient | None:
    """The two of these columns of numbers, each with its place, whose quotient is the answer of every row, as far as
    that was written down."""
    if len(y) < FEWEST or np.ptp(y) == 0:
        return None
    off = np.maximum(written_to(y), 1e-9 * np.abs(y)) * 1.001
    for (i, part), (j, whole) in permutations(columns, 2):
        if (whole == 0).any() or not np.ptp(whole):
            continue
        for times in (1.0, PER_CENT):
            if (np.abs(times * part / whole - y) <= off).all():
                return Quotient(i, j, times)
    return None


def share_of(y: Floats, columns: Sequence[tuple[int, Floats]]) -> Quotient | None:
    """The column of counts over which every answer is a share of cases."""
    for place, n in columns:
        if counted(y, n, most=1.0):
            return Quotient(None, place)
    return None


def not_outcomes(counts: Sequence[tuple[int, Floats]], made: Quotient | None) -> list[tuple[int, Floats]]:
    """Which of these counts a row may weigh by: of a quotient what it is over, if that counts, and never what was
    counted among these cases, nor what else goes with either."""
    if made is None or made.part is None:
        return [*counts]
    whole = [one for one in counts if one[0] == made.whole]
    return whole or [one for one in counts if one[0] != made.part]


def words(target: str, part: str | None, whole: str, n: Floats, counts: bool, times: float = 1.0) -> str:
    said = f"{target} times {quoted(whole)} is a whole number in every row, as a rate over so many cases gives"
    if part is not None:
        over = f"{f'{times:g} ' if times != 1 else ''}{quoted(part)} / {quoted(whole)}"
        said = f"{target} is {over} in every row, so that neither is tried as its cause"
    if not counts:
        return f"{said}."
    few, many = (shown(float(v)) for v in (n.min(), n.max()))
    return (
        f"{said}. All rows count alike here, those over {few} {quoted(whole)} as those over {many}: if it counts "
        f"cases, {by(whole)}."
    )


def by(name: str) -> str:
    """How to let rows count by a column of cases."""
    return f"{chosen('weights', name)} lets rows count by it"
