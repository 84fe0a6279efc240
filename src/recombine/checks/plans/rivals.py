"""Scales that the seen answers do not tell from the one a plan is on: its promise would rest on which it is.

With RSS what least squares leave of the answers on a scale s, ν their degrees of freedom and n rows (Box and Cox 1964,
equation 16, with equal odds beforehand):

    log odds of a scale = −ν/2 · (log RSS − 2 · mean log s'(y))

Of repeated rows the means and what they differ by are told on the scale as far as it is straight there. These odds are
of effects and noise on one scale. Where blocks shift answers in their own units the effects of a scale are tried with
the noise in these units, too: where products have a noise that does not grow with them, noise alone would speak for
sums. (Without blocks that costs nearly twice the rows, and plans kept what they promised.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from recombine.checks.exact.identifiability import SCALES, Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.rules.effects import LEAST_FREEDOM
from recombine.checks.rules.scales import PLAIN, Scale, scaled, scales, slopes
from recombine.support.table import Target

ODDS = math.log(20)
"""From which one scale is told from another: of 960 planted tables one had a wrong one so much likelier
(`benchmarks/plans_kept.py`, seeds 300 to 319, on each of the kinds where two are tried)."""
STEPS, SMALL = 20, 1e-4
"""Steps to the nearest answers by effects on a scale, and a small step on it."""
NOTHING = 1e-18
"""Share of the squared answers up to which what a fit leaves is rounding."""


def least_squares(known: Identifiability, target: Target) -> tuple[float, int]:
    """What additive effects leave of the rows' answers, squared (0 where that is rounding), and its degrees of
    freedom."""
    x, root = known.rows.floats(known.codes), np.sqrt(target.count)
    fit = x @ np.linalg.lstsq(x * root[:, None], target.mean * root, rcond=None)[0]
    left = float((target.count * (target.mean - fit) ** 2).sum() + target.spread.sum())
    size = float((target.count * target.mean**2).sum()) + 1e-300
    return left if left > NOTHING * size else 0.0, int(target.count.sum()) - known.rank


def rivals(known: Identifiability, target: Target, scale: Scale | None, shifted: bool = False) -> tuple[Scale, ...]:
    """The scales on which errors are told in the answer's units, other than this one, that are not told from it.
    ``shifted``: shifts of blocks have been taken off in the answer's own units, and noise may be in these as well."""
    use = target.count > 0
    answers: Floats = target.mean[use]
    if int(target.count.sum()) - known.rank < LEAST_FREEDOM or not np.ptp(answers) > 0:
        return ()
    found = [PLAIN, *scales(answers, target.share, target.per_cent, target.reach)]
    own, told = scale or PLAIN, {s.name: _odds(known, target, s) for s in found if not s.learnt}
    if own is PLAIN and shifted:
        told |= {
            s.name: max(told[s.name], _beside(known, target, s)) for s in found if s.name in told and s is not PLAIN
        }
    least = told.get(own.name, -math.inf) - ODDS
    return tuple(s for s in found if s.name != own.name and told.get(s.name, -math.inf) > least)


def either(scale: Scale | None, others: Sequence[Scale]) -> str:
    """What effects do on the one or the others, in words."""
    return " or ".join(SCALES[s.name] if s.name else "add up" for s in (scale or PLAIN, *others))


def _odds(known: Identifiability, target: Target, scale: Scale) -> float:
    """The log odds of a scale, up to what all have in common."""
    plain = scale is PLAIN
    left, freedom = least_squares(known, target if plain else scaled(target, scale))
    slope = np.ones(len(target.mean)) if plain else slopes(target, scale)
    if not left:
        return math.inf
    return -freedom / 2 * (math.log(left) - 2 * float(np.average(np.log(slope), weights=target.count)))


def _beside(known: Identifiability, target: Target, scale: Scale) -> float:
    """The log odds of effects on a scale whose noise is in the answer's own units."""
    use = target.count > 0
    x, mean, count = known.rows.floats(known.codes[use]), target.mean[use], target.count[use].astype(np.float64)
    spread, root = float(target.spread.sum()), np.sqrt(count)
    beta: Floats = np.asarray(np.linalg.lstsq(x * root[:, None], scale.forth(mean) * root, rcond=None)[0])

    def left(beta: Floats) -> float:
        return float((count * (mean - scale.back(x @ beta)) ** 2).sum())

    now = left(beta)
    for _ in range(STEPS):
        place = x @ beta
        slope = (scale.back(place + SMALL) - scale.back(place - SMALL)) / (2 * SMALL)
        step = np.linalg.lstsq(x * (root * slope)[:, None], (mean - scale.back(place)) * root, rcond=1e-9)[0]
        tried = [(left(np.asarray(beta + part * step, dtype=np.float64)), part) for part in (1.0, 0.5, 0.1)]
        best, part = min(tried)
        if not best < now * (1 - 1e-6):
            break
        beta, now = np.asarray(beta + part * step, dtype=np.float64), best
    freedom = int(target.count.sum()) - known.rank
    return -freedom / 2 * math.log(now + spread) if now + spread > 0 else math.inf
