"""Do classes tell anything, where one of them is the best answer nearly everywhere?

Of a rare event the usual class is the best answer, so that who knows all chances and who knows none give the same one.
Probabilities tell them apart: the chance of the event is then held against 1 and 0, as numbers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from recombine.mechanisms.answers import Answers
from recombine.mechanisms.columns import Columns
from recombine.mechanisms.losing import LITTLE
from recombine.mechanisms.names import brief


def usual_class(answers: Answers) -> int | None:
    """The class that is usual in training, where giving each combination its own usual class saves less than a tenth of
    what that one costs; None where it saves more, or where single rows do not tell."""
    trained = answers.trained
    if answers.classes is None or trained is None:
        return None
    shares = np.average(trained.answers, axis=0, weights=trained.weights)
    least = np.average(1 - trained.answers.max(axis=1), weights=trained.weights)
    return int(shares.argmax()) if least >= LITTLE * (1 - shares.max()) > 0 else None


def rare_event(every: Sequence[Answers]) -> str | None:
    """Of two classes the one whose chances are to be judged as numbers: the rare one, where all of these learners give
    probabilities and the classes of the first do no better than the usual one on seen combinations."""
    first = every[0]
    usual = usual_class(first)
    if usual is None or len(first.classes or ()) != 2 or not all("log loss" in answers.scores for answers in every):
        return None
    at = first.compared if first.compared.any() else first.unseen
    if first.error[:, at].mean() < LITTLE * (1 - first.target[at, usual]).mean():
        return None  # It reads more than the factors.
    return (first.classes or ())[1 - usual]


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
    usual = next(name for name in answers.classes or () if name != event)
    return (
        f"The class {brief(usual)!r} is the best answer at nearly every combination, so that classes hardly tell what was "
        f"learnt. So the chances of {brief(event)!r} are judged, as numbers against 1 and 0; --target-kind class judges "
        "the classes."
    )
