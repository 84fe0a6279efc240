"""Learners of classes that are asked about two to five unseen combinations, of many rows each (`verdicts.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from planted_grid import Grid, Planted, learner, with_errors

NAMED = "by its own rows"
NOT_FAILING = ("composes", "unclear", "not fitted", "overfits")


def few(rng: np.random.Generator) -> tuple[Grid, Any]:
    """A grid with two to five combinations that training did not see, and the classes of all: of one factor, or of
    both."""
    side, rows = int(rng.integers(4, 8)), int(rng.choice([10, 20, 40]))
    while True:
        hidden = rng.permutation(side**2)[: int(rng.integers(2, 6))]
        known = np.setdiff1d(np.arange(side**2), hidden)
        if len({*(known // side)}) == len({*(known % side)}) == side:
            break
    a, b = np.indices((side, side)).reshape(2, -1).repeat(rows, axis=1)
    unseen = np.isin(side * a + b, hidden)
    fresh = ~unseen & (np.tile(np.arange(rows), side**2) < max(3, rows // 4))
    k = int(rng.integers(2, 5))
    code = a % k if rng.integers(2) else (a + b) % k
    return Grid(a, b, unseen, fresh), np.array([f"class {c}" for c in code])


def cells(grid: Grid) -> Any:
    return grid.a * (grid.b.max() + 1) + grid.b


@learner
def one_of_few_combinations_wholly_wrong(rng: np.random.Generator) -> Planted:
    """Or nearly so; all others are right, but for a little."""
    grid, y = few(rng)
    wrong = cells(grid) == rng.choice(np.unique(cells(grid)[grid.unseen]))
    p = with_errors(rng, y, np.where(wrong, rng.choice([0.9, 1.0]), rng.choice([0, 0.03])))
    return Planted(grid.measured(y, p), ("partly", "unclear"), remark=NAMED)


@learner
def few_combinations_that_are_right(rng: np.random.Generator) -> Planted:
    """As far as noisy labels go, or rows that are amiss one by one."""
    grid, y = few(rng)
    given = with_errors(rng, y, rng.choice([0, 0.05, 0.15]))
    return Planted(grid.measured(with_errors(rng, y, rng.choice([0, 0.1, 0.3])), given), NOT_FAILING)


@learner
def few_combinations_and_no_class(rng: np.random.Generator) -> Planted:
    """A coin for each row, learnt by heart, by a forest or not at all: no combination is wrong."""
    grid, y = few(rng)
    y = rng.choice(np.unique(y), size=len(y))
    guess = rng.choice(np.unique(y), size=(20, 20))[grid.a, grid.b]
    by_forest = RandomForestClassifier(30, random_state=0)
    p = [lambda: np.where(grid.known, y, guess), lambda: grid.said_by(by_forest, y), lambda: guess][rng.integers(3)]()
    return Planted(grid.measured(y, p), NOT_FAILING)


@learner
def combinations_wrong_as_often_where_seen(rng: np.random.Generator) -> Planted:
    """One in eight is wholly wrong, seen ones and the few unseen ones alike: it is named, and no failure of unseen
    ones."""
    grid, y = few(rng)
    wrong = (rng.random((20, 20)) < 0.125)[grid.a, grid.b]
    return Planted(grid.measured(y, with_errors(rng, y, 1.0 * wrong)), NOT_FAILING, remarks=(NAMED,))
