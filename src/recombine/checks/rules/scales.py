"""Scales on which effects may add up: which ones answers allow, and answers brought to one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import expit, ndtri

from recombine.checks.exact.modular import Floats
from recombine.support.table import Target

NODES = ndtri((np.arange(21) + 0.5) / 21)
"""Quantiles of a standard normal over which an answer is averaged on its way back from a scale."""


@dataclass(frozen=True)
class Scale:
    """A scale on which effects may add up."""

    name: str
    forth: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]
    learnt: bool = False
    """Whether the way back is learnt from the answers: it then has to forget those that are left out."""
    ends: tuple[float, float] = (-math.inf, math.inf)
    """What answers on it cannot leave."""
    steepest: float | None = None
    """Where on it a small step moves an answer most (infinite: the further up the more); None: not told."""

    @property
    def of_logarithms(self) -> bool:
        """Whether it is neither the answer's own nor learnt."""
        return bool(self.name) and not self.learnt

    def of_a_case(self, share: Floats, whole: float = 1.0) -> Floats:
        """The variance of one case on it, where answers are shares: p (1 − p), times its slope squared."""
        p, near = share, 1e-4 * np.minimum(share, 1 - share)
        slope = (self.forth(whole * (p + near)) - self.forth(whole * (p - near))) / (2 * near)
        return np.asarray(p * (1 - p) * slope**2)

    def mean(self, place: Floats, sd: float | Floats) -> Floats:
        """The answer, averaged over what it may be on the scale."""
        return np.asarray(self.back(place[..., None] + np.asarray(sd)[..., None] * NODES).mean(axis=-1))


PLAIN = Scale("", lambda y: y, lambda z: z)


def ranks(y: Floats) -> Scale:
    """Normal scores of the ranks."""
    places = _normal_scores(len(y))
    y = np.sort(y)
    first = np.flatnonzero(np.append(True, y[1:] != y[:-1]))
    values = y[first]
    middle = np.add.reduceat(places, first) / np.diff(np.append(first, len(y)))
    return Scale("rank", lambda v: np.interp(v, values, middle), lambda z: np.interp(z, middle, values), learnt=True)


@lru_cache(maxsize=64)
def _normal_scores(count: int) -> Floats:
    return np.asarray(ndtri((np.arange(count) + 0.5) / count))


def scales(
    y: Floats, share: bool = True, per_cent: bool = False, reach: tuple[float, float] | None = None,
    counted: float | None = None,
) -> list[Scale]:  # fmt: skip
    """Scales that these answers allow: log above zero, log-odds of shares (or, if they may be, per cents, and of these
    alone if they are said to be), ranks always. ``reach``: the smallest and largest single answer behind these, which
    a share cannot leave either. ``counted``: what all cases are, where answers are known to be shares of so many (of
    none as (k + ½) / (n + 1)): then log-odds are tried however small they are, and no ranks."""
    found = []
    low, high = float(y.min()), float(y.max())
    least, most = (low, high) if reach is None or counted else reach
    if low > 0 and high > 2 * low:
        found.append(Scale("log", np.log, np.exp, steepest=math.inf))
    top = counted or (1.0 if most <= 1 and not per_cent else 100.0)
    likely = counted or (0.5 * top < most <= top and (share or top == 1))
    if least >= 0 and high > low and likely:
        edge = 0.5 * top / len(y) if low == 0 or high == top else 0.0  # else effects that add up would not
        found.append(
            Scale(
                "log-odds",
                lambda v: np.log((v + edge) / (top - v + edge)),
                lambda z: (top + 2 * edge) * expit(z) - edge,
                ends=(0.0, top),
                steepest=0.0,
            )
        )
    return [*found, ranks(y)] if not counted and len(np.unique(y)) > 8 else found


def scaled(target: Target, scale: Scale) -> Target:
    """Answers on a scale: means of cells, and what rows differ by in a cell as far as the scale is straight there."""
    use, mean, weights = target.count > 0, target.mean.copy(), target.weights
    if scale.of_logarithms and target.cases is not None and weights is not None:
        mean, weights = target.never_empty.copy(), weights.copy()
        one = scale.of_a_case(mean[use] / target.whole, target.whole)
        weights[use] *= float(np.average(one, weights=1 / weights[use])) / one
    mean[use] = scale.forth(mean[use])
    return replace(target, mean=mean, spread=target.spread * slopes(target, scale) ** 2, weights=weights, typical=0.0)


def slopes(target: Target, scale: Scale) -> Floats:
    """How fast a scale changes with the answer of each cell, over what the mean of its rows may be off."""
    use, found = target.count > 0, np.ones(len(target.mean))
    y = (target.never_empty if scale.of_logarithms else target.mean)[use]
    near = np.maximum(np.sqrt(target.spread[use] / target.count[use]), 1e-4 * np.ptp(y))
    above, below = np.minimum(y + near, y.max()), np.maximum(y - near, y.min())
    found[use] = (scale.forth(above) - scale.forth(below)) / (above - below)
    return found
