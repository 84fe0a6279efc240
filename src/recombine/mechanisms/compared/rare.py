"""Do classes tell anything, where one of them is the best answer nearly everywhere?

Of a rare event the usual class is the best answer, so that who knows all chances and who knows none give the same one.
Probabilities tell them apart: the chance of the event is then held against 1 and 0, as numbers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.columns import Columns
from recombine.mechanisms.answers.names import brief
from recombine.mechanisms.compared.losing import LITTLE

BEST = "The class {!r} is the best answer at nearly every combination, so that classes hardly tell what was learnt"


def usual_is_best(answers: Answers) -> int | None:
    """The usual class of training, where classes hardly tell anything: giving each combination its own usual class
    saves less than a tenth of what that one costs, and the learner's classes save no more on seen combinations. None
    where they tell something, or where single rows leave it open."""
    trained = answers.trained
    if answers.classes is None or trained is None:
        return None
    shares = np.average(trained.answers, axis=0, weights=trained.weights)
    least = np.average(1 - trained.answers.max(axis=1), weights=trained.weights)
    if not least >= LITTLE * (1 - shares.max()) > 0:
        return None
    usual, at = int(shares.argmax()), answers.compared if answers.seen.any() else answers.unseen
    own, always = answers.error[:, at].mean(), 1 - answers.target[at, usual].mean()
    return usual if own >= LITTLE * always else None  # Else it reads more than the factors.


def rare_event(every: Sequence[Answers]) -> str | None:
    """Of two classes the one whose chances are to be judged as numbers: the rare one, where the classes of the first of
    these learners hardly tell anything and all give probabilities."""
    usual, names = usual_is_best(every[0]), every[0].classes or ()
    if usual is None or len(names) != 2 or not all("log loss" in answers.scores for answers in every):
        return None
    return names[1 - usual]


def as_chances(frame: pl.LazyFrame, columns: Columns, sure: str, event: str) -> tuple[pl.LazyFrame, Columns]:
    """The rows with the chance of the event as the prediction. ``sure``: the column with the probability of the class
    that was the prediction."""
    chance, named = pl.col(sure), pl.col(columns.prediction)
    said = pl.when(columns.answer(columns.prediction) == event).then(chance).otherwise(1 - chance)
    frame = frame.with_columns(pl.when(named.is_not_null()).then(said).alias(columns.prediction))
    return happened(frame, columns, event), replace(columns, kind="number")


def happened(frame: pl.LazyFrame, columns: Columns, event: str) -> pl.LazyFrame:
    """The rows with 1 as the answer where it is the event, and 0 where it is not."""
    return frame.with_columns((columns.answer(columns.target) == event).cast(pl.Float64).alias(columns.target))


def judged_by_chances(answers: Answers, event: str) -> str:
    """That chances are judged, and why, in two sentences."""
    (usual,) = set(answers.classes or ()) - {event}
    return (
        f"{BEST.format(brief(usual))}. So the chances of {brief(event)!r} are judged, as numbers against 1 and 0; "
        "--target-kind class judges the classes."
    )


def chances_would_tell(answers: Answers) -> str:
    """That classes without probabilities hardly tell anything, in a sentence, where that is so."""
    usual = None if "log loss" in answers.scores else usual_is_best(answers)
    return "" if usual is None else f"{BEST.format(brief((answers.classes or ())[usual]))}; probabilities would."
