"""Learners whose behaviour is planted where seen combinations have training rows alone, and what may be said of each.

What fails there may be overfitting, or noise that is known by heart: *fails* is wrong of a learner to which new rows of
seen and unseen combinations are equally hard.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from planted_grid import LEARNERS, Grid, Planted, blurred, learner, neighbours, numbers
from planted_models import overfitted_network


@learner
def the_right_rule_on_training_rows_alone(rng: np.random.Generator) -> Planted:
    """Ridge regression where answers add up and are noisy: nothing fails, and the gap is what fitting costs."""
    grid = Grid.trained_on_alone(rng)
    y = blurred(rng, numbers(rng, grid, 0.0), rng.uniform(0.2, 1.0))
    return Planted(grid.measured(y, grid.said_by(Ridge(0.3), y)), ("composes", "unclear"))


def noise_on_training_rows_alone(rng: np.random.Generator, build: Callable[[], Any]) -> Planted:
    grid = Grid.trained_on_alone(rng)
    y = rng.normal(size=len(grid.a))
    return Planted(grid.measured(y, grid.said_by(build(), y)), ("not fitted", "unclear"))


for name, build in {
    "a forest": lambda: RandomForestRegressor(50, random_state=0),
    "a tree": lambda: DecisionTreeRegressor(random_state=0),
}.items():
    LEARNERS[f"noise and {name} on training rows alone"] = partial(noise_on_training_rows_alone, build=build)


@learner
def noise_and_copies_on_training_rows_alone(rng: np.random.Generator) -> Planted:
    """Classes at random, learnt by heart and copied elsewhere: of answers that cannot be known, no failure."""
    grid = Grid.of(rng, 1)
    y = np.array(["x", "y", "z"])[rng.integers(3, size=len(grid.a))]
    p = np.where(grid.unseen, neighbours(rng, grid, y), y)
    return Planted(grid.measured(y, p), ("not fitted", "unclear"))


@learner
def noise_and_least_squares_on_training_rows_alone(rng: np.random.Generator) -> Planted:
    """It errs the more on unseen combinations the less supports them, and there was nothing to learn."""
    grid = Grid.of(rng, 1)
    y = rng.normal(size=len(grid.a))
    return Planted(grid.measured(y, grid.said_by(Ridge(1e-9), y)), ("not fitted", "unclear"))


@learner
def noise_by_heart_and_else_the_right_rule(rng: np.random.Generator) -> Planted:
    """Its answers to unseen combinations are the best there are."""
    grid = Grid.of(rng, 1)
    mean = numbers(rng, grid, 0.0)
    y = blurred(rng, mean, rng.uniform(0.3, 1.0))
    return Planted(grid.measured(y, np.where(grid.unseen, mean, y)), ("composes", "unclear"))


@learner
def the_right_rule_where_unseen_rows_are_noisier(rng: np.random.Generator) -> Planted:
    """Training rows alone, whose noise says little of that elsewhere; but adding up errs there as much."""
    grid = Grid.of(rng, 1)
    mean = numbers(rng, grid, 0.0)
    y = mean + np.where(grid.unseen, 0.8, 0.1) * mean.std() * rng.normal(size=len(mean))
    return Planted(grid.measured(y, grid.said_by(Ridge(0.1), y)), ("composes", "unclear"))


@learner
def a_lookup_table_on_training_rows_alone(rng: np.random.Generator) -> Planted:
    """Answers that add up, with a little noise: each combination's known by heart, a neighbour's given elsewhere."""
    grid = Grid.trained_on_alone(rng)
    y = blurred(rng, numbers(rng, grid, 0.0), rng.uniform(0.05, 0.2))
    known = np.array([y[(grid.a == a) & (grid.b == b)].mean() for a, b in zip(grid.a, grid.b, strict=True)])
    p = np.where(grid.unseen, neighbours(rng, grid, known), known)
    return Planted(grid.measured(y, p), grid.fails(), ("memorization: a copied answer",))


@learner
def nearest_neighbours_on_training_rows_alone(rng: np.random.Generator) -> Planted:
    """Answers that add up, with a little noise; it has the answer of the first row that shares a level."""
    grid = Grid.trained_on_alone(rng)
    y = blurred(rng, numbers(rng, grid, 0.0), rng.uniform(0.05, 0.2))
    near = KNeighborsRegressor(1)
    return Planted(grid.measured(y, grid.said_by(near, y)), grid.fails(), ("memorization: a copied answer",))


@learner
def a_shortcut_on_training_rows_alone(rng: np.random.Generator) -> Planted:
    """Answers that add up: what was seen is known, and elsewhere one factor alone is asked."""
    grid = Grid.trained_on_alone(rng)
    one, two = rng.normal(size=(2, 20))
    y = blurred(rng, 1.5 * one[grid.a] + two[grid.b], 0.1)
    level = np.array([y[grid.known & (grid.b == b)].mean() for b in range(grid.b.max() + 1)])
    return Planted(grid.measured(y, np.where(grid.unseen, level[grid.b], y)), grid.fails(), ("shortcut by b",))


NO_FAILURE = ("composes", "unclear", "not fitted")
"""What is right of a learner to which new rows of seen and unseen combinations are equally hard, where none of the seen
ones are held out."""


def pictures_of_the_animal(
    rng: np.random.Generator, build: Callable[[np.random.Generator], Any], number: bool
) -> Planted:
    """Noisy inputs that show the animal and nothing of the place, exact answers, no new rows of seen combinations: what
    is wrong on unseen combinations is overfitting."""
    asked = build(rng)
    grid = Grid.trained_on_alone(rng, (1, 4, 12), (6, 6))
    x = np.eye(6)[grid.a] + rng.uniform(0.3, 0.7) * rng.normal(size=(len(grid.a), 6))
    y = rng.normal(size=6)[grid.a] if number else np.array([f"animal {i}" for i in grid.a])
    return Planted(grid.measured(y, asked.fit(x[grid.known], y[grid.known]).predict(x)), NO_FAILURE)


def narrow(rng: np.random.Generator) -> Any:
    """Whatever it was not trained on gets answers near the mean, which looks like a leak or one fixed answer."""
    return KernelRidge(kernel="rbf", gamma=float(rng.uniform(1, 8)), alpha=1e-6)


for name, of, number in (
    ("nearest neighbours of classes", lambda _: KNeighborsClassifier(1), False),
    ("nearest neighbours of numbers", lambda _: KNeighborsRegressor(1), True),
    ("a forest of classes", lambda _: RandomForestClassifier(30, random_state=0), False),
    ("a forest of numbers", lambda _: RandomForestRegressor(30, random_state=0), True),
    ("a narrow kernel", narrow, True),
):
    LEARNERS[f"overfitting by {name}"] = partial(pictures_of_the_animal, build=of, number=number)


@learner
def overfitting_by_least_squares_with_junk_columns(rng: np.random.Generator) -> Planted:
    """The levels, and nearly as many columns of nothing as there are training rows."""
    grid = Grid.trained_on_alone(rng, (1, 8))
    y = blurred(rng, numbers(rng, grid, 0.0), 0.1)
    junk = rng.normal(size=(len(y), int(grid.known.sum() * rng.uniform(0.9, 1.5))))
    return Planted(grid.measured(y, grid.summed(y, junk)), NO_FAILURE)


@learner
def overfitting_by_a_network_without_held_out_rows(rng: np.random.Generator) -> Planted:
    return Planted(overfitted_network(rng, held_out=0.0), NO_FAILURE, remarks=("surer than right",))
