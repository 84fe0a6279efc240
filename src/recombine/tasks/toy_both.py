"""The two-input toy with both answers asked: X_i = Y_i − U[0, 1], predict Y₁ and Y₂ (Li et al. 2020, proposition 5).

X₁ alone decides Y₁ and X₂ alone Y₂. Trained without (1, 1), each is informative of the other answer as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

import torch
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.space import FactorSpace
from recombine.support import Support
from recombine.tasks.draws import Draws
from recombine.tasks.losses import correct, cross_entropy
from recombine.tasks.task import Task
from recombine.tasks.toy import ToyTask

LEVELS = 2


class ToyBoth(Description, Task):
    """The inputs of `ToyTask`; outputs are two scores for Y₁ and two for Y₂, the loss is the sum of both cross
    entropies. ``other="uninformative"`` and ``"independent"`` train on all four combinations, as in `ToyTask`, so that
    no input says anything of the other answer."""

    kind: ClassVar[str] = "toy-both"

    other: Literal["redundant", "uninformative", "independent"] = "redundant"

    @cached_property
    def space(self) -> FactorSpace:
        return self._toy.space

    @cached_property
    def train(self) -> Support:
        return self._toy.train

    @cached_property
    def test(self) -> Support:
        return self._toy.test

    @cached_property
    def _toy(self) -> ToyTask:
        return ToyTask(second=self.other)

    def _train_points(self, device: torch.device | str) -> Tensor:
        return self._toy._train_points(device)

    def answer_part(self, component: int) -> slice:
        """The outputs that say a component."""
        return slice(LEVELS * component, LEVELS * (component + 1))

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        inputs, _ = self._toy.examples(points, draws)
        return inputs, points

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        if outputs.shape[-1] != 2 * LEVELS:
            raise InputError(f"both answers need {2 * LEVELS} outputs, two scores for each; got {outputs.shape[-1]}.")
        return cross_entropy(outputs.unflatten(-1, (-1, LEVELS)), targets).sum(-1)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        """``accuracy``: both answers are right; ``first``, ``second``: each alone."""
        right = correct(outputs.unflatten(-1, (-1, LEVELS)), targets)
        return {"accuracy": right.prod(-1), "first": right[..., 0], "second": right[..., 1]}
