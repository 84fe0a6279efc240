"""Series that are asked about beyond their end, and how to cut others as short: the last weeks of a machine.

For an asked cell of series e at step t, after the last step T that e was seen at, cells of other series at t stand in,
each left out with all that its series has after T. What drifts within a series makes an answer at its end worse than
one in its middle, where cells of later steps hold it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.checks.exact.modular import Ints


@dataclass(frozen=True, eq=False)
class Series:
    """Levels of one factor, each a series over the levels of another."""

    factor: int
    steps: int
    place: Ints
    """Of each level of ``steps``, in the order in which series end: backwards where they lack their first."""


class CutShort:
    """Which seen cells stand in for asked ones beyond the end of their series."""

    def __init__(self, series: Series, codes: Ints, asked: Ints) -> None:
        self._of, self._at = codes[:, series.factor], series.place[codes[:, series.steps]]
        self._wanted = series.place[asked[:, series.steps]]
        levels = 1 + max(self._of.max(), asked[:, series.factor].max())
        ends, starts = np.full(levels, -1), np.full(levels, len(series.place))
        np.maximum.at(ends, self._of, self._at)
        np.minimum.at(starts, self._of, self._at)
        self._end, self._starts = ends[asked[:, series.factor]], starts
        self.beyond = self._wanted > self._end
        """Which asked cells are."""

    def pool(self, q: int) -> Ints:
        """Cells of the same step, of series that begin before the asked one ends."""
        return np.flatnonzero((self._at == self._wanted[q]) & (self._starts[self._of] <= self._end[q]))

    def rows(self, row: int, q: int) -> Ints:
        """What the series of a cell has after the end of the asked one."""
        return np.flatnonzero((self._of == self._of[row]) & (self._at > self._end[q]))
