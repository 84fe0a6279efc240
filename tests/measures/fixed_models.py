"""Ensembles with weights set by hand, so that every answer is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from recombine.space import FactorSpace
from recombine.support import Support, leave_out
from recombine.tasks import Draws, Task, squared_error
from recombine.training import Ensemble


def linear(
    rows: Sequence[tuple[Sequence[Sequence[float]], Sequence[float]]], members: Sequence[int] | None = None
) -> Ensemble:
    """One linear layer a member: (weight, bias)."""
    weight = torch.tensor([row[0] for row in rows], dtype=torch.float64)
    bias = torch.tensor([row[1] for row in rows], dtype=torch.float64)
    numbers = tuple(range(len(rows)) if members is None else members)
    return Ensemble.of(
        {"weight": weight, "bias": bias}, numbers, lambda: nn.Linear(weight.shape[2], weight.shape[1]).double()
    )


class Sum(Task):
    """x = (a, b) plus noise of a chosen size; the answer is a + 2b. (1, 2) is left out of training."""

    def __init__(self, noise: float = 0.0) -> None:
        self.noise = noise

    @property
    def space(self) -> FactorSpace:
        return FactorSpace.of(a=2, b=3)

    @property
    def train(self) -> Support:
        return leave_out(self.space, {"a": 1, "b": 2}, {"a": 0, "b": 2})

    @property
    def test(self) -> Support:
        return ~self.train

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        x = points.double()
        noisy = x + self.noise * draws("noise").uniform(x.shape, torch.float64)
        return noisy, (x[..., :1] + 2 * x[..., 1:])

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return squared_error(outputs, targets)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return {"accuracy": ((outputs - targets).abs() < 0.5).double()[:, 0]}
