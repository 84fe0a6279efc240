"""Are the answers on unseen combinations a sum over factors, one fixed answer, or the right ones made smaller?

Every fit is judged out of sample: each combination by a fit that has not seen it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recombine.mechanisms.answers import Answers, distance
from recombine.mechanisms.finding import FEWEST, Finding
from recombine.mechanisms.rules import BEHAVIOUR
from recombine.statistics import FloatArray, Summary

STRONG = 0.8
"""A fit that accounts for this share of the answers, at the lower end of its interval, speaks for its rule."""
FOLDS = 5
SPARE = 3
"""Combinations beyond the number of effects that a fit needs before it is judged."""
FULL = 0.95


def fixed(asked: Answers, over: Summary) -> Finding:
    """The share of unseen combinations that get one and the same answer."""
    if asked.classes is not None:
        usual = asked.predicted.mean(axis=1)
        each = np.stack([p[:, int(u.argmax())] for p, u in zip(asked.predicted, usual, strict=True)])
        due = float(np.mean([asked.target[:, int(u.argmax())].mean() for u in usual]))
    else:
        middle = np.median(asked.predicted, axis=1, keepdims=True)
        each = (distance(asked.predicted, middle) <= asked.tolerance).astype(np.float64)
        due = float((distance(asked.target, np.median(asked.target, axis=0)) <= asked.tolerance).mean())
    value = over(lambda rows: each[:, rows].mean(axis=1), [each.shape[1]]).within(0, 1)
    speaks = value.bounded and value.low >= 0.9 and due <= 0.5
    what = "unseen combinations that get one and the same answer"
    limit = f"Of the right answers there, {due:.0%} are alike. {BEHAVIOUR}"
    return Finding(
        "fixed",
        "memorization: one fixed answer",
        what,
        value,
        chance=due,
        reference="of the right ones",
        speaks=speaks,
        limit=limit,
    )


def additive(asked: Answers, seen: Answers, over: Summary, seed: int = 0) -> Finding | str:
    """How well a sum over factors, fitted to the answers themselves, foretells the answer where it was not fitted."""
    design = _indicators(asked)
    rank = int(np.linalg.matrix_rank(design))
    alone = len(design) >= rank + SPARE
    rows = design if alone else np.concatenate([design, _indicators(seen)])
    if len(rows) < int(np.linalg.matrix_rank(rows)) + SPARE:
        return f"{len(rows)} combinations are too few to fit {rank} effects of single levels and to judge the fit"
    given = asked.predicted if alone else np.concatenate([asked.predicted, seen.predicted], axis=1)
    count = len(design)
    limit = BEHAVIOUR if alone else "Fitted to seen combinations as well, as there are few unseen ones. " + BEHAVIOUR
    if asked.classes is None:
        left = np.stack([_left_out(rows, g)[:count] for g in given])
        judged = np.isfinite(left[0, :, 0])
        if judged.sum() < FEWEST:
            return f"{int(judged.sum())} unseen combinations only are determined by a sum fitted to the others"
        left, truth = left[:, judged], asked.predicted[:, judged]
        value = over(lambda at: _explained(truth[:, at], left[:, at]), [int(judged.sum())])
        what = "variance of the answers that a sum over factors foretells"
        return Finding(
            "additive", "additive rule", what, value, 0.0, reference="no fit", speaks=_strong(value.low), limit=limit
        )
    agreed = np.stack([_voted(rows, g, count, seed) for g in given])
    usual = asked.predicted.mean(axis=1).max(axis=1)
    chance = float(usual.mean())
    if chance > FULL:
        return "almost all answers are alike, so that any rule foretells them"
    value = over(lambda at: agreed[:, at].mean(axis=1), [count]).within(0, 1)
    speaks = _strong((value.low - chance) / (1 - chance))
    what = "answers that a vote of the factors, one for each level, foretells"
    return Finding(
        "additive", "additive rule", what, value, chance, reference="the usual answer", speaks=speaks, limit=limit
    )


def shrunk(asked: Answers, over: Summary) -> Finding | str:
    """The slope of the answers against the right ones: f = m · y + b with m < 1 is the memorization leak."""
    if asked.classes is not None:
        return "a slope needs numbers, and the answers are classes"
    if len(asked.codes) < FEWEST:
        return f"a slope over {len(asked.codes)} unseen combinations says nothing; {FEWEST} are needed"
    if not np.square(asked.target - asked.target.mean(axis=0)).sum() > 0:
        return "the right answers of all unseen combinations are alike"

    def slope(rows: NDArray[np.int64]) -> FloatArray:
        y = asked.target[rows] - asked.target[rows].mean(axis=0)
        return np.asarray((asked.predicted[:, rows] * y).sum(axis=(1, 2)) / max(float(np.square(y).sum()), 1e-300))

    value = over(slope, [len(asked.codes)])
    whole = slope(np.arange(len(asked.codes)))
    y = asked.target - asked.target.mean(axis=0)
    centred = asked.predicted - asked.predicted.mean(axis=1, keepdims=True)
    fits = _explained(centred, whole[:, None, None] * y).mean()
    speaks = value.bounded and value.low > 0 and value.high < FULL and bool(fits >= STRONG)
    limit = f"A line accounts for {max(0.0, float(fits)):.0%} of the answers' variance. {BEHAVIOUR}"
    what = "slope of the answers against the right ones"
    return Finding(
        "leak", "memorization leak", what, value, 1.0, reference="without a leak", speaks=speaks, limit=limit
    )


def _strong(value: float) -> bool:
    return bool(np.isfinite(value) and value >= STRONG)


def _indicators(asked: Answers) -> FloatArray:
    columns = [np.ones(len(asked.codes))]
    for j, factor in enumerate(asked.space.factors):
        columns += [(asked.codes[:, j] == c).astype(np.float64) for c in range(len(factor))]
    return np.stack(columns, axis=1)


def _left_out(design: FloatArray, given: FloatArray) -> FloatArray:
    """What a least-squares fit to all other rows says of each row; not a number where they do not determine it."""
    basis, values, _ = np.linalg.svd(design, full_matrices=False)
    basis = basis[:, values > 1e-10 * values[0]]
    leverage = np.square(basis).sum(axis=1)[:, None]
    left = given - basis @ (basis.T @ given)
    free = leverage > 1 - 1e-9
    return np.where(free, np.nan, given - left / np.where(free, 1.0, 1 - leverage))


def _explained(truth: FloatArray, guess: FloatArray) -> FloatArray:
    spread = np.square(truth - truth.mean(axis=1, keepdims=True)).sum(axis=(1, 2))
    missed = np.square(truth - guess).sum(axis=(1, 2))
    return np.asarray(np.where(spread > 1e-300, 1 - missed / np.maximum(spread, 1e-300), np.nan))


def _voted(design: FloatArray, given: FloatArray, count: int, seed: int) -> FloatArray:
    """The share of the answers at each of the first ``count`` rows that a logistic vote fitted elsewhere foretells."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    label = given.argmax(axis=1)
    fold = np.random.default_rng(seed).permutation(len(design)) % FOLDS
    foretold = np.zeros(len(design), dtype=np.int64)
    for part in range(FOLDS):
        inside = fold != part
        if len(np.unique(label[inside])) < 2:
            foretold[~inside] = label[inside][0]
            continue
        with warnings.catch_warnings():
            # Where the votes decide everything, weights grow without end; where they stop does not matter. Many classes
            # for few combinations are no mistake either.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", UserWarning)
            model = LogisticRegression(C=30.0, max_iter=300).fit(design[inside], label[inside])
        foretold[~inside] = model.predict(design[~inside])
    return np.asarray(given[np.arange(count), foretold[:count]])
