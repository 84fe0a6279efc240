"""Do unseen combinations get one fixed answer, or the right ones made smaller?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers import Answers, distance
from recombine.mechanisms.finding import FEWEST, Finding
from recombine.mechanisms.names import ranged
from recombine.mechanisms.rules import BEHAVIOUR
from recombine.statistics import FloatArray, Over

NEARLY_ALL = 0.9
"""Share of the squared error beyond the noise that a leak has to account for before it is named: answers that lack some
of what does not add up are smaller too, but not by one factor."""
FULL = 0.95
"""Answers that show this share of the right ones' variation, or more, have no leak."""


def fixed(asked: Answers, over: Over) -> Finding:
    """The share of unseen combinations that get one and the same answer."""
    if asked.classes is not None:
        usual = asked.predicted.mean(axis=1)
        each = np.stack([p[:, int(u.argmax())] for p, u in zip(asked.predicted, usual, strict=True)])
        due = float(np.mean([asked.target[:, int(u.argmax())].mean() for u in usual]))
    else:
        middle = np.median(asked.predicted, axis=1, keepdims=True)
        each = (distance(asked.predicted, middle) <= asked.tolerance).astype(np.float64)
        due = float((distance(asked.target, np.median(asked.target, axis=0)) <= asked.tolerance).mean())
    value = over.mean(each).within(0, 1)
    return Finding(
        "fixed", "memorization: one fixed answer", "unseen combinations that get one and the same answer", value,
        chance=due, reference="of the right ones", speaks=value.bounded and value.low >= 0.9 and due <= 0.5,
        limit=f"Of the right answers there, {due:.0%} are alike. {BEHAVIOUR}",
    )  # fmt: skip


def shrunk(asked: Answers, over: Over) -> Finding | str:
    """How much of the right answers' variation the answers show, 1/b of the line y = a + b·f.

    The right answer is regressed on the given one: the true mean of noisy answers has b = 1, and so has any rule that
    is fitted without bias; f = m · y has 1/b = m < 1, the memorization leak."""
    if asked.classes is not None:
        return "a slope needs numbers, and the answers are classes"
    if len(asked.codes) < FEWEST:
        return f"a slope over {len(asked.codes)} unseen combinations says nothing; {FEWEST} are needed"
    if not np.square(asked.target - asked.target.mean(axis=0)).sum() > 0:
        return "the right answers of all unseen combinations are alike"

    def shown(rows: NDArray[np.int64]) -> FloatArray:
        both, own = _moments(asked, rows)
        return np.where(both > 0, own / np.where(both > 0, both, 1.0), np.inf)

    value = over(shown, [len(asked.codes)])
    if not (value.bounded and value.high - value.low <= 1):
        why = ranged(value) if value.bounded else "the answers hardly go with the right ones"
        return f"how much of the right answers' variation is shown cannot be told: {why}"
    inside = 0.0 if asked.within is None else asked.scale * asked.within / np.maximum(asked.counts - 1, 1)
    off, left = (
        float((e - inside).mean()) for e in (np.square(asked.predicted - asked.target).mean(axis=2), _left(asked))
    )
    explains = min(max(0.0, 1 - left / off), 1.0) if off > 0 else 0.0
    shrinks = value.low > 0 and value.high < FULL
    lacks = f"it accounts for {explains:.0%} of the error beyond the noise; {NEARLY_ALL:.0%} are needed"
    return Finding(
        "leak", "memorization leak", "share of the right answers' variation that the answers show", value, chance=1.0,
        reference="without a leak", explains=explains, speaks=shrinks and explains >= NEARLY_ALL,
        why=lacks * (shrinks and explains < NEARLY_ALL),
        limit=f"Of squared error beyond the noise, {explains:.0%} would go if all answers were larger by one factor. "
        f"{BEHAVIOUR}",
    )  # fmt: skip


def stretched(asked: Answers) -> FloatArray:
    """Members × combinations: the error that is left when answers follow the line y = a + b·f; two numbers are fitted
    to as many combinations as there are."""
    free = len(asked.codes) / max(1, len(asked.codes) - 2)
    return np.asarray(_left(asked) * free / asked.scale + (0.0 if asked.within is None else asked.within))


def _left(asked: Answers) -> FloatArray:
    """Members × combinations: squares that the line leaves."""
    both, own = _moments(asked, np.arange(len(asked.codes)))
    slope = (both / np.maximum(own, 1e-300))[:, None, None]
    f = asked.predicted - asked.predicted.mean(axis=1, keepdims=True)
    return np.asarray(np.square(asked.target - asked.target.mean(axis=0) - slope * f).mean(axis=2))


def _moments(asked: Answers, rows: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Σ f·y and Σ f² of each member over some combinations, both about their means."""
    y = asked.target[rows] - asked.target[rows].mean(axis=0)
    f = asked.predicted[:, rows] - asked.predicted[:, rows].mean(axis=1, keepdims=True)
    return np.asarray((f * y).sum(axis=(1, 2))), np.asarray(np.square(f).sum(axis=(1, 2)))
