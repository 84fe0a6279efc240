"""When a member has learnt enough: its loss on fresh examples, which are the same for every member and optimiser.

A batch's loss falls below a bound by luck, the sooner the noisier an optimiser is; what is chosen on a batch looks good
on it. Members that are compared at equal loss are judged on examples that none of them was trained on.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from recombine.tasks import Draws, Task
from recombine.training.ensemble import Ensemble
from recombine.training.stack import Stack, cast, positional

NEVER = -torch.inf
"""A batch's loss is never this low: members stop by fresh examples alone."""


def fresh_losses(task: Task, count: int, seed: int, like: Tensor) -> Callable[[Ensemble], Tensor]:
    """The mean loss of each member on ``count`` examples of the training distribution, drawn by an address of their
    own."""
    inputs, targets = task.batch(Draws.of([0], range(1), seed, like.device)("stop"), count)
    return losses_on(task, tuple(part[0, 0] for part in positional(inputs)), targets[0, 0], like)


def losses_on(task: Task, inputs: tuple[Tensor, ...], targets: Tensor, like: Tensor) -> Callable[[Ensemble], Tensor]:
    """The mean loss of each member on these examples."""
    asked, wanted = tuple(cast(part, like.dtype) for part in inputs), cast(targets, like.dtype)

    def losses(ensemble: Ensemble) -> Tensor:
        with torch.no_grad():
            return torch.vmap(lambda outputs: task.losses(outputs, wanted).mean())(ensemble.predict(asked))

    return losses


class Stopping:
    """Every ``every`` steps, members whose loss on fresh examples is at most ``below`` stand still from then on; where
    they are not ``held``, only the step at which they came there first is told."""

    def __init__(
        self, stack: Stack, losses: Callable[[Ensemble], Tensor], below: float, every: int, held: bool = True
    ) -> None:
        self.stack, self.losses, self.below, self.every, self.held = stack, losses, below, every, held
        self.loss = torch.full((len(stack),), torch.nan, dtype=torch.float64)
        """Each member's loss when it was last judged: at its stop, if it has stopped."""
        self.at = torch.full((len(stack),), -1, dtype=torch.int64)

    def due(self, step: int) -> int:
        """The next step after this one at which members are judged."""
        return (step // self.every + 1) * self.every

    def judge(self, ensemble: Ensemble, step: int) -> None:
        found = self.losses(ensemble)
        going = self.at < 0
        self.loss = torch.where(going | (not self.held), found.double().cpu(), self.loss)
        reached = going & (self.loss <= self.below)
        self.at = torch.where(reached, step, self.at)
        if not self.held:
            return
        there = reached.to(found.device)
        self.stack.held.copy_(torch.where(there, found, self.stack.held))
        self.stack.lr.mul_(~there[:, None])

    def tensors(self) -> dict[str, Tensor]:
        return {"stop.loss": self.loss, "stop.at": self.at}
