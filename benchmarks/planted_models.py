"""Models whose behaviour is planted, each asked about a task, and what may be said of each; one is trained."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

import recombine as rc
from planted_grid import FAILS, Planted, learner
from recombine.mechanisms import MeasureResult
from recombine.support import Explicit
from recombine.tasks import cross_entropy, squared_error


def overfitted_network(rng: np.random.Generator, **more: Any) -> MeasureResult:
    """The label is the left one of two factors, and nothing in the input tells the right one."""
    space = rc.FactorSpace.of(left=2, right=6)
    train = Explicit(space, [(i, j) for i in range(2) for j in range(6) if (i + j) % 3])
    codes = torch.as_tensor(space.sample(720, seed=int(rng.integers(10**6))))
    generator = torch.Generator().manual_seed(int(rng.integers(10**6)))
    inputs = torch.randn(720, 40, generator=generator) + 0.06 * (2.0 * codes[:, :1] - 1)
    task = rc.FixedTask(space, train, ~train, inputs, codes[:, 0], codes, loss=cross_entropy, **more)
    torch.manual_seed(int(rng.integers(10**6)))
    network = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    x, y = task.whole()
    for _ in range(150):
        optimizer.zero_grad()
        cross_entropy(network(x), y).mean().backward()
        optimizer.step()
    return rc.measure(network, task)


@learner
def overfits_only_network(rng: np.random.Generator) -> Planted:
    return Planted(overfitted_network(rng), ("overfits",), remarks=("surer than right",))


@learner
def diverged(rng: np.random.Generator) -> Planted:
    space = rc.FactorSpace.of(a=4, b=5)
    codes = torch.as_tensor(space.grid()).repeat(6, 1)
    train = Explicit(space, space.grid()[rng.permutation(20)[:12]])
    number = bool(rng.integers(2))
    targets = codes.float().sum(1, keepdim=True) if number else codes[:, 0] % 2
    loss = squared_error if number else cross_entropy
    task = rc.FixedTask(space, train, ~train, codes.float(), targets, codes, loss=loss)
    return Planted(rc.measure(lambda x: torch.full((len(x), 1 if number else 2), torch.nan), task), ("not fitted",))


def photographs(rng: np.random.Generator, noise: float) -> tuple[rc.FixedTask, Any]:
    """Six animals in six places, each seen in two of them; an input is a sum of both and noise."""
    space = rc.FactorSpace.of(animal=6, place=6)
    train = Explicit(space, [(i, (i + shift) % 6) for i in range(6) for shift in (0, 1)])
    codes = torch.as_tensor(space.sample(2400, seed=int(rng.integers(10**6))))
    generator = torch.Generator().manual_seed(int(rng.integers(10**6)))
    inputs = nn.functional.one_hot(codes, 6).flatten(1) + noise * torch.randn(2400, 12, generator=generator)
    return rc.FixedTask(space, train, ~train, inputs, codes[:, 0], codes, loss=cross_entropy), codes


@learner
def redundant_influence(rng: np.random.Generator) -> Planted:
    """Each place speaks for the animals that were seen there, more loudly than the animal itself."""
    task, _ = photographs(rng, 0.1)
    weight = torch.zeros(6, 12)
    weight[:, :6] = torch.eye(6)
    for place in range(6):
        weight[place, 6 + place] = weight[(place - 1) % 6, 6 + place] = float(rng.uniform(1.2, 2.0))
    return Planted(
        rc.measure(lambda x: x @ weight.T, task), FAILS, ("redundant influence of place", "shortcut by place",
                                                         "memorization: a copied answer"),
        remarks=("surer than right",),
    )  # fmt: skip


@learner
def pairs_by_heart_beside_a_factor_that_does_not_count(rng: np.random.Generator) -> Planted:
    """Knows the pairs it has seen and says any animal of others: the place moves its answers as all else would."""
    task, _ = photographs(rng, 0.05)
    known = torch.as_tensor(rng.integers(0, 6, (6, 6)))
    grid = task.space.grid()
    for animal, place in grid[task.train.contains(grid)]:
        known[animal, place] = animal

    def model(x: torch.Tensor) -> torch.Tensor:
        return nn.functional.one_hot(known[x[:, :6].argmax(1), x[:, 6:].argmax(1)], 6).float()

    return Planted(rc.measure(model, task), FAILS, remarks=("surer than right",))


@learner
def noise_that_no_factor_makes(rng: np.random.Generator) -> Planted:
    """Reads the animal alone, and is often wrong since inputs are noisy: at seen and unseen pairs alike."""
    task, _ = photographs(rng, float(rng.uniform(0.25, 0.4)))
    return Planted(rc.measure(lambda x: x[:, :6], task, fitted=0.5), ("composes", "unclear"))


@learner
def not_finite_where_unseen(rng: np.random.Generator) -> Planted:
    task, _ = photographs(rng, 0.05)

    def model(x: torch.Tensor) -> torch.Tensor:
        at = torch.as_tensor(task.train.contains(torch.stack([x[:, :6].argmax(1), x[:, 6:].argmax(1)], 1).numpy()))
        return torch.where(at[:, None], x[:, :6], torch.nan)

    return Planted(rc.measure(model, task), FAILS)
