"""Learners whose answers are right but for how they are written, and others to which nothing of the kind applies
(`verdicts.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from planted_grid import Grid, Planted, blurred, classes, learner, neighbours, numbers, with_errors
from recombine.mechanisms import MeasureResult

ALONE, NAMES = "Put right", "other names"
FITTED_OR_NOT = ("not fitted", "composes", "unclear", "overfits")
ANY = (*FITTED_OR_NOT, "fails", "partly")


def as_it_is(result: MeasureResult) -> Planted:
    """Whatever is found, nothing is to be said of how it is written."""
    return Planted(result, ANY, besides=result.mechanisms)


def good(rng: np.random.Generator, positive: bool = False) -> tuple[Grid, Any, Any]:
    """Rows, answers that add up or nearly so, and a learner that answers well: the true mean, or one with small errors
    at each combination. Half of the tables have training rows alone of seen combinations."""
    rows = int(rng.choice([1, 2, 4, 8]))
    grid = Grid.of(rng, rows) if rows > 1 and rng.integers(2) else Grid.trained_on_alone(rng, (rows,))
    mean = numbers(rng, grid, float(rng.choice([0.0, 0.5]))) + float(rng.choice([0, 0, 5, 40]))
    mean = np.exp(mean - mean.mean()) * float(rng.choice([1, 100])) if positive else mean
    off = float(rng.choice([0, 0.15])) * rng.normal(size=(20, 20))[grid.a, grid.b]
    p = mean * np.exp(off) if positive else mean + mean.std() * off
    noise = float(rng.choice([0, 0.1, 0.4]))
    y = mean * np.exp(noise * rng.normal(size=len(mean))) if positive else blurred(rng, mean, noise)
    return grid, y, p


@learner
def an_offset_everywhere(rng: np.random.Generator) -> Planted:
    grid, y, p = good(rng)
    return Planted(grid.measured(y, p + rng.choice([-1, 1]) * rng.uniform(1, 5) * p.std()), FITTED_OR_NOT, remark=ALONE)


@learner
def the_other_sign(rng: np.random.Generator) -> Planted:
    """The negative of the answers or, as of ratings whose ends were swapped, a number less them."""
    grid, y, p = good(rng)
    return Planted(grid.measured(y, rng.choice([0, 6]) - p), FITTED_OR_NOT, remark=ALONE)


@learner
def other_units(rng: np.random.Generator) -> Planted:
    """Per cent, thousands, Fahrenheit, pounds, answers less their mean in units of their spread."""
    grid, y, p = good(rng)
    written = [p * 100, p / 100, p / 1000, 32 + 1.8 * p, p / 0.4536, (p - p.mean()) / (3 * p.std())]
    chosen = written[int(rng.integers(len(written)))]
    apart = np.square(chosen - p).mean() > 0.3 * p.var()  # Units that hardly differ are no other units.
    return Planted(grid.measured(y, chosen), FITTED_OR_NOT, remark=ALONE * bool(apart), remarks=(ALONE,))


@learner
def logarithms_never_undone(rng: np.random.Generator) -> Planted:
    grid, y, p = good(rng, positive=True)
    return Planted(grid.measured(y, [np.log, np.log1p, np.log10][int(rng.integers(3))](p)), FITTED_OR_NOT, remark=ALONE)


@learner
def an_offset_everywhere_and_a_failure(rng: np.random.Generator) -> Planted:
    """Unseen combinations are off besides, each by another number."""
    grid, y, p = good(rng)
    off = p.std() * rng.normal(size=(20, 20))[grid.a, grid.b] * grid.unseen
    return Planted(grid.measured(y, p + off + rng.choice([-1, 1]) * rng.uniform(1, 5) * p.std()), ANY, remark=ALONE)


@learner
def classes_renamed(rng: np.random.Generator) -> Planted:
    """Two of them swapped, or all in another order; a few are wrong besides."""
    grid = Grid.of(rng, int(rng.choice([2, 8])))
    y = classes(rng, grid) if rng.integers(2) else np.array(["no", "yes"])[(grid.a + grid.b) % 2]
    found = np.unique(y)
    order = np.roll(found, 1) if rng.integers(2) else np.array([found[1], found[0], *found[2:]])
    p = order[np.searchsorted(found, with_errors(rng, y, rng.choice([0, 0.03])))]
    return Planted(grid.measured(y, p), FITTED_OR_NOT, remark=NAMES)


@learner
def numbers_written_as_they_are(rng: np.random.Generator) -> Planted:
    """Good learners, a forest, a lookup table, one number for all, noise: nothing is to be said of how they write."""
    grid, y, p = good(rng, positive=bool(rng.integers(2)))
    forest = RandomForestRegressor(30, random_state=0)
    middle = y[grid.known].mean()
    said = [
        lambda: p,
        lambda: grid.said_by(forest, y),
        lambda: np.where(grid.known, y, middle),
        lambda: np.where(grid.unseen, neighbours(rng, grid, y), y),
        lambda: np.full(len(y), middle + rng.choice([0, 3]) * y.std()),
        lambda: middle + y.std() * rng.normal(size=(20, 20))[grid.a, grid.b],
        lambda: y.std() * (3 + rng.normal(size=len(y))),
        lambda: grid.said_by(forest, rng.permutation(y)),
    ][int(rng.integers(8))]
    return as_it_is(grid.measured(y, said()))


@learner
def noise_written_as_it_is(rng: np.random.Generator) -> Planted:
    """Nothing to learn, few rows, and a learner that knows nothing or all of its training rows by heart."""
    grid = Grid.of(rng, int(rng.choice([2, 3])), (4, 5))
    y = rng.normal(size=len(grid.a)) + rng.choice([0, 5])
    said = [
        lambda: np.where(grid.known, y, rng.permutation(y)),
        lambda: rng.choice([0.1, 1, 5]) * rng.normal(size=(20, 20))[grid.a, grid.b] + rng.choice([0, 5]),
        lambda: grid.said_by(RandomForestRegressor(30, random_state=0), y),
        lambda: (y.sum() - y) / (len(y) - 1),
    ][int(rng.integers(4))]
    return as_it_is(grid.measured(y, said()))


@learner
def classes_named_as_they_are(rng: np.random.Generator) -> Planted:
    """Good learners, a forest, a lookup table, one class for all, guesses."""
    few = bool(rng.integers(2))
    grid = Grid.of(rng, int(rng.choice([2, 8])), (4, 5) if few else None)
    y = (
        classes(rng, grid)
        if rng.integers(2)
        else np.array(["no", "yes"])[rng.integers(2, size=(20, 20))[grid.a, grid.b]]
    )
    y = with_errors(rng, y, rng.choice([0, 0.2]))
    found, forest = np.unique(y), RandomForestClassifier(30, random_state=0)
    guess = rng.choice(found, size=(20, 20))[grid.a, grid.b]
    said = [
        lambda: with_errors(rng, y, rng.choice([0, 0.1, 0.4])),
        lambda: grid.said_by(forest, y),
        lambda: np.where(grid.known, y, guess),
        lambda: np.full(len(y), y[grid.known][0]),
        lambda: guess,
        lambda: rng.choice(found, size=len(y)),
    ][int(rng.integers(6))]
    return as_it_is(grid.measured(y, said()))
