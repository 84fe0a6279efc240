"""Is one class found on seen combinations and missed on unseen ones? Of a rare one a mean error hides it.

Who gives each combination its usual class never finds a class that is usual nowhere. So combinations are compared with
those where a class is about as frequent among the other rows; and one with a single row is not, as it has none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.finding import LEVEL
from recombine.mechanisms.answers.names import brief, share
from recombine.mechanisms.compared.comparing import also_trained
from recombine.mechanisms.compared.losing import HALF
from recombine.statistics import FloatArray, more_often

FREQUENT = (0.1, 0.25, 0.5)
"""Shares of a class between which combinations count as alike; beyond the last one it is usual there."""
FEWEST_ROWS = 5
MORE_THAN_OTHERS = 2.0
"""Rows of other classes that are missed besides tell of noise, which makes as many of this one by chance."""


def class_lost(answers: Answers) -> str:
    """That more than half of a class is lost, in a clause: its recall on unseen combinations is less than half of what
    it is on seen ones where it is as frequent, and it is missed at more combinations than chance gives (Fisher,
    one-sided at .01 over all that is looked at). Nothing where noise may be what makes it."""
    hits, classes = answers.hits, answers.classes
    if hits is None or classes is None or not (answers.compared.any() and answers.unseen.any()):
        return ""
    n = answers.counts[:, None]
    due, got = np.rint(answers.target * n), np.rint(hits * n)
    expected = np.stack([_expected(answers, due, got, c) for c in range(len(classes))], axis=1)
    here = answers.unseen[:, None] & np.isfinite(expected)
    lost = np.where(here, expected - got, 0.0).sum(axis=0)
    whole, found = (np.where(here, each, 0.0).sum(axis=0) for each in (expected, got))
    for c in np.argsort(-lost, kind="stable"):
        noise = MORE_THAN_OTHERS * _missed_besides(answers, due, got, int(c))
        if due[here[:, c], c].sum() < FEWEST_ROWS or found[c] >= HALF * whole[c] or lost[c] <= noise:
            continue
        if _missed_more(answers, due, got, int(c)):
            seen, unseen = (share(got[at, c].sum() / due[at, c].sum()) for at in (answers.compared, answers.unseen))
            return (
                f"the class {brief(classes[c])!r} is mostly lost: {unseen} of its rows are found on unseen "
                f"combinations, {seen} on seen ones, beyond chance and beyond what other classes lose"
            )
    return ""


def _alike(answers: Answers, due: FloatArray, c: int) -> NDArray[np.int64]:
    """Which combinations are alike in how frequent a class is among the rows besides one; -1 where nothing is compared:
    the class does not occur, or nobody who knows the factors alone would find it."""
    counts = due + also_trained(answers)
    others = counts[:, c] - 1, counts.sum(axis=1) - 1
    alike = np.searchsorted(FREQUENT, others[0] / np.maximum(others[1], 1))
    tells = alike == len(FREQUENT)
    if answers.varies and answers.like:  # On training rows, what is told apart may be known by heart.
        tells = np.ones_like(tells)
    return np.where((due[:, c] > 0) & (others[1] > 0) & tells, alike, -1)


def _expected(answers: Answers, due: FloatArray, got: FloatArray, c: int) -> FloatArray:
    """How many rows of a class would be found at each combination, were they found as on seen ones that are alike; not
    a number where none is."""
    alike, found = _alike(answers, due, c), np.full(len(due), np.nan)
    for kind in set(alike[answers.compared].tolist()) - {-1}:
        at = alike == kind
        known = at & answers.compared
        found[at] = due[at, c] * got[known, c].sum() / due[known, c].sum()
    return found


def _missed_besides(answers: Answers, due: FloatArray, got: FloatArray, c: int) -> float:
    """Rows of all other classes that are missed on unseen combinations beyond their share on seen ones."""
    others = np.delete(due, c, axis=1).sum(axis=1), np.delete(got, c, axis=1).sum(axis=1)
    (seen, found), (asked, there) = (
        [float(each[at].sum()) for each in others] for at in (answers.compared, answers.unseen)
    )
    return max(0.0, asked * found / seen - there) if seen else asked - there


def _missed_more(answers: Answers, due: FloatArray, got: FloatArray, c: int) -> bool:
    """Whether a class is missed, in most of its rows, at more unseen combinations than seen ones that are alike. Rows
    of one combination may be missed together."""
    alike, missed = _alike(answers, due, c), got[:, c] <= HALF * due[:, c]
    kinds = sorted(set(alike.tolist()) - {-1})
    for kind in kinds:
        sides = [(alike == kind) & at for at in (answers.unseen, answers.compared)]
        counts = [int(each.sum()) for at in sides for each in (at & missed, at)]
        if more_often(*counts) <= LEVEL / (len(due[0]) * len(kinds)):
            return True
    return False
