"""Does a learner know training rows better than new rows of the same combinations?

Errors are compared combination by combination, each counting alike: training may have most of its rows where a learner
errs little, and all its rows together then say nothing of the combinations that new rows are of.

Errors alone do not say it: new rows may be noisier than training rows were (another instrument, hurried labels), and
then cost whoever is right more. So the noise of both is held against each other, each told by rows that share their
combination: what new rows cost more by their noise is taken off before they are compared with training rows. A learner
that knows training's noise by heart errs less than that noise there, and overfits as before.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, ndtr

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.compared.comparing import REPLICATES, also_trained, average, missed_by_others
from recombine.mechanisms.compared.losing import HALF, LITTLE
from recombine.statistics import FloatArray, Over

BY_CHANCE = 0.05
"""How often rows that are as noisy may count as noisier. Small noise of few rows, which passes, moves errors little."""


@dataclass(frozen=True)
class Noisier:
    """The noise of new rows and that of training rows, in units of the error, …"""

    new: float
    known: float
    doubt: float
    """… half the width of a 95 % interval for the difference, …"""
    clearly: bool
    """… and whether new rows are noisier than chance gives."""


def better_on_training_rows(answers: Answers, over: Over, margin: float) -> bool:
    """Whether training rows are answered better than new rows of the same combinations, by more than the margin and by
    more than these are noisier."""
    if not answers.like:
        return False
    at, known = beside_training(answers)
    if not at.any():
        return False
    worse = average(answers, over, (1.0, answers.error, at), (-1.0, known, at))
    if not (worse.bounded and worse.low > margin):
        return False
    if (more := noisier(answers)) is None or not more.clearly:
        return True
    new, trained = float(answers.error[:, at].mean()), float(known[:, at].mean())
    if trained < HALF * more.known and new > LITTLE * more.new:
        return True  # Who is that near to noisy training rows, and not to new ones, knows them by heart.
    return worse.mean - (more.new - more.known) - hypot(worse.mean - worse.low, more.doubt) > margin


def beside_training(answers: Answers) -> tuple[NDArray[np.bool_], FloatArray]:
    """The seen combinations with new rows whose training rows were answered too, and the errors on these (members ×
    combinations; NaN elsewhere). Where they are known as a whole alone, that is the error of each."""
    known = np.full(answers.error.shape, np.nan)
    trained = answers.trained
    if trained is not None and trained.error is not None:
        place = {tuple(code): row for row, code in enumerate(trained.codes.tolist())}
        rows = np.array([place.get(tuple(code), -1) for code in answers.codes.tolist()], dtype=np.int64)
        known[:, rows >= 0] = trained.error[:, rows[rows >= 0]]
    elif answers.fit is not None:
        known[:] = answers.fit[:, None]
    return answers.compared & np.isfinite(known).all(axis=0), known


def training_error(answers: Answers) -> float:
    """The mean error on the training rows of these combinations, each counting alike; of all training rows where there
    are no such combinations."""
    at, known = beside_training(answers)
    return float(known[:, at].mean()) if answers.like and at.any() else float(np.nanmean(answers.training_error))


def noisier(answers: Answers) -> Noisier | None:
    """By how much new rows of seen combinations are noisier than training rows; None where too few rows share a
    combination to tell."""
    if not answers.like or answers.trained is None or answers.trained.borrowed or not answers.space.finite:
        return None
    return _of_numbers(answers) if answers.classes is None else _of_classes(answers)


def _of_numbers(answers: Answers) -> Noisier | None:
    """Variances within combinations: of new rows of seen ones or, where few of these share one, of all new rows."""
    trained, n = answers.trained, answers.counts
    if trained is None or answers.within is None or (trained.inside is None and not trained.within > 0):
        return None
    at = answers.compared
    at = at if int((n[at] - 1).sum()) >= REPLICATES else at | answers.unseen
    rows = float(trained.weights.sum())
    free, theirs = float((n[at] - 1).sum()), rows - len(trained.weights)
    if min(free, theirs) < REPLICATES:
        return None
    new, known = float(n[at] @ answers.within[at]) / free, trained.within * rows / theirs
    doubt = 1.96 * hypot(new * np.sqrt(2 / free), known * np.sqrt(2 / theirs))
    clearly = new > 0 and (known <= 0 or float(fdtrc(free, theirs, new / known)) < BY_CHANCE)
    return Noisier(new, known, doubt, clearly)


def _of_classes(answers: Answers) -> Noisier | None:
    """How often a row is not of the most frequent class of the others of its combination, new rows and training rows
    together: so many tell the same of both."""
    if answers.classes == ("",):
        return None
    own, theirs = np.rint(answers.target * answers.counts[:, None]), also_trained(answers)
    both = (own.sum(axis=1) > 0) & (theirs.sum(axis=1) > 0)
    own, theirs = own[both], theirs[both]
    if float((own + theirs).sum()) - len(own) < REPLICATES:
        return None
    rows, others = float(own.sum()), float(theirs.sum())
    new, *known = (
        float(np.clip(missed_by_others(a, b).mean(), 0, 1))
        for a, b in ((own, theirs), (theirs, own), (theirs, np.zeros_like(own)))
    )
    least = min(known)  # Noisy new rows may outvote training rows that all agree.
    spread = hypot(np.sqrt(new * (1 - new) / rows), np.sqrt(least * (1 - least) / others))
    clearly = new > least and (spread == 0 or float(ndtr((least - new) / spread)) < BY_CHANCE)
    return Noisier(new, least, 1.96 * spread, clearly)
