"""What a rule is that could answer unseen combinations, a contestant of a forecast, and the simplest of them.

A rule is fitted to the seen cells once. It then answers any cell, and says what it would have answered for a seen cell
had a group of cells around it been left out. Numbers are answered by a number with a standard deviation on the scale on
which the rule adds up (`adding`); classes by probabilities (`odds`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.rules.seen_cells import Cells


class Rule(Protocol):
    """What takes part in a forecast."""

    name: str

    def answer(self, codes: Ints) -> Floats:
        """Answers in the units of the table, or probabilities of classes."""

    def left_out(self, groups: Sequence[Ints]) -> Floats:
        """The answer to the first cell of each group by the fit without the group (groups × 1, or × classes)."""


class Mean:
    """Classes: every combination has the shares of all."""

    name = "constant"

    def __init__(self, cells: Cells) -> None:
        self._shares = cells.answers.mean(axis=0)

    def answer(self, codes: Ints) -> Floats:
        return np.tile(self._shares, (len(codes), 1))

    def left_out(self, groups: Sequence[Ints]) -> Floats:
        """With the groups left in: without its own cell the larger of two equal classes is always the other one."""
        return np.tile(self._shares, (len(groups), 1))
