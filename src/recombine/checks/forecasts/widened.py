"""A forecast where answers drift: errors and ranges are as wide as what the drift puts answers off.

    error² + mean (answer − answer without the drift)²,    log loss + mean KL(q ‖ p)

with q the chances p of classes with the drift taken off; the interval by what the drift may be. Combinations that are
left out share the drift of their levels, so that no error tried on them holds it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit, logit, xlogy

from recombine.checks.exact.modular import Floats, Ints
from recombine.checks.forecasts.error_range import TAILS, evenness
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.drifted import DRAWS, Drift
from recombine.checks.rules.scales import PLAIN

MOST = 500
"""Asked combinations over which that is averaged; of more, evenly spread ones."""
ONE_SIDED = 1.645
"""Standard deviations between the middle and an end of 90 %."""
TOGETHER = 3.0
"""As how many times fewer independent errors those of asked answers count beside a drift: they share levels with it."""
LOST = 4
"""A drift that takes one in so many of what a rule of classes gains counts as much as all of the error of numbers."""
LEAST = 1e-6
"""Chance of a class that is not gone below."""


def widened(told: Forecast, drift: Drift, asked: Ints) -> Forecast:
    """The forecast with the drift in its error, interval and ranges."""
    rule = told.recommended
    if rule is None or told.rule == "constant" or told.share:  # one answer for all is that of an average time
        return told
    asked = asked[:: -(-len(asked) // MOST) or 1]
    drawn = drift.drawn(asked)
    if isinstance(rule, Adding):
        before = max(told.error**2, 1e-300)
        squares = _squares(rule, drift, asked, drawn[:, 0])
        low, high = _together(told, rule, squares, asked)
        more, many = float(squares.mean()), told.error_many_rows
        return replace(
            told, drift=drift, by_drift=more / before, error=(before + more) ** 0.5, low=low, high=high,
            error_many_rows=None if many is None else (many**2 + more) ** 0.5,
        )  # fmt: skip
    if told.metric != "log loss":
        return told
    losses = _apart(rule.answer(asked), drawn).mean(axis=0)
    low, high = np.quantile(losses, TAILS)
    more, gain = float(losses.mean()), max(told.constant - told.error, 1e-300)
    return replace(
        told, drift=drift, by_drift=LOST * more / gain, error=told.error + more, low=told.low + float(low),
        high=told.high + float(high),
    )  # fmt: skip


def _squares(rule: Adding, drift: Drift, asked: Ints, drawn: Floats) -> Floats:
    """What the drift adds to the mean squared error, drawn over and over; errors of those left out hold by_chance."""
    held = drift.by_chance(asked) / np.maximum((drawn**2).mean(axis=1), 1e-300)
    moved = drawn * np.sqrt(np.maximum(1 - held, 0.0))[:, None]
    if rule.scale is PLAIN:
        return np.asarray((moved**2).mean(axis=0))
    answers = rule.answer(asked)[:, None]
    off = answers - rule.scale.mean(rule.scale.forth(answers) - moved, drift.beyond)
    return np.asarray((off**2).mean(axis=0))


def _together(told: Forecast, rule: Adding, squares: Floats, asked: Ints) -> tuple[float, float]:
    """5 % and 95 % of the root of what both make: errors that go with what the drift does, by chance, count double."""
    rng = np.random.default_rng(1)
    z, by_chance = rng.standard_normal((2, DRAWS))
    ends = np.log(np.maximum([told.low, told.error, told.high], LEAST * max(told.error, 1e-300)))
    alone = np.exp(ends[1] + z / ONE_SIDED * np.where(z < 0, ends[1] - ends[0], ends[2] - ends[1]))
    cells = len(asked) * evenness(rule.varies(asked)) / TOGETHER
    both = alone**2 + squares + 2 * alone * np.sqrt(squares) * by_chance / np.sqrt(cells)
    low, high = np.sqrt(np.maximum(np.quantile(both, TAILS), 0.0))
    return float(low), float(high)


def _apart(p: Floats, drawn: Floats) -> Floats:
    """KL(q ‖ p) of each cell and draw."""
    p = np.clip(p, LEAST, 1 - LEAST)[:, :, None]
    if drawn.shape[1] == 1:  # of two classes the second
        drawn = np.concatenate([-drawn, drawn], axis=1)
    q = expit(logit(p) - drawn)
    q /= q.sum(axis=1, keepdims=True)
    return np.asarray((xlogy(q, q) - xlogy(q, p)).sum(axis=1))
