"""All rows of seen combinations, those that were trained on with the new ones.

One new row of a combination hardly tells a wrong class from a noisy one, and a level that is wholly wrong passes for
noise. Its training rows tell, where they have predictions: who knows them by heart is right there, so that what is
wrong on them too is no matter of new rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recombine.mechanisms.answers.answered import Answers


def with_training(answers: Answers) -> Answers | None:
    """Classes of all rows of seen combinations, and of unseen ones as they are. None where there are no new rows to add
    to, predictions for training rows are not known, or rows of one training combination get several classes."""
    trained, away = answers.trained, np.flatnonzero(answers.unseen)
    if trained is None or trained.said is None or not answers.classes or not answers.like or len(answers.members) > 1:
        return None
    if answers.classes == ("",) or not answers.space.finite or (trained.said.max(axis=1) < 1).any():
        return None
    compared = answers.compared
    place = {tuple(code): row for row, code in enumerate(answers.codes.tolist()) if compared[row]}
    new = np.array([place.get(tuple(code), -1) for code in trained.codes.tolist()], dtype=np.int64)
    more, rows = np.where(new >= 0, answers.counts[new], 0), np.rint(trained.weights).astype(np.int64)
    old, whole = rows / (rows + more), rows + more

    def joined(theirs: np.ndarray, own: np.ndarray) -> np.ndarray:
        part = old.reshape(-1, *[1] * (own.ndim - 1))
        return np.concatenate([own[away], part * theirs + (1 - part) * own[new]])

    wrong = 1 - (trained.said * trained.answers).sum(axis=1)
    return replace(
        answers,
        codes=np.concatenate([answers.codes[away], trained.codes]),
        seen=np.arange(len(away) + len(rows)) >= len(away),
        counts=np.concatenate([answers.counts[away], whole]),
        error=joined(wrong, answers.error[0])[None],
        predicted=joined(trained.said, answers.predicted[0])[None],
        target=joined(trained.answers, answers.target),
        fresh=None,
        scores={},
        copied=None,
        hits=None,
    )
