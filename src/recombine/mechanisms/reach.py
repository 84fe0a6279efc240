"""How far the gap of few combinations reaches, as it is told: further than their own spread says.

Squares of few errors rarely have a large one among them. If errors are normal and k of them have the mean square m,
what that stands for reaches up to

    k m / χ²(k, .025),

which is six times m at five combinations, where t ends sooner. And combinations that are all right, or all wrong, have
no spread: none wrong of n leaves 3 / n open (`most_wrong`), however much the other side varies.
"""

from __future__ import annotations

from dataclasses import replace
from math import hypot

import numpy as np
from scipy.special import chdtri

from recombine.mechanisms.answers import Answers
from recombine.mechanisms.comparing import most_wrong
from recombine.mechanisms.gap import Gap
from recombine.mechanisms.names import NOTHING
from recombine.statistics import T_BELOW, FloatArray, Interval


def reach(gap: Gap, answers: Answers) -> Interval:
    """The gap of one learner, no narrower than its few combinations allow (95 %)."""
    width, unseen, seen = gap.width, answers.unseen, answers.compared
    if len(answers.members) > 1 or not width.bounded:
        return width
    if answers.classes is None:
        high = _of_squares(gap.beyond[0, unseen], gap.beyond[0, seen]) if unseen.sum() < T_BELOW else 0.0
        return replace(width, high=max(width.high, width.mean + high))
    (down, up), (more, less) = (_of_one_kind(answers.error[0, at]) for at in (unseen, seen))
    return replace(
        width,
        low=width.mean - hypot(width.mean - width.low, down, less),
        high=width.mean + hypot(width.high - width.mean, up, more),
    )


def _of_squares(unseen: FloatArray, seen: FloatArray) -> float:
    """How far up the difference of mean squares reaches if errors of unseen combinations are normal."""
    k, mean = len(unseen), max(0.0, float(unseen.mean()))
    spread = float(seen.var(ddof=1)) / len(seen)
    return hypot(mean * (k / float(chdtri(k, 0.975)) - 1), 1.96 * spread**0.5)


def _of_one_kind(wrong: FloatArray) -> tuple[float, float]:
    """How far down and up a share reaches that is the same at each combination; no further, where it varies."""
    if float(np.ptp(wrong)) > NOTHING:
        return 0.0, 0.0
    share, open_ = float(wrong.mean()), most_wrong(0.0, float(len(wrong)))
    return min(share, open_), min(1 - share, open_)
