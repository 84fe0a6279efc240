"""Learners whose answer is several numbers, or several labels of yes and no, some of which may be missing in a row; and
what may be said of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

import recombine as rc
from planted_grid import FAILS, Planted, learner

SIDE, NO_LABEL = 7, -1.0


class Outputs:
    """Several answers to each of some rows of seven by seven combinations; what is right is a sum of effects."""

    def __init__(self, rng: np.random.Generator, answers: int = 0) -> None:
        self.rng, self.answers = rng, answers or int(rng.integers(2, 6))
        self.space = rc.FactorSpace.of(a=SIDE, b=SIDE)
        grid = self.space.grid()
        hidden = np.zeros((SIDE, SIDE), dtype=bool)
        hidden.flat[rng.permutation(SIDE**2)[: int(rng.integers(14, 20))]] = True
        hidden[np.arange(SIDE), np.arange(SIDE)] = False
        self.hidden = hidden[grid[:, 0], grid[:, 1]]
        self.train = rc.Explicit(self.space, grid[~self.hidden])
        self.codes = np.repeat(grid, int(rng.integers(6, 12)), axis=0)
        self.unseen = hidden[self.codes[:, 0], self.codes[:, 1]]
        one, two = rng.normal(size=(2, SIDE, self.answers))
        self.units = 10.0 ** rng.uniform(-1, 2, self.answers)
        self.right = (one[self.codes[:, 0]] + two[self.codes[:, 1]]) * self.units

    def noisy(self, heavy: bool = False) -> Any:
        """The right answers with noise of their own."""
        size = self.rng.uniform(0.05, 0.4, self.answers) * self.units
        draw = self.rng.standard_t(3, self.right.shape) if heavy else self.rng.normal(size=self.right.shape)
        return self.right + size * draw

    def dealt(self, which: Any = slice(None)) -> Any:
        """The right answers, but at unseen combinations those of other ones, of some of the numbers."""
        levels = self.codes @ np.array([SIDE, 1])
        moved = np.arange(SIDE**2)
        moved[self.hidden] = self.rng.permutation(moved[self.hidden])
        first = np.searchsorted(levels, np.arange(SIDE**2))
        said = self.right.copy()
        said[:, which] = self.right[first[moved[levels]]][:, which]
        return said

    def gone(self, least: float = 0.1, most: float = 0.5) -> Any:
        """Which labels are missing."""
        return self.rng.random(self.right.shape) < self.rng.uniform(least, most)

    def lacked(self, share: float = 0.5) -> Any:
        """The same of whole combinations, other ones for each of the answers; no level lacks a label altogether, and
        three unseen combinations have it."""
        hidden = self.hidden.ravel()
        while True:
            gone = self.rng.random((SIDE**2, self.answers)) < share
            known = (~gone & ~hidden[:, None]).reshape(SIDE, SIDE, -1)
            if known.any(0).all() and known.any(1).all() and (~gone[hidden]).sum(0).min() >= 3:
                return gone[self.codes @ [SIDE, 1]]

    def measured(self, targets: Any, said: Any, loss: Any, **more: Any) -> Any:
        rows = torch.arange(len(self.codes))[:, None].float()
        outputs, told = torch.as_tensor(said, dtype=torch.float32), torch.as_tensor(targets, dtype=torch.float32)
        task = rc.FixedTask(self.space, self.train, ~self.train, rows, told, self.codes, loss=loss, **more)
        return rc.measure(lambda x: outputs[x[:, 0].long()], task)


def over_labels(loss: Callable[..., torch.Tensor], missing: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """A loss that leaves labels out that are missing."""

    def masked(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        gone = missing(targets)
        each = loss(outputs, targets.masked_fill(gone, 0.0), reduction="none").masked_fill(gone, 0.0)
        return each.sum(1) / (~gone).sum(1).clamp(min=1)

    return masked


def numbers(rng: np.random.Generator, fails: bool, gone: Callable[[Outputs], Any] = Outputs.gone) -> Any:
    """Labels that are missing are no numbers, or one number that stands for none."""
    table = Outputs(rng)
    gone, mark = gone(table), float(rng.choice([np.nan, -999.0]))
    loss = over_labels(nn.functional.mse_loss, torch.isnan if np.isnan(mark) else lambda y: y == mark)
    said = table.dealt() if fails else table.right
    return table.measured(np.where(gone, mark, table.noisy()), said, loss)


def labels(rng: np.random.Generator, fails: bool, gone: Callable[[Outputs], Any] = Outputs.gone) -> Any:
    """Labels of yes and no that are missing are no numbers, or −1."""
    table = Outputs(rng)
    gone, mark = gone(table), float(rng.choice([np.nan, NO_LABEL]))
    loss = over_labels(nn.functional.binary_cross_entropy_with_logits, lambda y: torch.isnan(y) | (y == NO_LABEL))
    yes = (table.right > 0).astype(float)
    flip = rng.random(yes.shape) < rng.uniform(0, 0.05)
    said = np.where((table.dealt() if fails else table.right) > 0, 4.0, -4.0)
    return table.measured(np.where(gone, mark, np.where(flip, 1 - yes, yes)), said, loss)


@learner
def several_numbers_with_missing_labels(rng: np.random.Generator) -> Planted:
    return Planted(numbers(rng, False), ("composes",))


@learner
def failing_numbers_with_missing_labels(rng: np.random.Generator) -> Planted:
    return Planted(numbers(rng, True), FAILS)


@learner
def several_labels_with_missing_ones(rng: np.random.Generator) -> Planted:
    return Planted(labels(rng, False), ("composes", "unclear"))


@learner
def failing_labels_with_missing_ones(rng: np.random.Generator) -> Planted:
    return Planted(labels(rng, True), FAILS)


@learner
def numbers_that_whole_combinations_lack(rng: np.random.Generator) -> Planted:
    return Planted(numbers(rng, False, Outputs.lacked), ("composes", "unclear"))


@learner
def failing_numbers_that_whole_combinations_lack(rng: np.random.Generator) -> Planted:
    return Planted(numbers(rng, True, Outputs.lacked), FAILS)


@learner
def labels_that_whole_combinations_lack(rng: np.random.Generator) -> Planted:
    return Planted(labels(rng, False, Outputs.lacked), ("composes", "unclear"))


@learner
def failing_labels_that_whole_combinations_lack(rng: np.random.Generator) -> Planted:
    return Planted(labels(rng, True, Outputs.lacked), FAILS)


@learner
def one_number_that_fails_of_those_that_whole_combinations_lack(rng: np.random.Generator) -> Planted:
    table = Outputs(rng)
    targets = np.where(table.lacked(), np.nan, table.noisy())
    return Planted(table.measured(targets, table.dealt([0]), nn.MSELoss()), FAILS)


@learner
def one_number_by_chance_of_those_that_whole_combinations_lack(rng: np.random.Generator) -> Planted:
    """Of one of the numbers it knows nothing: it says that of any row."""
    table = Outputs(rng)
    targets, said = np.where(table.lacked(), np.nan, table.noisy()), table.right.copy()
    said[:, 0] = rng.permutation(said[:, 0])
    return Planted(table.measured(targets, said, nn.MSELoss()), ("not fitted",))


@learner
def numbers_one_of_which_is_never_known_where_unseen(rng: np.random.Generator) -> Planted:
    table = Outputs(rng)
    targets = table.noisy()
    targets[table.unseen, 0] = np.nan
    return Planted(table.measured(targets, table.right, nn.MSELoss()), ("composes", "unclear"))


@learner
def labels_that_add_up_each_by_itself(rng: np.random.Generator) -> Planted:
    """Each label is told by one factor, so that a simple rule knows as much."""
    table = Outputs(rng)
    places, told = rng.integers(2, size=table.answers), rng.integers(2, size=(table.answers, SIDE))
    yes = told[np.arange(table.answers), table.codes[:, places]].astype(float)
    return Planted(table.measured(yes, 8 * yes - 4, nn.BCEWithLogitsLoss()), ("composes", "unclear"))


@learner
def several_numbers_with_heavy_tails(rng: np.random.Generator) -> Planted:
    """All are right: the more numbers there are, the more often one looks wrong by chance."""
    table = Outputs(rng)
    return Planted(table.measured(table.noisy(heavy=True), table.right, nn.MSELoss()), ("composes", "unclear"))


@learner
def one_of_several_numbers_that_fails(rng: np.random.Generator) -> Planted:
    """At each unseen combination it is off by about half of its spread, up or down; all other numbers are right."""
    table = Outputs(rng, 5)
    said = table.right.copy()
    spread = table.right[:, 0].std()
    said[table.unseen, 0] += (
        rng.uniform(0.4, 0.8) * spread * rng.choice([-1, 1], SIDE**2)[table.codes @ [SIDE, 1]][table.unseen]
    )
    return Planted(table.measured(table.noisy(), said, nn.MSELoss()), FAILS)
