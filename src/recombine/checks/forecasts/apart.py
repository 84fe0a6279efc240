"""Levels so much harder than the others that one forecast for all asked combinations would hide them.

    √ (mean e² of n asked cells / mean e² of m that tell it)  lies within  √ F(n, m)  at 5 % and 95 %

if errors of a level are normal: told by its m seen cells, each left out by itself (`harder`), or, where these do not
stand out, by the m degrees of freedom of the rows that scatter more there (`noisy`) and the fit.

Beside such a level's own mean, that of its other cells, a rule has to take away half of the squared error of its seen
cells that are left out: else nothing shows that it tells them from each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtri

from recombine.checks.exact.modular import Ints
from recombine.checks.forecasts.harder import Harder
from recombine.checks.rules.adding import Adding
from recombine.space import FactorSpace, quoted

FAR = 3.0
"""Times the error elsewhere from which a level is said beside the forecast."""
LEAST_EXPLAINED = 0.5
"""Share of the squared error of a level's own mean from which a rule is shown to say something of its combinations:
they are few, and less is often chance."""
FEWEST, MOST = 3, 600
"""Seen cells of a level that tell this, and how many are left out where there are more."""


@dataclass(frozen=True)
class Apart:
    """What to expect on asked combinations of a level, instead of the forecast."""

    factor: str
    level: str
    asked: int
    error: float
    low: float
    high: float
    elsewhere: float
    at: tuple[int, int]
    """Place of the factor and code of the level."""
    left_out: float
    """The error of its seen combinations, each left out by itself, and that of the mean of its other ones; NaN where
    there are too few."""
    own_mean: float

    @property
    def shown(self) -> bool:
        """Whether the rule tells its combinations from each other."""
        return self.left_out**2 < (1 - LEAST_EXPLAINED) * self.own_mean**2

    @property
    def name(self) -> str:
        return f"{self.factor} {self.level}"

    def to_dict(self) -> dict[str, Any]:
        told = {k: v for k, v in vars(self).items() if k != "at" and v == v}
        return {"left_out": None, "own_mean": None, **told, "shown": self.shown}


def apart(rule: Adding, levels: Sequence[Harder], asked: Ints, space: FactorSpace) -> tuple[Apart, ...]:
    """Of the levels that err more (``levels``) or scatter more those that do so by far, the worst first. On a scale
    such as log large answers err more anyway, and a few of them make most of a squared error: there what the fit says
    of the asked cells counts if that is less."""
    found = []
    for h in levels:
        k, code = h.at
        sized = rule.scale.name != "" and not rule.scale.learnt
        error = min(h.error, _fitted(rule, asked[asked[:, k] == code])) if sized else h.error
        found.append(_told(h.factor, h.level, h.asked, error, h.seen, h.elsewhere, h.at, rule))
    for k, code in set(rule.noisy) - {h.at for h in levels}:
        here, factor, others = asked[:, k] == code, space.factors[k], rule.cells.codes[:, k] != code
        if rule.one_row is not None and here.any() and factor.levels:
            error, elsewhere = _fitted(rule, asked[here]), _fitted(rule, rule.cells.codes[others])
            freedom, name = rule.one_row.own[k, code][1], quoted(factor.levels[code])
            found.append(_told(factor.name, name, int(here.sum()), error, freedom, elsewhere, (k, code), rule))
    return tuple(sorted((a for a in found if a.error > FAR * a.elsewhere), key=lambda a: -a.error))


def _fitted(rule: Adding, cells: Ints) -> float:
    """The error of such cells by the fit."""
    return float(np.sqrt(rule.varies(cells).mean()))


def _told(
    factor: str, level: str, asked: int, error: float, freedom: float, elsewhere: float, at: tuple[int, int],
    rule: Adding,
) -> Apart:  # fmt: skip
    low, high = (float(np.sqrt(fdtri(asked, freedom, p))) for p in (0.05, 0.95))
    return Apart(factor, level, asked, error, error * low, error * high, elsewhere, at, *_tried(rule, at))


def _tried(rule: Adding, at: tuple[int, int]) -> tuple[float, float]:
    """The errors of a level's seen cells, each left out by itself: of the rule, and of the mean of the others."""
    codes = rule.cells.codes
    cells = np.flatnonzero((codes[:, at[0]] == at[1]) & ~rule.cells.thin(codes))
    if len(cells) < FEWEST:
        return float("nan"), float("nan")
    answers, some, surprise = rule.cells.answers[cells], cells[:: -(-len(cells) // MOST)], rule.surprise
    said = rule.left_out([some[[i]] for i in range(len(some))])[:, 0]
    rule.surprise = surprise
    off = (answers - answers.mean()) * len(cells) / (len(cells) - 1)
    return float(np.sqrt(np.mean((rule.cells.answers[some] - said) ** 2))), float(np.sqrt(np.mean(off**2)))
