"""Members as branches of one CUDA graph: each with operations of its own, several of them at a time.

Where a member's convolutions fill a GPU, stacking them gains nothing, and one convolution with a group per member is
slower than as many plain ones. What is left to gain is the idle time between small operations: branches fill it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from recombine.models.slopes import grad_and_value
from recombine.training.stack import Objective, Stack
from recombine.training.strategies.captured import Captured
from recombine.training.strategies.compiled import compiled_once
from recombine.training.strategies.in_halves import InHalves
from recombine.training.strategies.recording import trace
from recombine.training.strategies.stacked import Step, member_loss

Found = TypeVar("Found")
LANES = 5
"""Members at a time. Ten gained nothing over five, nor did letting cuDNN try its algorithms."""


def on_lanes(lanes: Sequence[torch.cuda.Stream], count: int, step: Callable[[int], Found]) -> list[Found]:
    """What the step of each gives, one lane after the other taken in turn; whatever comes after waits for all."""
    here, found = torch.cuda.current_stream(), []
    for lane in lanes:
        lane.wait_stream(here)
    for i in range(count):
        with torch.cuda.stream(lanes[i % len(lanes)]):
            found.append(step(i))
    for lane in lanes:
        here.wait_stream(lane)
    return found


class Branches(Captured):
    """Captures the steps of all members, on ``LANES`` streams; nothing is vmapped."""

    def __init__(self, stack: Stack, objective: Objective, shared: bool) -> None:
        super().__init__(stack, self._side_by_side, shared)
        self._gradient: Callable[..., Any] = grad_and_value(member_loss(stack, objective), has_aux=True)
        self._one: Step = self._plain
        self._lanes = [torch.cuda.Stream() for _ in range(min(LANES, len(stack)))]

    def _record(self, arguments: tuple[Any, ...]) -> Step:
        return self._step

    def _side_by_side(self, *arguments: Any) -> tuple[Tensor, Tensor, list[Tensor]]:
        found = on_lanes(self._lanes, len(self.stack), lambda i: self._one(*self._of(i, *arguments)))
        rows, losses, buffers = zip(*found, strict=True)
        return torch.stack(rows), torch.stack(losses), [torch.stack(parts) for parts in zip(*buffers, strict=True)]

    def _plain(self, *given: Any) -> tuple[Tensor, Tensor, list[Tensor]]:
        """The step of one member."""
        grads, (_, (loss, after)) = self._gradient(*given)
        return self.stack.layout.join(grads, ()), loss, list(after.values())

    def _of(
        self, i: int, parameters: list[Tensor], buffers: list[Tensor], inputs: tuple[Tensor, ...], targets: Tensor,
        weight: Tensor,
    ) -> tuple[Any, ...]:  # fmt: skip
        """What the loss of the i-th member is called with."""
        named = {slot.name: part[i] for slot, part in zip(self.stack.layout.slots, parameters, strict=True)}
        state = {name: part[i] for name, part in zip(self.stack.buffers, buffers, strict=True)}
        data = (inputs, targets) if self.shared else (tuple(part[i] for part in inputs), targets[i])
        return named, state, *data, weight[i]


class CompiledBranches(Branches):
    """The step of one member is compiled, with convolutions in halves, and every member takes it."""

    def _record(self, arguments: tuple[Any, ...]) -> Step:
        of_one = self._of(0, *arguments)
        with InHalves():
            recorded = trace(self._plain, of_one)
        self._one = compiled_once(recorded, of_one)
        return self._side_by_side
