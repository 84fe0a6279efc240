"""Several members of one learner: all alike, or of which some fail and others compose, or most did not fit
(`verdicts.py`)."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

import recombine as rc
from planted_grid import FAILS, Planted, learner
from recombine.mechanisms import MeasureResult
from recombine.support import Explicit

RIGHT, WRONG, UNFIT = range(3)
PART_WAYS = "embers part ways"


class Member(nn.Module):
    """Says the animal; or on unseen pairs that of another row of a table; or always the same. A share of its answers
    is drawn, each for its pair."""

    def __init__(self, kind: int, known: torch.Tensor, slips: torch.Tensor, said: torch.Tensor) -> None:
        super().__init__()
        self.kind = nn.Parameter(torch.tensor(float(kind)))
        self.known, self.slips, self.said = (nn.Parameter(t, requires_grad=False) for t in (known, slips, said))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = len(self.known)
        animal, place = x[:, :n].argmax(1), x[:, n:].argmax(1)
        away = (animal + 1 + place % (n - 1)) % n
        told = torch.where((self.known[animal, place] == 1) | (self.kind != WRONG), animal, away)
        told = torch.where(self.kind == UNFIT, torch.zeros_like(animal), told)
        slip = self.slips[animal, place].long()
        return self.said[torch.where(slip >= 0, slip, told)]


def together(rng: np.random.Generator, kinds: list[int], slips: float = 0.0) -> MeasureResult:
    n = int(rng.integers(5, 8))
    space = rc.FactorSpace.of(animal=n, place=n)
    train = Explicit(space, [(i, (i + s) % n) for i in range(n) for s in range(n // 2)])
    grid = space.grid()
    known = torch.zeros(n, n)
    known[tuple(grid[train.contains(grid)].T)] = 1
    codes = torch.as_tensor(space.sample(n * n * int(rng.integers(15, 40)), seed=int(rng.integers(10**6))))
    inputs = nn.functional.one_hot(codes, n).flatten(1).float()
    if rng.integers(2):
        said, loss = 6.0 * torch.eye(n), nn.CrossEntropyLoss()
        flipped = torch.as_tensor(rng.random(len(codes)) < 0.03)
        targets = torch.where(flipped, torch.as_tensor(rng.integers(n, size=len(codes))), codes[:, 0])
    else:
        said, loss = torch.linspace(-1, 1, n)[:, None], nn.MSELoss()
        targets = said[codes[:, 0]] + 0.1 * torch.as_tensor(rng.normal(size=(len(codes), 1))).float()
    task = rc.FixedTask(space, train, ~train, inputs, targets, codes, loss=loss)
    drawn = [np.where(rng.random((n, n)) < slips, rng.integers(n, size=(n, n)), -1) for _ in kinds]
    members = [Member(k, known, torch.as_tensor(d).float(), said) for k, d in zip(kinds, drawn, strict=True)]
    return rc.measure(members, task)


@learner
def one_member_of_several_fails(rng: np.random.Generator) -> Planted:
    kinds = [RIGHT] * int(rng.choice([3, 5, 8, 15])) + [WRONG]
    return Planted(together(rng, kinds), ("partly",), remark=PART_WAYS, remarks=("surer than right",))


@learner
def half_of_the_members_fail(rng: np.random.Generator) -> Planted:
    kinds = [RIGHT, WRONG] * int(rng.choice([1, 2, 4]))
    return Planted(together(rng, kinds), FAILS, remark=PART_WAYS, remarks=("surer than right",))


@learner
def all_members_fail(rng: np.random.Generator) -> Planted:
    return Planted(together(rng, [WRONG] * int(rng.choice([2, 4, 8]))), FAILS, remarks=("surer than right",))


@learner
def all_members_are_right_but_for_slips(rng: np.random.Generator) -> Planted:
    """Each errs at pairs of its own, seen or not, so that some unseen ones may be clearly wrong."""
    result = together(rng, [RIGHT] * int(rng.choice([2, 4, 8, 15])), float(rng.choice([0.0, 0.03, 0.06])))
    return Planted(result, ("composes", "unclear", "partly"), remarks=("surer than right",))


@learner
def most_members_did_not_fit(rng: np.random.Generator) -> Planted:
    kinds = [RIGHT, WRONG][int(rng.integers(2)) :][:1] + [UNFIT] * int(rng.choice([1, 3, 5]))
    return Planted(together(rng, kinds), ("unclear",), remarks=("surer than right",))
