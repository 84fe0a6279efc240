"""Do the answers on unseen combinations follow a simpler rule: one factor alone, or a copy of a neighbour's answer?

A rule allows, for each unseen combination u, some *wrong* answers: those it would give there. G[u, v] is the share of
the answers given at v that the rule allows at u. The share that follows the rule is the mean of G[u, u]; answers that
follow no rule, handed out to combinations at random, give the mean of G, and shuffling them gives the p-value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers import Answers, Trained, distance
from recombine.mechanisms.finding import FEWEST, HALF, LEVEL, LIFT, Finding
from recombine.mechanisms.names import brief
from recombine.statistics import FloatArray, Summary, permutation

AS_GOOD = 0.9
"""A single factor that accounts for this share of what copying accounts for is the simpler story."""

BEHAVIOUR = "It says which rule the answers agree with, not how they are computed."


@dataclass(frozen=True, eq=False)
class Rule:
    """Which answers a rule allows at each unseen combination: (unseen × options), and the options themselves."""

    id: str
    mechanism: str
    what: str
    mask: NDArray[np.bool_]
    options: FloatArray


def rules(asked: Answers, trained: Trained) -> list[Rule]:
    """The answer of each factor alone, and the answers of seen combinations that differ in one factor."""
    found = []
    for j, name in enumerate(map(brief, asked.space.names)):
        levels = np.unique(trained.codes[:, j])
        means = np.stack([_usual(asked, trained, trained.codes[:, j] == level) for level in levels])
        mask = asked.codes[:, j][:, None] == levels[None]
        what = f"answers that {name} alone gives in training, where they are wrong"
        found.append(Rule(f"factor {j + 1}", f"shortcut by {name}", what, mask, means))
    apart = np.zeros((len(asked.codes), len(trained.codes)), dtype=np.int16)
    for j in range(len(asked.space)):
        apart += asked.codes[:, j][:, None] != trained.codes[:, j][None]
    what = "answers copied from a seen combination that differs in one factor, where they are wrong"
    found.append(Rule("copy", "memorization: a copied answer", what, np.asarray(apart == 1), trained.answers))
    return found


def follows(asked: Answers, rule: Rule, over: Summary, tried: int, seed: int = 0) -> Finding | str:
    """How far the answers follow the rule, or in a sentence why that cannot be said."""
    allowed, options = _wrong_options(asked, rule)
    where = np.asarray(allowed.any(axis=1))
    if where.sum() < FEWEST:
        return (
            f"it gives a wrong answer at {int(where.sum())} of {len(where)} unseen combinations; {FEWEST} are needed "
            "to tell it from chance"
        )
    share = np.empty((len(asked.error), len(where)))
    together = np.zeros((len(where), len(where)))
    for m, predicted in enumerate(asked.predicted):
        given = _given(asked, predicted, allowed, options)
        share[m] = np.diagonal(given)
        together += given / len(asked.predicted)
    at = np.flatnonzero(where)
    p = permutation(together[np.ix_(at, at)], seed)
    followed = share[:, at]
    chance = float(together[np.ix_(at, at)].mean())
    lift = (float(followed.mean()) - chance) / max(1 - chance, 1e-9)
    wrong = asked.wrong().sum()
    explains = float(np.minimum(share, asked.wrong()).sum() / wrong) if wrong > 0 else 0.0
    return Finding(
        rule.id,
        rule.mechanism,
        rule.what,
        over(lambda rows: followed[:, rows].mean(axis=1), [len(at)]).within(0, 1),
        chance=chance,
        p=p,
        explains=explains,
        speaks=p <= LEVEL / tried and explains >= HALF and lift >= LIFT,
        limit=BEHAVIOUR,
    )


def _usual(asked: Answers, trained: Trained, rows: NDArray[np.bool_]) -> FloatArray:
    """The mean answer over training rows; of classes, those that are most frequent."""
    mean = np.average(trained.answers[rows], axis=0, weights=trained.weights[rows])
    return (mean >= mean.max() - 1e-9).astype(np.float64) if asked.classes is not None else np.asarray(mean)


def _wrong_options(asked: Answers, rule: Rule) -> tuple[NDArray[np.bool_], FloatArray]:
    """(unseen × options) without what is right there; classes themselves are the options of a classifier."""
    if asked.classes is None:
        apart = np.stack([distance(rule.options, target[None]) for target in asked.target])
        return rule.mask & (apart > asked.tolerance), rule.options
    usual = rule.options >= rule.options.max(axis=1, keepdims=True) - 1e-9
    allowed = (rule.mask.astype(np.float32) @ (usual & (rule.options > 0)).astype(np.float32)) > 0
    return allowed & (asked.target <= 0), np.eye(len(asked.classes))


def _given(asked: Answers, predicted: FloatArray, allowed: NDArray[np.bool_], options: FloatArray) -> FloatArray:
    """G (unseen × unseen): the share of the answers given at v that the rule allows at u."""
    if asked.classes is not None:
        return np.asarray(allowed.astype(np.float64) @ predicted.T)
    near = np.stack([distance(options, row[None]) <= asked.tolerance for row in predicted])
    return ((allowed.astype(np.float32) @ near.T.astype(np.float32)) > 0).astype(np.float64)
