"""Whether a curve is known between the values of a number that were seen.

    gap² = error² · (variance between seen values / all variance of asked answers)

The curve is not known where most of the error is of the gap and this is more than half of what the number moves answers
by. Of a curve that goes on smoothly the others find a value that is left out again; of a threshold they do not, and
where between two values it lies nothing seen tells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.checks.exact.modular import Ints
from recombine.checks.rules.adding import Adding
from recombine.space import FactorSpace

MOST = 0.5
"""Share of the error that is of the gap, and of what the number moves answers by, from which a curve is not known."""


@dataclass(frozen=True)
class Gap:
    """A number that is asked about between its seen values, where most of the error is of what its curve does there."""

    factor: str
    error: float
    """To expect between them, without noise."""
    moves: float
    """Standard deviation of answers over seen values."""

    @property
    def known(self) -> bool:
        """Whether the curve tells more than half of what the number does."""
        return self.error <= MOST * self.moves


def gaps_in(rule: Adding, asked: Ints, error: float, space: FactorSpace) -> tuple[Gap, ...]:
    """Numbers whose gaps make most of this error of a rule."""
    found = []
    for k, curve in rule.cells.curves.items():
        there = asked[~np.isin(asked[:, k], curve.seen)]
        if not len(there):
            continue
        share = float(rule.effects.between(there).mean() / (rule.effects.predict(there)[1] ** 2).mean())
        gap, moves = error * float(np.sqrt(share)), float(np.std([_answer(rule, there, k, c) for c in curve.seen]))
        if share > MOST:
            found.append(Gap(space.names[k], gap, moves))
    return tuple(found)


def _answer(rule: Adding, asked: Ints, k: int, code: int) -> float:
    """The mean answer at one value."""
    there = asked.copy()
    there[:, k] = code
    return float(rule.answer(there).mean())
