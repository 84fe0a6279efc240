"""Which seen combinations are clearly wrong, on the rows that were trained on and on new ones, where others are not?

A pair of levels whose rows were labelled amiss, or that a rule of the learner breaks, hides among seen combinations as
it does among unseen ones, and no gap shows it. Its training rows tell: their mean answer is farther off than the noise
takes it, of its own rows or of all, whichever is more (a t-test at .05, shared among all combinations), and than the
others are (Rosner). And training rows and new ones alike cost half of always giving the same answer, or more, new ones
to the same side and by more than two standard errors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtr

from recombine.mechanisms.answers.answered import Answers, Trained
from recombine.mechanisms.compared.losing import HALF
from recombine.mechanisms.rivals.outlying import outlying
from recombine.mechanisms.rivals.standing_out import LEVEL, NOT_SHOWN, listed
from recombine.statistics import FloatArray

AGREES = 2.0
"""Standard errors that new rows have to be off by, to the same side."""


def wrong_where_seen(answers: Answers, constant: float) -> NDArray[np.int64]:
    """Which they are, the worst first; none where predictions for training rows are not known. ``constant``: what
    always giving the same answer costs on these."""
    trained, none = answers.trained, np.zeros(0, dtype=np.int64)
    if trained is None or trained.said is None or not answers.like or not answers.space.finite:
        return none
    off = (trained.said - trained.answers)[:, 0]
    if trained.answers.shape[1] > 1 or not np.isfinite(off).all() or trained.inside is None:
        return none
    if not trained.inside.any():
        return none  # Single rows tell no noise.
    noise, freedom = _noise(trained)
    by_noise = 2 * stdtr(freedom, -np.abs(off) / np.sqrt(answers.scale * noise / trained.weights))
    found = outlying(off) & (by_noise <= LEVEL / len(off)) & (np.square(off) > HALF * constant * answers.scale)
    compared, error, rows = answers.compared, answers.error.mean(axis=0), list[int]()
    place = {tuple(code): row for row, code in enumerate(answers.codes.tolist()) if compared[row]}
    for i in np.flatnonzero(found):
        row = place.get(tuple(trained.codes[i].tolist()))
        if row is None or error[row] <= HALF * constant:
            continue
        new = float((answers.predicted.mean(axis=0) - answers.target)[row, 0]) * float(np.sign(off[i]))
        if new > AGREES * float(np.sqrt(answers.scale * noise[i] / answers.counts[row])):
            rows.append(row)
    return np.array(sorted(rows, key=lambda row: -error[row]), dtype=np.int64)


def wrong_words(answers: Answers, rows: NDArray[np.int64]) -> str:
    """Which they are, in a note; nothing where none is."""
    if not len(rows):
        return ""
    wrong = "is clearly wrong" if len(rows) == 1 else "are clearly wrong"
    return (
        f"{len(rows):,} of {int(answers.compared.sum()):,} seen combinations {wrong}{NOT_SHOWN}, on training "
        f"rows as on new ones: {listed(answers, rows)}. Look at the data and the labels there."
    )


def _noise(trained: Trained) -> tuple[FloatArray, FloatArray]:
    """The noise of each training combination, in units of the error, and how many rows tell it: that of all rows, of
    one of its levels or of its own, whichever is most; its own alone where they clearly vary more than all do (an
    F-test at .05)."""
    assert trained.inside is not None
    n, free = trained.weights, np.maximum(trained.weights - 1, 1)
    many = max(1.0, float((n - 1).sum()))
    pooled = float(n @ trained.inside) / many
    own = n * trained.inside / free
    most = np.maximum(own, pooled)
    for level in trained.codes.T:
        inside, rows = (np.bincount(level, values) for values in (n * trained.inside, n - 1))
        most = np.maximum(most, (inside / np.maximum(rows, 1))[level])
    return most, np.where(fdtrc(free, many, own / pooled) < LEVEL, free, many)
