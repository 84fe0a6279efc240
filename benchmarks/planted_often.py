"""Learners of tables most of whose rows lie at two of the levels, and what may be said of each: a mean over rows says
little of combinations there."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

import recombine as rc
from planted_grid import FAILS, Planted, learner

SIDE, ROWS, OFTEN = 8, 6000, 2


class Uneven:
    """Eight findings at eight sites; of the rows .9 to .97 are of the first two sites, a fifth of those of seen
    combinations are not trained on."""

    def __init__(self, rng: np.random.Generator) -> None:
        often = rng.random(ROWS) < rng.uniform(0.9, 0.97)
        self.a = rng.integers(SIDE, size=ROWS)
        self.site = np.where(often, rng.integers(OFTEN, size=ROWS), rng.integers(OFTEN, SIDE, size=ROWS))
        hidden = np.zeros((SIDE, SIDE), dtype=bool)
        hidden.flat[rng.permutation(SIDE**2)[: int(rng.integers(18, 27))]] = True
        hidden[np.arange(SIDE), np.arange(SIDE)] = False
        self.unseen = hidden[self.a, self.site]
        self.fresh = ~self.unseen & (rng.random(ROWS) < 0.2)

    def measured(self, said: Any) -> rc.MeasureResult:
        names = np.array([f"finding {c}" for c in range(SIDE)])
        part = np.where(self.unseen | self.fresh, "test", "train")
        table = {"a": self.a, "site": self.site, "y": names[self.a], "p": names[said], "part": part}
        return rc.measure_predictions(table, ["a", "site"], target="y", prediction="p", split="part=test")


@learner
def wrong_at_sites_with_few_rows(rng: np.random.Generator) -> Planted:
    """Whether seen or not: nothing fails to compose, and nothing is known by heart."""
    grid = Uneven(rng)
    wrong = grid.site >= rng.integers(OFTEN, 6)
    said = np.where(wrong, (grid.a + 1) % SIDE, grid.a)
    return Planted(grid.measured(said), ("composes", "unclear", "not fitted"), remarks=("Look first at",))


@learner
def wrong_half_of_the_time_at_sites_with_few_rows(rng: np.random.Generator) -> Planted:
    """Row by row, whether seen or not."""
    grid = Uneven(rng)
    wrong = (grid.site >= OFTEN) & (rng.random(ROWS) < rng.uniform(0.3, 0.6))
    said = np.where(wrong, rng.integers(SIDE, size=ROWS), grid.a)
    return Planted(grid.measured(said), ("composes", "unclear", "not fitted"), remarks=("Look first at",))


@learner
def by_heart_where_rows_are_few(rng: np.random.Generator) -> Planted:
    """Training rows are right, and new rows of any combination are wrong as often."""
    grid = Uneven(rng)
    new = (grid.unseen | grid.fresh) & (rng.random(ROWS) < rng.uniform(0.3, 0.5))
    said = np.where(new, (grid.a + rng.integers(1, SIDE, size=ROWS)) % SIDE, grid.a)
    return Planted(grid.measured(said), ("overfits",))


class ByHeart(nn.Module):
    """Training inputs are answered rightly, all others by the class modulo a number."""

    def __init__(self, inputs: torch.Tensor, right: torch.Tensor, known: int) -> None:
        super().__init__()
        self.inputs, self.right, self.known = inputs, right, known

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        distance, nearest = torch.cdist(x, self.inputs).min(1)
        said = torch.where(distance < 1e-2, self.right[nearest], x[:, :SIDE].argmax(1) % self.known)
        return 4.0 * nn.functional.one_hot(said, SIDE).float()


@learner
def training_rows_by_heart_and_one_rule_for_others(rng: np.random.Generator) -> Planted:
    """The rule knows some of the classes alone, and answers seen and unseen combinations alike."""
    space = rc.FactorSpace.of(a=SIDE, b=SIDE)
    train = rc.Explicit(space, space.grid()[rng.permutation(SIDE**2)[:38]])
    codes = torch.as_tensor(space.sample(1600, seed=int(rng.integers(10**6))))
    generator = torch.Generator().manual_seed(int(rng.integers(10**6)))
    inputs = nn.functional.one_hot(codes, SIDE).flatten(1) + 0.1 * torch.randn(1600, 2 * SIDE, generator=generator)
    task = rc.FixedTask(space, train, ~train, inputs, codes[:, 0], codes, loss=nn.CrossEntropyLoss())
    known = torch.as_tensor(np.asarray(task.trained_on))
    model = ByHeart(inputs[known], codes[known, 0], int(rng.integers(2, 5)))
    return Planted(rc.measure(model, task), ("overfits",), remarks=("surer than right",))


@learner
def three_combinations_wholly_wrong_where_rows_are_few(rng: np.random.Generator) -> Planted:
    """All others are right."""
    grid = Uneven(rng)
    codes = np.unique((grid.a * SIDE + grid.site)[grid.unseen & (grid.site >= OFTEN)])
    wrong = np.isin(grid.a * SIDE + grid.site, rng.choice(codes, 3, replace=False))
    return Planted(grid.measured(np.where(wrong, (grid.a + 3) % SIDE, grid.a)), FAILS)
