"""Masks of a convolutional network as branches of one CUDA graph: each with operations of its own, fused, several at a
time.

Stacked, convolutions of many masks are groups of one convolution, or products that copy every picture nine times. One
by one they are what cuDNN is made for, and each mask of a stack takes the same compiled step."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from recombine.models.slopes import grad_and_value
from recombine.structure.objective import Constants, MaskObjective, Named
from recombine.structure.strategies import Shape
from recombine.training.stack import Stack
from recombine.training.strategies.branches import on_lanes
from recombine.training.strategies.captured import Captured
from recombine.training.strategies.channels_last import ChannelsLast
from recombine.training.strategies.compiled import compiled_once
from recombine.training.strategies.recording import trace
from recombine.training.strategies.stacked import Step

LANES = 8
"""Masks at a time."""


class MaskBranches(Captured):
    """The step of one mask, compiled; a stack's masks take it side by side, and the optimiser all at once."""

    def __init__(
        self, stack: Stack, objective: MaskObjective, weights: Named, one_model: bool, constants: Constants,
        shape: Shape,
    ) -> None:  # fmt: skip
        self._objective, self._weights, self._one_model = objective, weights, one_model
        self._constants, self._shape = constants.tensors(), shape
        self._names, self._weight_names = [slot.name for slot in stack.layout.slots], list(weights)
        super().__init__(stack, self._side_by_side, shared=False)
        self._lanes = [torch.cuda.Stream() for _ in range(min(LANES, len(stack)))]

    def _record(self, arguments: tuple[Any, ...]) -> Step:
        gradient = grad_and_value(self._total, has_aux=True)

        def one(*given: Any) -> tuple[Tensor, Tensor]:
            grads, (_, plain) = gradient(*given)
            return self.stack.layout.join(dict(zip(self._names, grads, strict=True)), ()), plain

        of_one = self._of(0, *arguments)
        with ChannelsLast():
            recorded = trace(one, of_one)
        self._one = compiled_once(recorded, of_one)
        return self._side_by_side

    def _total(
        self, numbers: list[Tensor], base: list[Tensor], mine: tuple[Tensor, ...], penalty: Tensor,
        parts: tuple[Tensor, ...], targets: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        return self._objective.total(
            dict(zip(self._names, numbers, strict=True)), dict(zip(self._weight_names, base, strict=True)),
            Constants(*mine), penalty, self._shape.step(parts, targets),
        )  # fmt: skip

    def _of(
        self, i: int, numbers: list[Tensor], _buffers: list[Tensor], parts: tuple[Tensor, ...], targets: Tensor,
        penalty: Tensor,
    ) -> tuple[Any, ...]:  # fmt: skip
        """What the i-th mask's step is called with."""
        dims, target_dim = self._shape.dims()
        return (
            [part[i] for part in numbers],
            [part if self._one_model else part[i] for part in self._weights.values()],
            tuple(part[i] for part in self._constants), penalty[i],
            tuple(part if dim is None else part[i] for part, dim in zip(parts, dims, strict=True)),
            targets if target_dim is None else targets[i],
        )  # fmt: skip

    def _side_by_side(self, *arguments: Any) -> tuple[Tensor, Tensor, list[Tensor]]:
        found = on_lanes(self._lanes, len(self.stack), lambda i: self._one(*self._of(i, *arguments)))
        rows, losses = zip(*found, strict=True)
        return torch.stack(rows), torch.stack(losses), []
