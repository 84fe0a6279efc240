"""Are small answers off by a factor, where squared errors tell of large ones alone?

Prices, counts and doses vary over orders of magnitude, and the largest make nearly all of their squares: to answer half
of all combinations by 0 may cost less than the margin. Where that is so, combinations are counted whose answer is off
by more than a factor, whatever the noise of their rows, and unseen ones held against seen ones (Fisher, one-sided).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recombine.checks.exact.identifiability import UNSEEN
from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.finding import LEVEL
from recombine.mechanisms.causes.determined import standing
from recombine.mechanisms.compared.comparing import noise_within
from recombine.mechanisms.compared.losing import HALF
from recombine.mechanisms.rivals.outlying import MOST
from recombine.statistics import FloatArray, more_often

FACTOR = 1.5
DOUBT = 2.0
"""Standard errors that a mean answer may be off by besides, …"""
NEXT = 4
"""… where rows of as many combinations that are next in size, to either side, tell the noise."""


def times_off(answers: Answers, margin: float) -> tuple[str, str]:
    """The verdict and why, in a clause, where clearly more of the unseen combinations than of seen ones are off by a
    factor, and a fifth of them at least; nothing where they are not, or squared errors would tell."""
    if not _hides(answers, margin) or (off := _off(answers)) is None:
        return "", ""
    asked = answers.unseen & (standing(answers) != UNSEEN) & (answers.target[:, 0] > 0)
    known = answers.compared & (answers.target[:, 0] > 0)
    count, of, seen, of_seen = (int(side.sum()) for side in (off & asked, asked, off & known, known))
    if count < MOST * of or not more_often(count, of, seen, of_seen) <= LEVEL:
        return "", ""
    return "fails" if count > HALF * of else "partly", (
        f"{count:,} of {of:,} unseen combinations are off by more than a factor of {FACTOR:g}, beyond the noise, of "
        f"seen ones {seen:,} of {of_seen:,}: large answers make up squared errors, which do not show it. Logarithms "
        "judge small answers as they judge large ones"
    )


def _hides(answers: Answers, margin: float) -> bool:
    """Whether no answer is below 0, and 0 for the smaller half of them would cost less than the margin."""
    trained = answers.trained
    if answers.classes is not None or trained is None or answers.target.shape[1] > 1 or not answers.seen.any():
        return False
    if min(answers.target.min(), trained.answers.min()) < 0 or not np.isfinite(answers.predicted).all():
        return False
    sizes = np.sort(trained.answers[:, 0])
    return bool(np.square(sizes[: len(sizes) // 2]).sum() < margin * answers.scale * len(sizes))


def _off(answers: Answers) -> NDArray[np.bool_] | None:
    """Which combinations get an answer that is off by more than the factor, were the right one as far off as its rows
    leave open; none where no rows tell. Many rows of unseen ones leave no less open than those of seen ones."""
    if (noise := noise_within(answers)) is None:
        return None
    right, said = answers.target[:, 0], answers.predicted.mean(axis=0)[:, 0]
    rows = np.minimum(answers.counts, np.median(answers.counts[answers.compared]))
    doubt = DOUBT * np.sqrt(answers.scale * np.maximum(noise, _noise_next(answers, noise)) / rows)
    return np.asarray((said > FACTOR * (right + doubt)) | (said < (right - doubt) / FACTOR))


def _noise_next(answers: Answers, noise: FloatArray) -> FloatArray:
    """The noise of combinations with answers of about the same size: few rows of one may agree by chance."""
    order, near = np.argsort(answers.target[:, 0], kind="stable"), np.ones(2 * NEXT + 1)
    each, free = (np.convolve(v[order], near)[NEXT:-NEXT] for v in (noise * (answers.counts - 1), answers.counts - 1.0))
    found = np.empty_like(noise)
    found[order] = np.where(free > 0, each / np.maximum(free, 1), noise[order])
    return found
