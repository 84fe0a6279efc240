"""Learners that give probabilities, surer than they are right or not, and what may be said of each (`verdicts.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import recombine as rc
from planted_grid import Grid, Planted, learner
from recombine.mechanisms import MeasureResult

SURER = "surer than right"
ANY = ("composes", "partly", "unclear", "not fitted", "overfits", "fails")
LITTLE, CLEAR = 0.02, 0.1
"""By how much a learner may be surer than right before it may be said, and from which on it has to be."""


def odds(rng: np.random.Generator, rows: int | None = None) -> tuple[Grid, Any]:
    """Rows, and the logarithms of the odds of two or four classes: sums of effects of levels."""
    grid = Grid.of(rng, rows or int(rng.choice([2, 4, 10, 30])))
    one, two = rng.normal(size=(2, 20, int(rng.choice([2, 4]))))
    return grid, rng.uniform(0.5, 2) * (one[grid.a] + two[grid.b])


def chances(odds: Any) -> Any:
    whole = np.exp(odds - odds.max(axis=1, keepdims=True))
    return whole / whole.sum(axis=1, keepdims=True)


def drawn(rng: np.random.Generator, share: Any) -> Any:
    """A class for each row, and each class once at least, where it is likeliest."""
    y = (rng.random((len(share), 1)) > share.cumsum(axis=1)).sum(axis=1).clip(max=share.shape[1] - 1)
    for k in set(range(share.shape[1])) - {*y}:
        y[share[:, k].argmax()] = k
    return y


def measured(grid: Grid, y: Any, given: Any) -> MeasureResult:
    names = [f"p_{k}" for k in "abcd"[: given.shape[1]]]
    table = {"a": grid.a, "b": grid.b, "y": np.array([*"abcd"])[y], **dict(zip(names, given.T, strict=True))}
    table["part"] = np.where(grid.unseen | grid.fresh, "test", "train")
    return rc.measure_predictions(table, ["a", "b"], target="y", prediction=names, split="part=test")


def planted(grid: Grid, y: Any, share: Any, given: Any) -> Planted:
    """What is to be said follows from the true shares: how much surer than right it is where unseen."""
    right = share[np.arange(len(share)), given.argmax(axis=1)]
    more = float((given.max(axis=1) - right)[grid.unseen].mean())
    result = measured(grid, y, given)
    return Planted(result, ANY, besides=result.mechanisms, remark=SURER * (more > CLEAR),
                   remarks=(SURER,) * (more > LITTLE))  # fmt: skip


@learner
def too_sure_everywhere(rng: np.random.Generator) -> Planted:
    """The right odds, three to six times as far from even."""
    grid, right = odds(rng)
    share = chances(right)
    return planted(grid, drawn(rng, share), share, chances(rng.uniform(3, 6) * right))


@learner
def too_sure_where_unseen(rng: np.random.Generator) -> Planted:
    grid, right = odds(rng)
    share = chances(right)
    given = chances(np.where(grid.unseen, rng.uniform(3, 6), 1.0)[:, None] * right)
    return planted(grid, drawn(rng, share), share, given)


@learner
def sure_and_wrong_where_unseen(rng: np.random.Generator) -> Planted:
    """A third of the unseen combinations get another class, and as surely."""
    grid, right = odds(rng)
    share = chances(3 * right)
    moved = grid.unseen & (rng.random((20, 20)) < 0.33)[grid.a, grid.b]
    return planted(grid, drawn(rng, share), share, np.where(moved[:, None], share[:, ::-1], share))


@learner
def a_forest_of_noisy_classes(rng: np.random.Generator) -> Planted:
    """Surer than right or not, as it happens."""
    grid, right = odds(rng)
    share = chances(right)
    y = drawn(rng, share)
    forest = RandomForestClassifier(50, random_state=0).fit(grid.levels[grid.known], y[grid.known])
    given = np.zeros_like(share)
    given[:, forest.classes_] = forest.predict_proba(grid.levels)
    return planted(grid, y, share, given)


@learner
def rightly_sure(rng: np.random.Generator) -> Planted:
    """The true shares, or half as far from even."""
    grid, right = odds(rng)
    share = chances(right)
    return planted(grid, drawn(rng, share), share, chances(rng.choice([1.0, 1.0, 0.5]) * right))


@learner
def rightly_sure_with_penalty(rng: np.random.Generator) -> Planted:
    """Logistic regression on the training rows; or training's shares for all."""
    grid, right = odds(rng, int(rng.choice([10, 30])))
    share = chances(right)
    y = drawn(rng, share)
    given = np.zeros_like(share)
    if rng.integers(4) == 0:
        given += np.bincount(y[grid.known], minlength=share.shape[1]) / grid.known.sum()
    else:
        fit = LogisticRegression(C=0.3).fit(grid.levels[grid.known], y[grid.known])
        given[:, fit.classes_] = fit.predict_proba(grid.levels)
    return planted(grid, y, share, given)
