"""Failures that are easily passed over, of small answers beside large ones, by guesses, and of rows in another order
where combinations were not seen; and learners that are easily accused of one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from planted_grid import FAILS, Grid, Planted, learner, numbers


def prices(rng: np.random.Generator) -> tuple[Grid, Any, Any]:
    """Prices over orders of magnitude, that of each combination and those of its rows, which scatter by a tenth."""
    grid = Grid.of(rng, 5)
    price = np.exp(3 + 1.2 * numbers(rng, grid, 0.0))
    return grid, price, price * np.exp(rng.normal(0, 0.1, len(price)))


@learner
def small_prices_answered_by_0_where_unseen(rng: np.random.Generator) -> Planted:
    grid, price, y = prices(rng)
    small = grid.unseen & (price < np.median(price[grid.unseen]))
    return Planted(grid.measured(y, np.where(small, 0.0, price)), FAILS, besides=("one fixed answer",))


@learner
def prices_that_are_right(rng: np.random.Generator) -> Planted:
    grid, price, y = prices(rng)
    return Planted(grid.measured(y, price), ("composes", "unclear"))


@learner
def two_classes_guessed_where_unseen(rng: np.random.Generator) -> Planted:
    """One guess for each combination; of some tables nearly all are right by chance."""
    grid = Grid.of(rng, 6)
    right, guess = (rng.random((20, 20)) < 0.5 for _ in range(2))
    y, p = right[grid.a, grid.b], np.where(grid.unseen, guess[grid.a, grid.b], right[grid.a, grid.b])
    result = grid.measured(np.where(y, "yes", "no"), np.where(p, "yes", "no"))
    lucky = (p != y)[grid.unseen].mean() < 0.4
    shortcuts = ("shortcut by a", "shortcut by b")
    return Planted(result, (*FAILS, "unclear") if lucky else ("fails", "unclear"), besides=shortcuts)


@learner
def rows_of_unseen_combinations_in_another_order(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 6)
    truth = numbers(rng, grid, 0.5)
    p = truth.copy()
    p[grid.unseen] = rng.permutation(p[grid.unseen])
    y = truth + rng.normal(0, 0.2, len(truth))
    return Planted(grid.measured(y, p), FAILS, remark="Look first at")


@learner
def noise_that_a_tree_knows_by_heart(rng: np.random.Generator) -> Planted:
    """Nothing to learn, and training answers given back by combination: no wrong join."""
    grid = Grid.of(rng, int(rng.choice([2, 4])))
    y = rng.normal(size=len(grid.a))
    p = grid.said_by(DecisionTreeRegressor(random_state=0), y)
    return Planted(grid.measured(y, p), ("unclear", "overfits", "not fitted"))
