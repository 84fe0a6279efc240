"""Are rows of one combination told apart, more than chance gives?

Whoever jitters answers at random leaves less of their noise than there is as well, now and then: the fewer rows share a
combination, the oftener. Of numbers with any jitter, however wide, that is independent of the answers, the share of the
noise that is left falls below 1 - z² / rows as rarely as a normal value exceeds z: jitter of variance v costs v, and
gains 2 z √(v / rows) at best. Of classes it is known how much dealing the same answers anew among the rows of a
combination varies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.compared.comparing import unread

SURELY = 2.326
"""Standard errors: one in a hundred by chance, on one side."""
FAR_LESS = 0.1
"""Share of the noise that a learner may leave before it is said that the answer may have leaked."""


def told_apart(answers: Answers, at: NDArray[np.bool_]) -> bool:
    """Whether the rows of these combinations are told apart, more than chance gives."""
    n, left = answers.counts[at].astype(np.float64), unread(answers, at)
    free = float((n - 1).sum())
    if not free > 0 or not left < 1:
        return False
    if answers.classes is None:
        return left < 1 - SURELY**2 / free
    said, right = answers.predicted[:, at], answers.target[at][None]
    alike = (said * right).sum(axis=2)
    spread = alike - (said * right**2).sum(axis=2) - (said**2 * right).sum(axis=2) + alike**2
    doubt = float(np.sqrt((spread.clip(0) / np.maximum(n - 1, 1)).sum()))
    return float((1 - alike - answers.error[:, at]).sum()) > SURELY * doubt


def follows_rows(answers: Answers) -> bool:
    """Whether rows of one unseen combination are followed far more closely than the factors allow."""
    return unread(answers, answers.unseen) < FAR_LESS and told_apart(answers, answers.unseen)


def more_than(answers: Answers, at: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
    """Whether rows of the former combinations are told apart more than those of the latter."""
    less, more = unread(answers, at), unread(answers, other)
    rows = [float((answers.counts[side] - 1).sum()) for side in (at, other)]
    if min(rows) <= 0:
        return False
    middle = (less + more) / 2
    return more - less > SURELY * float(np.sqrt(4 * middle * (1 - middle) * (1 / rows[0] + 1 / rows[1])))
