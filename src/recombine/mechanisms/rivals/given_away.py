"""Does a factor give the answer away in training, and not in new rows? A column made from the answer, an order of rows,
or a number of the row itself is known when a learner is trained, and of no use afterwards.

Two kinds are told from counts. A factor whose levels alone tell the answers of training combinations (each by the
others of its level) and on new rows tell nothing, where the learner's answers to these are nearer to what the level
gave in training than to the right ones. And a factor of which nearly every training row has a level of its own.
"""

from __future__ import annotations

import numpy as np

from recombine.mechanisms.answers.answered import Answers, Trained
from recombine.mechanisms.answers.names import brief, share
from recombine.mechanisms.compared.case import Case
from recombine.mechanisms.compared.losing import HALF, LITTLE, QUARTER
from recombine.statistics import FEW, FloatArray

FEWEST_ROWS = 20
"""Training rows from which levels that are nearly as many as these say something."""


def given_away(case: Case) -> list[str]:
    """Which factors do, in a sentence each."""
    answers, trained, constant = case.bare, case.bare.trained, case.beside.constant
    if trained is None or trained.borrowed or constant is None or not answers.space.finite or answers.classes == ("",):
        return []
    found = []
    for j in range(len(answers.space)):
        found += _own_level(answers, trained, j) or _in_training_alone(case, answers, trained, j)
    return found


def _own_level(answers: Answers, trained: Trained, j: int) -> list[str]:
    rows, levels, name = int(trained.weights.sum()), len(np.unique(trained.codes[:, j])), answers.space.names[j]
    if rows < FEWEST_ROWS or levels <= HALF * rows:
        return []
    new = ~np.isin(answers.codes[:, j], trained.codes[:, j])
    asked, unknown = int(answers.counts[answers.unseen].sum()), int(answers.counts[answers.unseen & new].sum())
    return [
        f"{brief(name)} has {levels:,} levels in {rows:,} training rows, so that nearly every row has its own: who "
        f"reads it can know rows by heart, and {unknown:,} of {asked:,} rows of unseen combinations have a level of it "
        "that training never shows. Leave it out, of training and of the factors, if it numbers rows."
    ]


def _in_training_alone(case: Case, answers: Answers, trained: Trained, j: int) -> list[str]:
    level, size = trained.codes[:, j], answers.space.shape[j]
    weights, whole = trained.weights[:, None], np.zeros((size, trained.answers.shape[1]))
    many = np.bincount(level, trained.weights, size)
    np.add.at(whole, level, weights * trained.answers)
    several = many[level] > trained.weights
    at = (answers.unseen | (answers.compared & answers.like)) & (many[answers.codes[:, j]] > 0)
    if min(int(several.sum()), int(at.sum())) < FEW or len(np.unique(level[several])) < 2:
        return []
    others = (whole[level] - weights * trained.answers)[several] / (many[level] - trained.weights)[several, None]
    known = _errors(answers, others, trained.answers[several], trained.within)
    told = float(np.average(known, weights=trained.weights[several]))
    usual = whole[answers.codes[:, j]] / np.maximum(many[answers.codes[:, j]], 1)[:, None]
    own, right = answers.errors_of(usual)[at], answers.error.mean(axis=0)[at]
    same = answers.errors_of(np.broadcast_to(whole.sum(axis=0) / many.sum(), usual.shape))[at]
    follows = _errors(answers, usual[at], answers.predicted.mean(axis=0)[at])
    if told > QUARTER * case.beside.trained_constant or own.mean() < LITTLE * same.mean():
        return []
    if follows.mean() > HALF * right.mean():
        return []
    name = brief(answers.space.names[j])
    new, always, off, wrong = (share(float(errors.mean())) for errors in (own, same, follows, right))
    return [
        f"{name} gives the answer away in training: alone it leaves an error of {share(told)} there, and of {new} on "
        f"new rows, where always giving the same answer costs {always}; answers to new rows follow it (off by {off} "
        f"from what its levels gave in training, by {wrong} from the right ones). See how {name} came about, and "
        "whether it is known beforehand."
    ]


def _errors(answers: Answers, said: FloatArray, right: FloatArray, inside: float = 0.0) -> FloatArray:
    """Errors of answers (… × classes or numbers) where others are taken for right."""
    if answers.classes is not None:
        return np.asarray(1 - right[np.arange(len(said)), said.argmax(axis=1)])
    return np.asarray(np.square(said - right).mean(axis=1) / answers.scale + inside)
