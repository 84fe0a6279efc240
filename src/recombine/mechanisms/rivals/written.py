"""Are the answers right but for how they are written: shifted, turned round, in other units, under other names?

Who is 3.2 too high everywhere, or answers in per cent, does not count as fitted, and no more is learnt from that. So
right answers are looked for in the given ones on seen combinations,

    y ≈ g(p),

where g adds a number, multiplies by one, does both, or undoes a logarithm (of classes see `renamed.py`). Each
combination is answered by a fit without it. It is said where g makes most of the error there and what it leaves knows
something, which answers that follow nothing hardly give by chance.

Who was trained too little says numbers near one mean that follow the answers loosely: a factor makes these better, too.
So where a factor of 1 to 50 that is no power of ten leaves more than a tenth of what right answers vary by, it is said
first that training was too short.

One level that is biased, or of another unit, looks the same where its answers are the largest, and g would spoil the
right ones. So it is not said where the others are clearly nearer as they stand once one level is left out, nor where
unseen combinations would be answered worse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtr

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.finding import LEVEL
from recombine.mechanisms.answers.names import score, share
from recombine.mechanisms.compared.comparing import noise_within
from recombine.mechanisms.compared.losing import HALF, QUARTER
from recombine.mechanisms.rivals.one_level import levels_tried
from recombine.mechanisms.rivals.renamed import other_class, renamed
from recombine.statistics import FEW, FloatArray, t_quantile

SIMPLER = 0.02
"""Share of the spread of the answers that a simpler way of writing may leave beyond the best one."""
TIMES = 1.5
"""How many times as much it may leave as the best one."""
MEASURE_AGAIN, TRAIN_ON = "and measure again", "train on, and check units if that stays so"
UNITS = "check units, signs, and how answers were scaled or centred for training"
LOGS = "check whether answers were transformed for training, and predictions never back"
PULLED = ", or whether a penalty or early stopping pulls them towards their mean"
PUT_RIGHT = "Once answers are put right: "
"""What comes before what is said of answers as they would then be."""
NEAR = 1.1
"""How many times off a slope may be that is still taken for a power of ten."""
LOOSELY = 0.1
"""Share of the spread of right answers beyond which what is left is more than a mere change of units leaves."""
LONGEST = 50
"""A longer stretch than so many times is no lack of training: networks begin at about a twentieth of the spread."""
MOST_PULLED = 10
"""How many times as far from their mean answers may lie as predictions that a penalty pulls there."""
Fit = Callable[[FloatArray, FloatArray], FloatArray]
"""The numbers a and b of y = a + b·p."""


@dataclass(frozen=True)
class Written:
    """How predictions are written otherwise."""

    said: str = ""
    """In sentences without a full stop; nothing where they are right as they are, or no other way of writing makes them
    so."""
    pulled: bool = False
    """Whether a penalty or early stopping could have pulled them towards their mean, so that they may be meant so."""
    right: Answers | None = None
    """Numbers as they would be, put right. What is wrong with levels and combinations besides is looked for in these,
    as the largest answers err most by how they are written."""


def written(answers: Answers, fitted: float) -> Written:
    """How predictions are written. ``fitted``: the error beyond the noise up to which they are right."""
    at = answers.compared
    if int(at.sum()) < FEW or not np.isfinite(answers.predicted[:, at | answers.unseen]).all():
        return Written()
    if answers.classes is not None:
        return Written() if answers.classes == ("",) else Written(renamed(answers, fitted) or other_class(answers))
    return _rewritten(answers, fitted) if answers.target.shape[1] == 1 else Written()


@dataclass(frozen=True)
class _Way:
    """One way of writing: answers as they are or undone, and the line that is fitted to them."""

    name: str
    undo: Callable[[FloatArray], FloatArray]
    fit: Fit
    numbers: int
    """How many the line has that are fitted."""


def _same(p: FloatArray) -> FloatArray:
    return p


def _kept(p: FloatArray, y: FloatArray) -> FloatArray:
    return np.array([0.0, 1.0])


def _turned(p: FloatArray, y: FloatArray) -> FloatArray:
    return np.array([0.0, -1.0])


def _moved(p: FloatArray, y: FloatArray) -> FloatArray:
    return np.array([y.mean() - p.mean(), 1.0])


def _less(p: FloatArray, y: FloatArray) -> FloatArray:
    return np.array([y.mean() + p.mean(), -1.0])


def _times(p: FloatArray, y: FloatArray) -> FloatArray:
    return np.array([0.0, p @ y / max(float(p @ p), 1e-300)])


def _line(p: FloatArray, y: FloatArray) -> FloatArray:
    own = p - p.mean()
    slope = own @ y / max(float(own @ own), 1e-300)
    return np.array([y.mean() - slope * p.mean(), slope])


WAYS = (
    _Way("turned", _same, _turned, 0),
    _Way("shift", _same, _moved, 1),
    _Way("less", _same, _less, 1),
    _Way("times", _same, _times, 1),
    _Way("natural logarithms of", np.exp, _kept, 0),
    _Way("natural logarithms of 1 more than", np.expm1, _kept, 0),
    _Way("logarithms to base 10 of", lambda p: np.power(10.0, p), _kept, 0),
    _Way("log-odds of", expit, _kept, 0),
    _Way("line", _same, _line, 2),
)


def _rewritten(answers: Answers, fitted: float) -> Written:
    p, y, at, away = answers.predicted.mean(axis=0)[:, 0], answers.target[:, 0], answers.compared, answers.unseen
    each = noise_within(answers)
    noise = np.zeros(len(y)) if each is None else answers.scale * each / answers.counts
    given, spread = _beyond(p - y, noise, at), _beyond(y - y[at].mean(), noise, at)
    if not (given > fitted * answers.scale and spread > 0 and np.ptp(p[at]) > 0):
        return Written()
    with np.errstate(over="ignore", invalid="ignore"):
        left = {way: _beyond(_left_out(way, p[at], y[at]), noise[at]) for way in WAYS}
    left = {way: own for way, own in left.items() if np.isfinite(own)}
    most = TIMES * min(left.values()) + SIMPLER * spread
    way = min((way for way, own in left.items() if own <= most), key=lambda way: (way.numbers, left[way]))
    a, b = way.fit(way.undo(p[at]), y[at])
    if not (left[way] <= QUARTER * given and left[way] <= HALF * spread and _no_chance(way, p[at], y[at], b)):
        return Written()
    put = _left_out(way, p[at], y[at])
    if _but_for_a_level(answers, (p - y)[at], put, noise[at], SIMPLER * spread):
        return Written()
    now, then, sides = [given], [left[way]], ["seen"]
    if away.any():
        with np.errstate(over="ignore"):
            now, then = [*now, _beyond(p - y, noise, away)], [*then, _beyond(a + b * way.undo(p) - y, noise, away)]
        if then[1] > now[1]:
            return Written()
        sides.append("unseen")
    if way.numbers and 1 < b < LONGEST and left[way] > LOOSELY * spread and not _power_of_ten(float(b)):
        return Written(_too_little(float(b), left[way] / spread))
    said, pulled = _words(way, p[at], y[at], float(a), float(b))
    advice = (UNITS if way.undo is _same else LOGS) + PULLED * pulled
    off = "mean answers would be off by an error" + " beyond the noise" * bool(noise.any())
    right = " and ".join(f"{share(e / answers.scale)} on {side}" for e, side in zip(then, sides, strict=True))
    before = " and ".join(share(e / answers.scale) for e in now)
    put_right = f"Put right, {off} of {right} combinations, instead of {before}"
    with np.errstate(over="ignore"):
        right_ones = _put_right(answers, lambda values: a + b * way.undo(values))
    return Written(f"{said}. {put_right}: {advice}, {MEASURE_AGAIN}", pulled, right_ones)


def _put_right(answers: Answers, put: Callable[[FloatArray], FloatArray]) -> Answers:
    """The same answers, written as the right ones are."""
    predicted, trained = put(answers.predicted), answers.trained
    if trained is not None and trained.said is not None:
        trained = replace(trained, said=put(trained.said), error=None)
    error = np.stack([answers.errors_of(own) for own in predicted])
    return replace(answers, predicted=predicted, error=error, trained=trained, fit=None, bare=None, besides={})


def _but_for_a_level(answers: Answers, now: FloatArray, put: FloatArray, noise: FloatArray, little: float) -> bool:
    """Whether seen combinations without one level, or pair of levels, are clearly nearer as they are (off by ``now``)
    than ``put`` right: it is that level then, and no way of writing that all answers share."""
    tried = (here[answers.compared] for here in levels_tried(answers).values())
    return any(TIMES * _beyond(now, noise, ~here) + little < _beyond(put, noise, ~here) for here in tried)


def _beyond(off: FloatArray, noise: FloatArray, at: NDArray[np.bool_] | slice = slice(None)) -> float:
    found = float(np.square(off[at]).mean() - noise[at].mean())
    return max(0.0, found) if np.isfinite(found) else np.inf


def _left_out(way: _Way, p: FloatArray, y: FloatArray) -> FloatArray:
    """What each combination is off by, answered by a fit without it."""
    x, n = way.undo(p), len(p)
    a, b = way.fit(x, y)
    off = y - a - b * x
    if way.name in ("shift", "less"):
        return np.asarray(off * n / (n - 1))
    if way.name == "times":
        return np.asarray(off / np.maximum(1 - np.square(x) / max(float(x @ x), 1e-300), 1e-9))
    if way.name == "line":
        own = np.square(x - x.mean())
        return np.asarray(off / np.maximum(1 - 1 / n - own / max(float(own.sum()), 1e-300), 1e-9))
    return np.asarray(off)


def _no_chance(way: _Way, p: FloatArray, y: FloatArray, slope: float) -> bool:
    """Whether the right answers go with the given ones as chance rarely has it, and these are no faint echo of them
    turned round, which a mean of all other answers is."""
    x, n = way.undo(p), len(p)
    if way.numbers and not (slope > 0 or HALF <= -slope <= 1 / HALF):
        return False
    r = float(np.corrcoef(x, y)[0, 1])
    r = -r if slope < 0 else r
    return bool(stdtr(n - 2, -r * np.sqrt((n - 2) / max(1 - r * r, 1e-12))) * 2 * len(WAYS) <= LEVEL)


def _power_of_ten(slope: float) -> bool:
    places = np.log10(slope)
    return bool(np.rint(places) and abs(places - np.rint(places)) < np.log10(NEAR))


def _too_little(slope: float, left: float) -> str:
    """That predictions lie nearer together than would fit best and follow the answers loosely, in a sentence."""
    return (
        f"It looks trained too little: its answers lie {score('', 1 / slope)} times as far apart as would fit best "
        f"and, even then, would leave {share(left)} of what right ones vary by: {TRAIN_ON}"
    )


def _words(way: _Way, p: FloatArray, y: FloatArray, a: float, b: float) -> tuple[str, bool]:
    """How predictions are written, in a clause, and whether they may have been pulled towards their mean."""
    x, n = way.undo(p), len(p)
    left = float(np.square(y - a - b * x).sum()) / max(1, n - way.numbers)
    half = t_quantile(0.95, max(1, n - way.numbers)) * np.sqrt(left)
    pulled = 1 < b < MOST_PULLED and abs(p.mean() - y.mean()) < QUARTER * y.std()
    if way.name == "turned":
        return "Predictions are about the answers with the other sign", False
    if way.name == "shift":
        by, where = _ranged(abs(a), half / np.sqrt(n)), "below" if a > 0 else "above"
        return f"Predictions of seen combinations, too, lie {where} the answers, by {by}", False
    if way.name == "less":
        return f"Answers are about {_ranged(a, half / np.sqrt(n))} less the predictions", False
    if way.name == "times":
        half = half / np.sqrt(x @ x)
        if b < 1:
            return f"Predictions are about {_ranged(1 / b, half / b**2)} times the answers", False
        return f"Answers are about {_ranged(b, half)} times the predictions", bool(pulled)
    if way.name == "line":
        slope = _ranged(abs(b), half / np.sqrt(np.square(x - x.mean()).sum()))
        return (
            f"Answers are about {score('', a)} {'less' if b < 0 else 'plus'} {slope} times the predictions",
            bool(pulled),
        )
    return f"Predictions are about {way.name} the answers", False


def _ranged(value: float, half: float) -> str:
    """A number with its interval over seen combinations; without one where it is no wider than what is written."""
    mean, low, high = (score("", v) for v in (value, value - half, value + half))
    return mean if low == high else f"{mean} [{low}, {high}]"
