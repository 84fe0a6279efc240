"""All members of a stack in one step: the member's gradient, vmapped and traced once into a flat list of operations.

``vmap`` decides anew at every call how each operation is batched, which costs more than the operations of a small
network. Tracing one step records the batched operations; replaying the record skips the deciding. Recording costs what
it saves in some ten steps, so a training of a few is never recorded; the numbers are the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.func import vmap

from recombine.models.called import call_with
from recombine.models.slopes import grad_and_value
from recombine.training.optim import Hyper
from recombine.training.stack import Buffers, Objective, Stack, batched_attention, undisturbed
from recombine.training.strategies.recording import trace

Step = Callable[..., tuple[Tensor, Tensor, list[Tensor]]]
"""(parameters, buffers, inputs, targets, weight) → (gradients as rows, losses, buffers after the step)."""
FEW = 8
"""The first steps of a training are not recorded. They are counted from its start, also where it is continued."""


class Stacked:
    """One recorded step for the whole stack, whatever ``step`` computes; ``shared`` where one batch is for all."""

    recorded_after = FEW

    def __init__(self, stack: Stack, step: Step, shared: bool) -> None:
        self.stack, self.shared, self._step = stack, shared, step
        self.parameters = stack.layout.split(stack.flat)
        self._recorded: Step | None = None
        self._update: Callable[..., None] = stack.optimizer.update_in_pieces

    def record(self, inputs: tuple[Tensor, ...], targets: Tensor) -> None:
        """Record the step from a batch like those to come."""
        with torch.no_grad():
            self._recorded = self._record(self._arguments(inputs, targets))

    def prepare(self, inputs: tuple[Tensor, ...], targets: Tensor, steps: int) -> None:
        """What PyTorch cannot stack is an error before anything is trained: the step is recorded, or, where there are
        only a few, taken once for nothing."""
        if steps > self.recorded_after:
            return self.record(inputs, targets)
        with torch.no_grad():
            self._gradients(self._arguments(inputs, targets), 0)

    def advance(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor, first: int) -> Tensor:
        """Train through a block of batches (steps × members × …); returns the losses (steps × members)."""
        losses = self.stack.flat.new_empty(len(hyper), len(self.stack))
        with torch.no_grad():
            for s, numbers in enumerate(hyper.tolist()):
                x = inputs if self.shared else tuple(part[s] for part in inputs)
                losses[s] = self.step(x, targets if self.shared else targets[s], numbers, first + s)
        return losses

    def step(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Hyper, number: int = FEW) -> Tensor:
        """One step of every member, in place; returns the losses (members)."""
        stack = self.stack
        grad, loss, buffers = self._gradients(self._arguments(inputs, targets), number)
        if stack.stop_below is not None:
            frozen = stack.frozen()
            loss = torch.where(frozen, stack.held, loss)
            buffers = [
                torch.where(frozen.reshape(-1, *[1] * (new.dim() - 1)), old, new)
                for old, new in zip(stack.buffers.values(), buffers, strict=True)
            ]
            stack.held.copy_(loss)
            # A learning rate of zero is how a member stands still while the others go on.
            stack.lr.mul_((loss > stack.stop_below)[:, None])
        for old, new in zip(stack.buffers.values(), buffers, strict=True):
            old.copy_(new)
        self._update(stack.flat, stack.optimizer.clipped(grad), stack.state, stack.lr, stack.decay, hyper)
        return loss

    def _gradients(self, arguments: tuple[Any, ...], number: int) -> tuple[Tensor, Tensor, list[Tensor]]:
        """Gradients, losses and buffers: of the first few steps as they come, then from the record. What vmap cannot
        batch it does one by one, and warns of it; a record takes such an operation apart first."""
        if self._recorded is None and number < self.recorded_after:
            with warnings.catch_warnings():
                warnings.filterwarnings("error", "There is a performance drop")
                try:
                    return self._step(*arguments)
                except UserWarning:
                    self.recorded_after = 0
        if self._recorded is None:
            self._recorded = self._record(arguments)
        return self._recorded(*arguments)

    def _arguments(self, inputs: tuple[Tensor, ...], targets: Tensor) -> tuple[Any, ...]:
        stack = self.stack
        return list(self.parameters.values()), list(stack.buffers.values()), inputs, targets, stack.weight

    def _record(self, arguments: tuple[Any, ...]) -> Step:
        return trace(self._step, arguments)


def member_loss(stack: Stack, objective: Objective) -> Callable[..., tuple[Tensor, tuple[Tensor, Buffers]]]:
    """What is minimised for one member: (that, (the task's loss alone, the buffers after the step))."""
    module = stack.module
    frozen = {name for name, parameter in module.named_parameters() if not parameter.requires_grad}

    def loss(
        parameters: dict[str, Tensor], buffers: Buffers, inputs: tuple[Tensor, ...], targets: Tensor, weight: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Buffers]]:
        parameters = {name: p.detach() if name in frozen else p for name, p in parameters.items()}
        values = {**parameters, **{name: buffer.clone() for name, buffer in buffers.items()}}
        with undisturbed(module), batched_attention(stack.flat):
            outputs = call_with(module, values, inputs)  # leaves in ``values`` what buffers were set to
        total, plain = objective.total(outputs, targets, parameters, weight)
        return total, (plain, {name: values[name].detach() for name in buffers})

    return loss


def member_step(stack: Stack, objective: Objective, shared: bool) -> Step:
    """A step of the members of a stack towards ``objective``."""
    names, buffer_names = [s.name for s in stack.layout.slots], list(stack.buffers)
    layout = stack.layout
    data = None if shared else 0
    gradient = vmap(grad_and_value(member_loss(stack, objective), has_aux=True), in_dims=(0, 0, data, data, 0))

    def step(
        parameters: list[Tensor], buffers: list[Tensor], inputs: tuple[Tensor, ...], targets: Tensor, weight: Tensor
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        named = dict(zip(names, parameters, strict=True))
        grads, (_, (plain, after)) = gradient(
            named, dict(zip(buffer_names, buffers, strict=True)), inputs, targets, weight
        )
        return layout.join(grads, (len(plain),)), plain, [after[name] for name in buffer_names]

    return step if len(stack) > 1 or stack.flat.is_cuda else _doubled(step, shared)


def _doubled(step: Step, shared: bool) -> Step:
    """The step of one member, taken as that of two. A batch of one matrix is multiplied by another routine, whose last
    bits differ: from two members on a CPU gives each the same numbers, however many there are."""

    def twice(*parts: Tensor) -> list[Tensor]:
        return [torch.cat([part, part]) for part in parts]

    def call(
        parameters: list[Tensor], buffers: list[Tensor], inputs: tuple[Tensor, ...], targets: Tensor, weight: Tensor
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        if not shared:
            (targets,), inputs = twice(targets), tuple(twice(*inputs))
        grads, losses, after = step(twice(*parameters), twice(*buffers), inputs, targets, *twice(weight))
        return grads[:1], losses[:1], [buffer[:1] for buffer in after]

    return call
