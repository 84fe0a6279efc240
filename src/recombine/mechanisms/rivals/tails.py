"""Are errors so heavy-tailed that an interval of their mean cannot be trusted?

The mean of |x| over the root of the mean of x² is √(2/π) = .80 for normal numbers, less for heavier tails (Geary 1935);
of n of them it varies by √((1 − 3/π)/n). Squares of t with three degrees of freedom have .64, and a 95 % interval of
their mean covers about 8 times in 10 (`statistics.combinations`). Told of combinations whose rows err alike, or that
have one: a mean over several rows hides the tail from this number, though not from the interval.
"""

from __future__ import annotations

import numpy as np

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING, score
from recombine.mechanisms.compared.comparing import average
from recombine.statistics import FEW, Over

NORMAL, SPREAD = np.sqrt(2 / np.pi), np.sqrt(1 - 3 / np.pi)
BEYOND = 1.645
"""Standard errors below what normal errors give: one in twenty of these at most."""
ENOUGH = 40
"""Combinations, seen and unseen, from which on an interval of squares of such t held the truth, or their tails were
told, in 85 % of planted tables or more (12 to 36 combinations: 73 to 84 %, and 66 to 70 % of those not told)."""


def heavy_tails(answers: Answers, over: Over) -> str:
    """That errors are heavier-tailed than normal ones, with what mean absolute errors say, in a note; or that so few
    hardly tell; else nothing."""
    sides = (answers.unseen, answers.compared)
    error = answers.error.mean(axis=0)
    if answers.classes is not None or any(at.sum() < 2 or not error[at].mean() > NOTHING for at in sides):
        return ""
    count = sum(int(at.sum()) for at in sides)
    ratio = sum(float(np.sqrt(error[at]).sum() / np.sqrt(error[at].mean())) for at in sides) / count
    if min(at.sum() for at in sides) < FEW or not ratio < NORMAL - BEYOND * SPREAD / np.sqrt(count):
        few = (
            f"Intervals are meant for 95 %; if errors are heavy-tailed, which {count} combinations hardly tell, about "
        )
        return f"{few}7 in 10 hold." * (count < ENOUGH and len(answers.members) == 1)
    away, at = sides
    said = (
        f"Errors are heavy-tailed: over combinations their root mean square is {1 / ratio:.2f} times their mean size, "
        f"{1 / NORMAL:.2f} times if they were normal. An interval of their mean may end too low: of planted errors "
        "with heavy tails 75 to 93 % held the truth, where 95 % are meant."
    )
    if (off := answers.scores.get("mae")) is None:
        return said
    gap = average(answers, over, (1.0, off, away), (-1.0, off, at))
    unseen, seen, mean, low, high = (
        score("mae", float(x)) for x in (off[:, away].mean(), off[:, at].mean(), gap.mean, gap.low, gap.high)
    )
    return (
        f"{said} Mean absolute errors hang less on a few: {unseen} on unseen against {seen} on seen combinations, a "
        f"gap of {mean} [{low}, {high}]."
    )
