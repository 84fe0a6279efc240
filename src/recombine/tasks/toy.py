"""The two-input toy: Y₁, Y₂ ∈ {0, 1}, X_i = Y_i − U[0, 1], predict Y₁ (Li et al. 2020, section 6).

X₁ alone decides Y₁; X₂ is redundant. Trained without (1, 1), X₂ is also informative: knowing Y₂ = 1 one knows Y₁ = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

import torch
from torch import Tensor

from recombine.description import Description
from recombine.space import FactorSpace
from recombine.support import Support, full, leave_out
from recombine.tasks.draws import Draws
from recombine.tasks.losses import correct, cross_entropy
from recombine.tasks.task import Task


class ToyTask(Description, Task):
    """``second="redundant"`` trains without (1, 1), as the paper does; ``"uninformative"`` trains on all four
    combinations, so that X₂ says nothing of Y₁; so does ``"independent"``, each of Y₁ and Y₂ as often 1 as without
    (1, 1), one time in three, whatever the other is. ``"half"`` lies midway between the latter and ``"redundant"``: all
    four are shown, (1, 1) half as often as if they were independent. All are tested on (1, 1)."""

    kind: ClassVar[str] = "toy"

    second: Literal["redundant", "uninformative", "independent", "half"] = "redundant"
    loss: Literal["cross entropy", "squared tanh"] = "cross entropy"
    """``"squared tanh"``: (tanh ŷ_k ∓ 1)²/2 on each output, the loss of the playground the paper used."""

    @cached_property
    def space(self) -> FactorSpace:
        return FactorSpace.of(y1=2, y2=2)

    @cached_property
    def train(self) -> Support:
        if self.second != "redundant":
            return full(self.space)
        return leave_out(self.space, {"y1": 1, "y2": 1})

    @cached_property
    def test(self) -> Support:
        return ~leave_out(self.space, {"y1": 1, "y2": 1})

    def _train_points(self, device: torch.device | str) -> Tensor:
        if self.second not in ("independent", "half"):
            return super()._train_points(device)
        each = torch.tensor([0, 0, 1], device=device)
        nine = torch.cartesian_prod(each, each)
        # Twice the nine, with one (1, 1) and one (0, 0) exchanged for (0, 1) and (1, 0).
        return nine if self.second == "independent" else torch.cat([nine, nine[1:-1], nine[[2, 6]]])

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        noise = draws("noise").uniform(points.shape)
        return points.to(noise.dtype) - noise, points[..., 0]

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        if self.loss == "cross entropy":
            return cross_entropy(outputs, targets)
        wanted = 2 * (targets[:, None] == torch.arange(2, device=targets.device)).to(outputs.dtype) - 1
        return 0.5 * (torch.tanh(outputs) - wanted).square().sum(-1)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return {"accuracy": correct(outputs, targets)}
