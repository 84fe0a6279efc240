"""Predictions beside the wrong test rows, or all alike; collapses where there is hardly anything to learn; rare
classes; shortcuts of birds and backgrounds; and learners that look like these and are right, or overfit
(`verdicts.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

import recombine as rc
from planted_grid import FAILS, Grid, Planted, blurred, classes, learner, numbers, with_errors

PLACED, ALIKE, AGAINST = "predictions were put beside test rows", "how test rows were predicted", "go against"
ANY_ROW = "stand beside their own rows", "predictions were put beside rows ("
COLLAPSE = ("clearly better there", "answered clearly worse")
LOOK = "Look first at"


def noisy(rng: np.random.Generator, rows: tuple[int, ...] = (8, 12)) -> tuple[Grid, Any, Any]:
    """Rows, noisy answers and the best ones."""
    grid = Grid.of(rng, int(rng.choice(rows)))
    if rng.integers(2):
        right = classes(rng, grid)
        return grid, with_errors(rng, right, 0.1), right
    mean = numbers(rng, grid, 0.5)
    return grid, blurred(rng, mean, 0.2), mean


@learner
def new_rows_in_another_order(rng: np.random.Generator) -> Planted:
    grid, y, p = noisy(rng)
    test = ~grid.known
    p = p.copy()
    p[test] = rng.permutation(p[test]) if rng.integers(2) else p[test][::-1]
    also = (LOOK, "other names")  # Of a square turned round, classes may be renamed as well.
    return Planted(grid.measured(y, p), ("unclear",), remark=PLACED, remarks=also)


@learner
def all_rows_in_another_order(rng: np.random.Generator) -> Planted:
    """Of who reads the factors alone, or more: in no order that could be named."""
    grid, y, p = noisy(rng)
    p = rng.permutation(p if p.dtype.kind == "U" or rng.integers(2) else blurred(rng, p, 0.2))
    result = grid.measured(y, p)
    said = next((words for words in ANY_ROW if words in result.sentence()), ANY_ROW[0])
    return Planted(result, ("not fitted", "unclear"), remark=said, remarks=(LOOK, "other names"))


@learner
def noise_that_goes_with_answers_a_little(rng: np.random.Generator) -> Planted:
    """As spread as right answers, and about half of it noise of its own: it merely fits badly."""
    grid, y, p = noisy(rng)
    if p.dtype.kind == "U":
        said = with_errors(rng, p, 0.6)
    else:
        said = p.mean() + 0.5 * (p - p.mean()) + 0.85 * p.std() * rng.normal(size=len(p))
    return Planted(grid.measured(y, said), ("not fitted", "unclear", "composes"))


@learner
def one_answer_to_all_test_rows(rng: np.random.Generator) -> Planted:
    grid, y, p = noisy(rng)
    one = p[rng.integers(len(p))]
    return Planted(grid.measured(y, np.where(grid.known, p, one)), ("unclear",), remark=ALIKE, remarks=(LOOK,))


@learner
def training_rows_by_heart_and_others_at_random(rng: np.random.Generator) -> Planted:
    grid, y, _ = noisy(rng)
    return Planted(grid.measured(y, np.where(grid.known, y, rng.permutation(y))), ("overfits", "unclear", *FAILS))


@learner
def a_collapse_where_little_is_to_be_learnt(rng: np.random.Generator) -> Planted:
    """Weak effects, or none, that unseen combinations get turned round and made large."""
    grid = Grid.of(rng, 8)
    mean = numbers(rng, grid, 0.0)
    wild = mean.std() * rng.normal(size=(20, 20))[grid.a, grid.b]
    y = rng.choice([0, 0.4]) * mean + mean.std() * rng.normal(size=len(mean))
    p = np.where(grid.unseen, rng.uniform(2, 4) * wild, 0.2 * mean)
    result = rc.measure_predictions(
        {"a": grid.a, "b": grid.b, "y": y, "p": p, "part": np.where(grid.known, "train", "test")}, ["a", "b"],
        target="y", prediction="p", split="part=test",
    )  # fmt: skip
    said = next((words for words in COLLAPSE if words in result.sentence()), COLLAPSE[0])
    return Planted(result, ("fails", "not fitted"), remark=said, remarks=(LOOK,))


@learner
def no_collapse_where_little_is_to_be_learnt(rng: np.random.Generator) -> Planted:
    """The same learner on seen and unseen combinations: right, or as wild on both."""
    grid = Grid.of(rng, 8)
    mean = numbers(rng, grid, 0.0)
    y = rng.choice([0, 0.4]) * mean + mean.std() * rng.normal(size=len(mean))
    wild = rng.uniform(0.3, 3) * mean.std() * rng.normal(size=(20, 20))[grid.a, grid.b]
    return Planted(grid.measured(y, [0.4 * mean, wild][int(rng.integers(2))]), ("not fitted", "unclear", "composes"))


@learner
def the_likelier_of_rare_classes(rng: np.random.Generator) -> Planted:
    """The best class, which is the rare one at a few combinations."""
    while True:
        grid = Grid.of(rng, 12)
        odds = 1.2 * (rng.normal(size=20)[grid.a] + rng.normal(size=20)[grid.b]) - 2
        said = odds > 0
        if said.any() and said.mean() < 0.3:
            break
    y = rng.random(len(odds)) < 1 / (1 + np.exp(-odds))
    names = np.array(["no", "yes"])
    return Planted(grid.measured(names[y.astype(int)], names[said.astype(int)]), ("unclear", "composes"))


@learner
def probabilities_of_the_other_class(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 8)
    odds = 1.5 * (rng.normal(size=20)[grid.a] + rng.normal(size=20)[grid.b]) - rng.choice([0, 1.5])
    chance = 1 / (1 + np.exp(-odds))
    y = (rng.random(len(odds)) < chance).astype(int)
    result = grid.measured(y, 1 - chance)
    said = "other names" if "other names" in result.sentence() else AGAINST
    return Planted(result, ("not fitted", "unclear"), remark=said, remarks=("surer than right",))


def birds(rng: np.random.Generator) -> tuple[Any, Any, Any, Any, Any]:
    """Kinds of birds, each nearly always on one of two backgrounds, half of them never on the other: bird, background,
    class, and which rows are test rows and unseen."""
    count = int(rng.choice([12, 16, 30]))
    never = rng.permutation(count) < count // 2
    rows = [(bird, place, k >= 15, place != bird % 2 and never[bird]) for bird in range(count) for place in range(2)
            for k in range(75 if place == bird % 2 else 15 if never[bird] else 20)]  # fmt: skip
    bird, place, trained, unseen = np.array(rows).T
    return bird, place, bird % 2, ~trained.astype(bool), unseen.astype(bool)


def of_birds(bird: Any, place: Any, kind: Any, test: Any, said: Any) -> Any:
    names = np.array(["land", "water"])
    table = {"bird": bird, "place": place, "y": names[kind], "p": names[said], "part": np.where(test, "test", "train")}
    return rc.measure_predictions(table, ["bird", "place"], target="y", prediction="p", split="part=test")


@learner
def a_shortcut_by_background(rng: np.random.Generator) -> Planted:
    """Rows of birds that were never seen on it get the class of the background, nine times in ten."""
    bird, place, kind, test, unseen = birds(rng)
    said = np.where(unseen & (rng.random(len(bird)) < 0.9), place, kind)
    return Planted(of_birds(bird, place, kind, test, said), FAILS, ("shortcut by place",))


@learner
def some_birds_wrong_on_the_other_background(rng: np.random.Generator) -> Planted:
    """Each by the toss of a coin: no shortcut."""
    bird, place, kind, test, unseen = birds(rng)
    said = np.where(unseen & (rng.random(30) < 0.5)[bird], place, kind)
    return Planted(
        of_birds(bird, place, kind, test, said), (*FAILS, "unclear", "composes"), remarks=("by its own rows",)
    )
