"""How far the error of few unseen combinations, and with it the gap, reaches: further than their own spread says.

Squares of few errors rarely have a large one among them. If errors are normal and k of them have the mean square m,
what that stands for reaches up to

    k m / χ²(k, .025),

which is six times m at five combinations, where t ends sooner. Errors to one side, of which the mean d is far from 0
and the variance s² is little, do not leave that much open: no more than

    (|d| + t s / √k)² + (k − 1) s² / χ²(k − 1, .025).

And combinations that are all right, or all wrong, have no spread: none wrong of n leaves 3 / n open (`most_wrong`),
however much the other side varies. Where so few were asked about that the interval is over their rows, that they fail
is told of them alone, and only the upper end reaches so far.
"""

from __future__ import annotations

from dataclasses import replace
from math import hypot

import numpy as np
from scipy.special import chdtri

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING
from recombine.mechanisms.compared.comparing import most_wrong
from recombine.statistics import T_BELOW, FloatArray, Interval, t_quantile


def reach(answers: Answers, error: Interval, width: Interval, beyond: FloatArray) -> tuple[Interval, Interval]:
    """The ``error`` on unseen combinations and the ``width`` of the gap, no narrower than few combinations allow
    (95 %); ``beyond``: errors beyond the noise. Members may err apart from each other, so that squares of several are
    not taken for one learner's."""
    unseen, seen = answers.unseen, answers.compared
    if not width.bounded or (answers.classes is None and len(answers.members) > 1):
        return error, width
    if answers.classes is None:
        up = _of_squares(beyond[0, unseen], _off(answers)) if unseen.sum() < T_BELOW else 0.0
        spread = float(beyond[0, seen].var(ddof=1)) / int(seen.sum())
        high = hypot(up, 1.96 * spread**0.5) if up else 0.0
        error = replace(error, high=max(error.high, error.mean + up)) if error.bounded else error
        return error, replace(width, high=max(width.high, width.mean + high))
    (down, up), (more, less) = (_of_one_kind(answers.error[:, at]) for at in (unseen, seen))
    if width.over == "examples":
        down = less = 0.0  # That these few combinations fail is certain, whatever others would do.
    return error, replace(
        width,
        low=width.mean - hypot(width.mean - width.low, down, less),
        high=width.mean + hypot(width.high - width.mean, up, more),
    )


def _off(answers: Answers) -> FloatArray:
    """What unseen combinations are off by, with its sign, so that its square is in units of the error; none where an
    answer is several numbers."""
    off = (answers.predicted[0] - answers.target)[answers.unseen] / answers.scale**0.5
    return np.asarray(off[:, 0] if off.shape[1] == 1 else off[:0, 0])


def _of_squares(squares: FloatArray, off: FloatArray) -> float:
    """How far up a mean square reaches if errors are normal, around 0 or around a mean of their own: the less."""
    k, mean = len(squares), max(0.0, float(squares.mean()))
    open_ = float(mean * (k / float(chdtri(k, 0.975)) - 1))
    if len(off) < 2:
        return open_
    own, s2 = abs(float(off.mean())), float(off.var(ddof=1))
    around = (own + t_quantile(0.95, k - 1) * (s2 / k) ** 0.5) ** 2 + (k - 1) * s2 / float(chdtri(k - 1, 0.975))
    return float(min(open_, max(0.0, around - float(np.square(off).mean()))))


def _of_one_kind(wrong: FloatArray) -> tuple[float, float]:
    """How far down and up a share (members × combinations) reaches that is the same everywhere; no further, where it
    varies."""
    if float(np.ptp(wrong)) > NOTHING:
        return 0.0, 0.0
    share, open_ = float(wrong.mean()), most_wrong(0.0, float(wrong.shape[1]))
    return min(share, open_), min(1 - share, open_)
