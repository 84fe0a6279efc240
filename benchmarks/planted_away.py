"""A factor that gives the answer away in training and not in new rows, a factor that numbers rows; and factors that
tell the answer in both, or in neither."""

from __future__ import annotations

from typing import Any

import numpy as np

import recombine as rc
from planted_grid import FAILS, Grid, Planted, learner, with_errors

AWAY, OWN = "gives the answer away", "nearly every row has its own"
SHORT = ("shortcut by code",)
ANY = ("overfits", "unclear", "not fitted", *FAILS)


def _with(grid: Grid, extra: Any, y: Any, p: Any) -> Any:
    part = np.where(grid.unseen | grid.fresh, "test", "train")
    table = {"a": grid.a, "b": grid.b, "code": extra, "y": y, "p": p, "part": part}
    return rc.measure_predictions(table, ["a", "b", "code"], target="y", prediction="p", split="part=test")


def _answers(rng: np.random.Generator, grid: Grid) -> tuple[Any, Any]:
    """Classes or numbers of both factors, with noise, and the code that is made from them: of numbers, by eighths."""
    if rng.integers(2):
        y = with_errors(rng, np.array([f"class {c}" for c in (grid.a + grid.b) % 3]), 0.05)
        return y, np.char.add("k", np.char.replace(y, "class ", ""))
    y = rng.normal(size=20)[grid.a] + rng.normal(size=20)[grid.b] + 0.3 * rng.normal(size=len(grid.a))
    return y, np.searchsorted(np.quantile(y, np.arange(1, 8) / 8), y)


def _told(y: Any, code: Any, known: Any) -> Any:
    """What each code gives in training."""
    said = y.copy()
    for c in np.unique(code):
        own = y[known & (code == c)]
        names, count = np.unique(own, return_counts=True)
        said[code == c] = own.mean() if y.dtype.kind == "f" else names[count.argmax()]
    return said


@learner
def a_code_that_gives_the_answer_away_in_training(rng: np.random.Generator) -> Planted:
    """Made from the answer of training rows; new rows have one at random. The learner reads nothing else."""
    grid = Grid.of(rng, 8)
    y, code = _answers(rng, grid)
    code = np.where(grid.known, code, rng.permutation(code))
    return Planted(_with(grid, code, y, _told(y, code, grid.known)), (*ANY, "composes"), besides=SHORT, remark=AWAY)


@learner
def a_code_that_tells_the_answer_everywhere(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 8)
    y, code = _answers(rng, grid)
    return Planted(_with(grid, code, y, _told(y, code, grid.known)), (*ANY, "composes"), besides=SHORT)


@learner
def a_code_that_says_nothing_and_is_not_read(rng: np.random.Generator) -> Planted:
    grid = Grid.of(rng, 8)
    y, code = _answers(rng, grid)
    mean = _told(y, grid.a * 100 + grid.b, np.ones(len(y), dtype=bool))
    return Planted(_with(grid, rng.permutation(code), y, mean), (*ANY, "composes"))


@learner
def a_factor_that_numbers_rows(rng: np.random.Generator) -> Planted:
    """Training rows by heart, new ones at random."""
    grid = Grid.of(rng, 4)
    y, _ = _answers(rng, grid)
    p = np.where(grid.known, y, rng.permutation(y))
    return Planted(_with(grid, np.array([f"r{i}" for i in range(len(y))]), y, p), ANY, remark=OWN)
