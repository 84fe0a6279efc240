"""Failures that are easily passed over, of small answers beside large ones, by guesses, and of rows in another order
where combinations were not seen; and learners that are easily accused of one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from planted_grid import FAILS, REMARKS, UNTOLD, Grid, Planted, learner, numbers


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


@learner
def a_rare_class_lost_where_unseen(rng: np.random.Generator) -> Planted:
    """Two classes that follow from the combination, and one of 2 to 4 % of the rows, which other columns tell."""
    grid = Grid.of(rng, 60)
    usual = np.where(rng.random((20, 20)) < 0.5, "a", "b")[grid.a, grid.b]
    rare = rng.random(len(usual)) < rng.uniform(0.02, 0.04)
    y = np.where(rare, "fraud", usual)
    return Planted(grid.measured(y, np.where(grid.unseen, usual, y)), UNTOLD, remarks=REMARKS)


@learner
def a_rare_class_found_everywhere(rng: np.random.Generator) -> Planted:
    """The same, and as many found where unseen."""
    grid = Grid.of(rng, 60)
    usual = np.where(rng.random((20, 20)) < 0.5, "a", "b")[grid.a, grid.b]
    rare, found = rng.random(len(usual)) < rng.uniform(0.02, 0.04), rng.random(len(usual)) < 0.9
    return Planted(grid.measured(np.where(rare, "fraud", usual), np.where(rare & found, "fraud", usual)),
                   ("composes", "unclear"), remarks=REMARKS)  # fmt: skip


@learner
def sums_that_are_right_where_rows_are_noisier(rng: np.random.Generator) -> Planted:
    """Least squares, of rows that scatter three times as far where unseen."""
    grid = Grid.of(rng, 2)
    truth = numbers(rng, grid, 0.0)
    y = truth + 0.2 * np.where(grid.unseen, 3.0, 1.0) * rng.normal(size=len(truth))
    rule = ("additive rule",)
    return Planted(grid.measured(y, grid.summed(y)), ("composes", "unclear", "overfits"), besides=rule)


@learner
def means_of_the_factor_that_matters_of_uneven_rows(rng: np.random.Generator) -> Planted:
    """Training means of one factor, which is all there is to know; few rows of seen ones and many of others."""
    grid = Grid.of(rng, 8)
    kept = grid.unseen | (np.tile(np.arange(8), len(grid.a) // 8) % 4 == 3)
    grid = Grid(*(each[kept] for each in (grid.a, grid.b, grid.unseen, grid.fresh)))
    y = rng.normal(size=20)[grid.a] + rng.normal(0, rng.uniform(0.5, 1.5), len(grid.a))
    means = np.array([y[grid.known & (grid.a == level)].mean() for level in range(int(grid.a.max()) + 1)])
    right = ("composes", "unclear", "overfits", "not fitted")
    return Planted(grid.measured(y, means[grid.a]), right, besides=("shortcut by a", "b ignored"), remarks=REMARKS)


@learner
def one_combination_of_most_rows_off(rng: np.random.Generator) -> Planted:
    """A hundred times as many rows of one unseen combination, whose answer is off by twice the noise."""
    grid = Grid.of(rng, 4)
    first = np.flatnonzero(grid.unseen)[0]
    at = np.concatenate([np.arange(len(grid.a)), np.full(400, first)])
    grid = Grid(*(each[at] for each in (grid.a, grid.b, grid.unseen, grid.fresh)))
    truth = numbers(rng, grid, 0.0)
    off = (grid.a == grid.a[first]) & (grid.b == grid.b[first])
    y = truth + 0.5 * rng.normal(size=len(truth))
    return Planted(grid.measured(y, truth + off), UNTOLD, remarks=REMARKS)
