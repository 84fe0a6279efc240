"""Were new rows of seen combinations answered right by luck?

Nobody answers new rows of a combination better than its training rows, in the long run. Where few new rows were, beyond
the noise of either, a gap to them is luck in part: it has to be one to the training rows as well. Of classes alone, as
single numbers among training rows may be far off; and where training rows that share a combination tell their noise.
"""

from __future__ import annotations

import numpy as np

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import NOTHING, ranged, share
from recombine.mechanisms.compared.comparing import REPLICATES, also_trained, average, missed_by_others
from recombine.mechanisms.compared.overfitting import beside_training
from recombine.statistics import FloatArray, Over


def lucky(answers: Answers, beyond: FloatArray, over: Over, margin: float) -> str:
    """That new rows of seen combinations were answered better than their training rows, to which there is no clear gap,
    in a clause; nothing where that is not so. ``beyond``: errors beyond the noise (members × combinations)."""
    if answers.classes in (None, ("",)) or not answers.like or not answers.space.finite:
        return ""
    at, known = beside_training(answers)
    theirs = also_trained(answers)
    rows = theirs.sum(axis=1)
    at &= rows > 0
    several = at & (rows > 1)
    if not at.any() or float((rows[at] - 1).sum()) < REPLICATES:
        return ""
    each = missed_by_others(theirs, np.zeros_like(theirs))
    noise = np.where(several, each, np.average(each[several], weights=rows[several] - 1))
    left = known - noise
    if not left[:, at].mean() > beyond[:, at].mean() + NOTHING:
        return ""
    width = average(answers, over, (1.0, beyond, answers.unseen), (-1.0, left, at))
    if not width.bounded or width.low > margin:
        return ""
    new, trained = (share(float(error[:, at].mean())) for error in (answers.error, known))
    return (
        f"new rows of seen combinations were answered better ({new}) than training rows of the same ones ({trained}), "
        f"which is luck; the gap to these is {ranged(width)}"
    )
