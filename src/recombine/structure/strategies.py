"""What a step of masks computes: for a stack of them, to be stepped as training steps members, or for one by plain
autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.func import vmap

from recombine.errors import InputError
from recombine.models.slopes import grad_and_value
from recombine.structure.objective import Constants, MaskObjective, Named, Step
from recombine.training.stack import Stack
from recombine.training.strategies.stacked import Step as StackStep


@dataclass(frozen=True)
class Shape:
    """How the tensors of a step are laid out in a block."""

    noise: tuple[str, ...]
    """Unit tensors with random numbers of their own."""
    inputs: int
    """How many input tensors a problem has."""
    other: int
    """How many tensors the other subroutine's problems have, targets included."""
    shared: bool
    """Whether all masks see the same batch."""
    other_shared: bool

    def step(self, parts: Sequence[Tensor], targets: Tensor) -> Step:
        beta, rest = parts[0], parts[1:]
        noise = dict(zip(self.noise, rest[: len(self.noise)], strict=True))
        inputs = tuple(rest[len(self.noise) : len(self.noise) + self.inputs])
        return Step(beta, noise, inputs, targets, tuple(rest[len(self.noise) + self.inputs :]))

    def dims(self) -> tuple[tuple[int | None, ...], int | None]:
        """The dimension along which masks lie, for each tensor of a step and for the targets."""
        batch, other = (None if shared else 0 for shared in (self.shared, self.other_shared))
        return (0, *(0 for _ in self.noise), *(batch for _ in range(self.inputs)),
                *(other for _ in range(self.other))), batch  # fmt: skip


def mask_step(
    stack: Stack, objective: MaskObjective, weights: Named, one_model: bool, constants: Constants, shape: Shape
) -> StackStep:
    """A step of a stack whose members are masks: the numbers of each are a flat row, and nothing is buffered."""
    names, weight_names = [slot.name for slot in stack.layout.slots], list(weights)
    fixed = [weights[name] for name in weight_names]

    def loss(
        numbers: list[Tensor], base: list[Tensor], mine: tuple[Tensor, ...], penalty: Tensor,
        parts: tuple[Tensor, ...], targets: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        return objective.total(
            dict(zip(names, numbers, strict=True)), dict(zip(weight_names, base, strict=True)), Constants(*mine),
            penalty, shape.step(parts, targets),
        )  # fmt: skip

    part_dims, target_dim = shape.dims()
    dims = (0, None if one_model else 0, 0, 0, part_dims, target_dim)
    gradient = _alone(grad_and_value(loss, has_aux=True), dims) if len(stack) == 1 else vmap(
        grad_and_value(loss, has_aux=True), in_dims=dims
    )  # fmt: skip

    def step(
        numbers: list[Tensor], _buffers: list[Tensor], parts: tuple[Tensor, ...], targets: Tensor, penalty: Tensor
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        grads, (_, plain) = gradient(numbers, fixed, constants.tensors(), penalty, parts, targets)
        return stack.layout.join(dict(zip(names, grads, strict=True)), (len(stack),)), plain, []

    return step


def _alone(function: Callable[..., Any], dims: tuple[Any, ...]) -> Callable[..., Any]:
    """One mask needs no batching rule of any operation: its tensors lose the dimension of masks and get it back."""

    def first(value: Any, dim: Any) -> Any:
        if isinstance(value, (list, tuple)):
            inner = dim if isinstance(dim, tuple) else (dim,) * len(value)
            return type(value)(first(v, d) for v, d in zip(value, inner, strict=True))
        return value if dim is None else value[0]

    def call(*values: Any) -> Any:
        grads, (total, plain) = function(*(first(v, d) for v, d in zip(values, dims, strict=True)))
        return [grad[None] for grad in grads], (total[None], plain[None])

    return call


class LoopedMask:
    """A single mask, by plain autograd. Each unit tensor is updated as soon as its gradient is there, so that the
    gradients of a large model are never all held at once."""

    def __init__(
        self, stack: Stack, objective: MaskObjective, weights: Named, constants: Constants, shape: Shape
    ) -> None:
        if stack.optimizer.clip is not None:
            raise InputError("a mask alone is updated tensor by tensor, so its gradient cannot be clipped as a whole.")
        self.stack, self.objective, self.weights, self.shape = stack, objective, weights, shape
        self.constants = Constants(*(part[0] for part in constants.tensors()))
        self.hyper: list[float] = []
        self.numbers: dict[str, Tensor] = {}
        for slot in stack.layout.slots:
            leaf = stack.flat[0, slot.start : slot.stop].view(slot.shape).detach().requires_grad_()
            leaf.register_post_accumulate_grad_hook(partial(self._update, slot.start))
            self.numbers[slot.name] = leaf

    def _update(self, start: int, leaf: Tensor) -> None:
        assert leaf.grad is not None
        stack, grad = self.stack, leaf.grad.reshape(1, -1)
        leaf.grad = None
        here = slice(start, start + grad.shape[1])
        with torch.no_grad():
            state = {name: tensor[:, here] for name, tensor in stack.state.items()}
            stack.optimizer.update_in_pieces(stack.flat[:, here], grad, state, stack.lr, stack.decay, self.hyper)

    def advance(self, inputs: tuple[Tensor, ...], targets: Tensor, hyper: Tensor, first: int) -> Tensor:
        """Train through a block of batches; returns the losses (steps × 1)."""
        dims, target_dim = self.shape.dims()
        losses = []
        for s, self.hyper in enumerate(hyper.tolist()):
            mine = [part[s] if d is None else part[s, 0] for part, d in zip(inputs, dims, strict=True)]
            step = self.shape.step(mine, targets[s] if target_dim is None else targets[s, 0])
            with torch.enable_grad():
                total, loss = self.objective.total(
                    self.numbers, self.weights, self.constants, self.stack.weight[0], step
                )
                torch.autograd.backward(total)
            losses.append(loss.detach())
        return torch.stack(losses)[:, None]
