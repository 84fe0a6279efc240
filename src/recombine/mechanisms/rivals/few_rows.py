"""Do few rows of unseen combinations say more than the noise of seen ones does?

Of fewer than six unseen combinations of classes, rows are all there is to vary over. If a row there is wrong no more
often than rows of seen combinations may be (95 %), so many wrong ones have the chance

    Binomial(rows, most) ≥ wrong,

which is to be below .01 before they convict anyone: one row that is wrong is never enough unless hundreds are right.
And one combination that is right stands for no other, of classes as of numbers.
"""

from __future__ import annotations

import numpy as np

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.names import share
from recombine.mechanisms.causes.evidence import FAILING
from recombine.mechanisms.compared.comparing import most_wrong
from recombine.mechanisms.rivals.luck import at_least
from recombine.statistics import FEW

SURE = 0.01


def too_few(answers: Answers, verdict: str) -> str:
    """Why such a verdict cannot be given of so few combinations and rows, in a clause; nothing where it can."""
    if answers.classes in (None, ("",)) or not answers.compared.any() or not 0 < answers.unseen.sum() < FEW:
        return ""
    if verdict == "composes":
        return one_alone(answers)
    return _may_be_noise(answers) if verdict in FAILING else ""


def one_alone(answers: Answers) -> str:
    """That one combination of one model stands for no others, in a clause."""
    unseen, seen = (int(at.sum()) for at in (answers.unseen, answers.compared))
    if len(answers.members) > 1 or min(unseen, seen) > 1:
        return ""
    return f"{unseen:,} unseen and {seen:,} seen were asked about, and one stands for no others: it takes two of each"


def _may_be_noise(answers: Answers) -> str:
    """That rows of unseen combinations may be wrong as those of seen ones are, in a clause."""
    error, n, away, at = answers.error.mean(axis=0), answers.counts, answers.unseen, answers.compared
    rows, known = int(n[away].sum()), float(n[at].sum())
    wrong, most = float(n[away] @ error[away]), most_wrong(float(np.average(error[at], weights=n[at])), known)
    if at_least(np.rint([wrong]), np.array([rows]), np.array([most]))[0] <= SURE:
        return ""
    first = "one row tells nothing" if rows == 1 else f"{rows:,} rows, {wrong:.3g} of them wrong, tell little"
    return f"{first} where up to {share(most)} of rows may be wrong anyway, as the {known:,.0f} of seen ones leave open"
