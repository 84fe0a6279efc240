"""Levels so much harder than the others that one forecast for all asked combinations would hide them.

    √ (mean e² of n asked cells / mean e² of m that tell it)  lies within  √ F(n, m)  at 5 % and 95 %

if errors of a level are normal: told by its m seen cells, each left out by itself (`harder`), or, where these do not
stand out, by the m degrees of freedom of the rows that scatter more there (`noisy`) and the fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtri

from recombine.checks.harder import Harder
from recombine.checks.modular import Ints
from recombine.checks.rules import Adding
from recombine.space import FactorSpace, quoted

FAR = 3.0
"""Times the error elsewhere from which a level is said beside the forecast."""


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


def apart(rule: Adding, levels: Sequence[Harder], asked: Ints, space: FactorSpace) -> tuple[Apart, ...]:
    """Of the levels that err more (``levels``) or scatter more those that do so by far, the worst first. On a scale
    such as log large answers err more anyway, and a few of them make most of a squared error: there what the fit says
    of the asked cells counts if that is less."""
    found = []
    for h in levels:
        k, code = h.at
        sized = rule.scale.name != "" and not rule.scale.learnt
        error = min(h.error, _fitted(rule, asked[asked[:, k] == code])) if sized else h.error
        found.append(_told(h.factor, h.level, h.asked, error, h.seen, h.elsewhere))
    for k, code in set(rule.noisy) - {h.at for h in levels}:
        here, factor, others = asked[:, k] == code, space.factors[k], rule.cells.codes[:, k] != code
        if rule.one_row is not None and here.any() and factor.levels:
            error, elsewhere = _fitted(rule, asked[here]), _fitted(rule, rule.cells.codes[others])
            freedom, name = rule.one_row.own[k, code][1], quoted(factor.levels[code])
            found.append(_told(factor.name, name, int(here.sum()), error, freedom, elsewhere))
    return tuple(sorted((a for a in found if a.error > FAR * a.elsewhere), key=lambda a: -a.error))


def _fitted(rule: Adding, cells: Ints) -> float:
    """The error of such cells by the fit."""
    return float(np.sqrt(rule.varies(cells).mean()))


def _told(factor: str, level: str, asked: int, error: float, freedom: float, elsewhere: float) -> Apart:
    low, high = (float(np.sqrt(fdtri(asked, freedom, p))) for p in (0.05, 0.95))
    return Apart(factor, level, asked, error, error * low, error * high, elsewhere)
