"""Learners that read a column besides the factors, and what may be said of each (`verdicts.py`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from planted_grid import FAILS, Grid, Planted, learner, numbers


def with_a_covariate(rng: np.random.Generator, alone: bool) -> tuple[Grid, Any, Any, Any]:
    """Answers that are what the factors say and what a column besides them says, both added up, and a little noise."""
    grid = Grid.of(rng, int(rng.choice([12, 16])), (8, 8))
    grid = replace(grid, fresh=np.zeros_like(grid.fresh)) if alone else grid
    added = numbers(rng, grid, 0.0)
    column = rng.uniform(0.7, 2) * rng.normal(size=len(added))
    return grid, added, column, 0.2 * rng.normal(size=len(added))


@learner
def reads_a_covariate_rightly(rng: np.random.Generator) -> Planted:
    """The column leaves nothing open but the noise; half of the tables have no new rows of seen combinations."""
    grid, added, column, noise = with_a_covariate(rng, bool(rng.integers(2)))
    x = np.stack([column, added], 1)
    p = x @ np.linalg.lstsq(x[grid.known], (added + column + noise)[grid.known], rcond=None)[0]
    return Planted(grid.measured(added + column + noise, p), ("composes",))


@learner
def reads_a_covariate_rightly_for_classes(rng: np.random.Generator) -> Planted:
    grid, added, column, noise = with_a_covariate(rng, False)
    names = np.array(["no", "yes"])
    y, p = (names[(s > np.median(added)).astype(int)] for s in (added + column + noise, added + column))
    return Planted(grid.measured(y, p), ("composes", "unclear"))


@learner
def reads_a_covariate_and_little_of_unseen_factors(rng: np.random.Generator) -> Planted:
    grid, added, column, noise = with_a_covariate(rng, False)
    p = column + np.where(grid.unseen, rng.uniform(0.2, 0.4), 1.0) * (added - added.mean()) + added.mean()
    return Planted(grid.measured(added + column + noise, p), FAILS, ("memorization leak",))


def beside_a_covariate(rng: np.random.Generator, unseen: Any) -> Any:
    """What is measured where the column is read rightly and stands in the table, beside another, and unseen
    combinations get ``unseen`` of the grid and what its factors say."""
    grid, added, column, noise = with_a_covariate(rng, False)
    p = column + np.where(grid.unseen, unseen(grid, added), added)
    return grid.measured(added + column + noise, p, x=column, other=rng.normal(size=len(p)))


def by_b(grid: Grid, added: Any) -> Any:
    """What the second factor alone says of each row."""
    return np.array([added[grid.known & (grid.b == b)].mean() for b in range(8)])[grid.b]


@learner
def a_leak_beside_a_covariate(rng: np.random.Generator) -> Planted:
    share = rng.uniform(0.2, 0.4)
    result = beside_a_covariate(rng, lambda _, added: share * (added - added.mean()) + added.mean())
    return Planted(result, FAILS, ("memorization leak",))


@learner
def a_shortcut_beside_a_covariate(rng: np.random.Generator) -> Planted:
    return Planted(beside_a_covariate(rng, by_b), FAILS, ("shortcut by b",))


@learner
def random_errors_beside_a_covariate(rng: np.random.Generator) -> Planted:
    off = rng.normal(size=(8, 8))
    return Planted(beside_a_covariate(rng, lambda grid, added: added + added.std() * off[grid.a, grid.b]), FAILS)


def misread(rng: np.random.Generator, unseen: Any) -> Any:
    """What is measured where unseen combinations get ``unseen`` of the grid and what its factors say, and the column is
    read there with another sign, twice, not at all or, where right answers have nothing of it, all the same; rightly of
    seen ones."""
    grid, added, column, noise = with_a_covariate(rng, False)
    there, elsewhere = [(1, -1), (1, 2), (1, 0), (0, 1)][int(rng.integers(4))]
    p = np.where(grid.unseen, elsewhere * column + unseen(grid, added), there * column + added)
    return grid.measured(added + there * column + noise, p, x=column, other=rng.normal(size=len(p)))


@learner
def a_misread_covariate(rng: np.random.Generator) -> Planted:
    return Planted(misread(rng, lambda _, added: added), FAILS, ("misread x",))


@learner
def a_shortcut_beside_a_misread_covariate(rng: np.random.Generator) -> Planted:
    return Planted(misread(rng, by_b), FAILS, ("shortcut by b",), ("misread x",))


@learner
def a_covariate_read_nowhere(rng: np.random.Generator) -> Planted:
    """The true mean of each combination, where a column would tell more."""
    grid, added, column, noise = with_a_covariate(rng, False)
    return Planted(grid.measured(added + column + noise, added, x=column), ("composes", "unclear", "not fitted"))


@learner
def a_column_of_nothing_read_everywhere(rng: np.random.Generator) -> Planted:
    """A little of it, at seen and unseen combinations alike."""
    grid, added, column, noise = with_a_covariate(rng, False)
    p = added + rng.uniform(0.1, 0.3) * column
    return Planted(grid.measured(added + noise, p, x=column), ("composes", "unclear", "not fitted"))
