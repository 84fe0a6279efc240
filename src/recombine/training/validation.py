"""Validation: what a member comes to on rows that it is not trained on, when it stops, and which of its states is kept.

The rows are of training combinations: choosing by unseen ones would make them seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.tasks import Task
from recombine.training.ensemble import Ensemble
from recombine.training.stack import Stack, positional
from recombine.training.stopping import fresh_losses, losses_on


@dataclass(frozen=True)
class Validation:
    """Every ``every`` steps each member's loss is taken on the rows that the task holds out, or on ``fresh`` new
    examples of a task that draws them. One that has not become better ``patience`` times in a row stops; with ``best``
    each member ends with the weights it was best with.

    Examples:
        >>> import recombine as rc
        >>> import torch
        >>> space = rc.FactorSpace.of(shape=2, colour=3)
        >>> seen = rc.Explicit(space, [(0, 0), (0, 1), (1, 1), (1, 2)])
        >>> codes = torch.as_tensor(space.sample(120, seed=0))
        >>> pictures = torch.nn.functional.one_hot(codes[:, 0], 2).float()
        >>> task = rc.FixedTask(space, seen, ~seen, pictures, codes[:, 0], codes, loss=torch.nn.CrossEntropyLoss())
        >>> early = rc.Validation(every=10, patience=2)
        >>> ensemble = rc.train(rc.Perceptron(widths=(2, 8, 2)), task, members=2, steps=100, validation=early)
    """

    every: int = 100
    patience: int | None = None
    best: bool = True
    fresh: int = 1024

    def __post_init__(self) -> None:
        for name in ("every", "patience", "fresh"):
            value = getattr(self, name)
            if not (isinstance(value, int) and value >= 1) and (name, value) != ("patience", None):
                raise InputError(f"{name} of a validation must be a whole number from 1 on, got {value!r:.80}.")


class Watching:
    """A stack that is validated along its training."""

    def __init__(self, stack: Stack, task: Task, how: Validation, seed: int) -> None:
        self.stack, self.how = stack, how
        if hasattr(task, "held_out"):
            inputs, targets = task.held_out(stack.flat.device)
            self.losses = losses_on(task, positional(inputs), targets, stack.flat)
        else:
            self.losses = fresh_losses(task, how.fresh, seed, stack.flat)
        self.loss = torch.full((len(stack),), torch.inf, dtype=torch.float64)
        """Each member's lowest loss so far, and the step it was at."""
        self.at = torch.zeros(len(stack), dtype=torch.int64)
        self.stopped = torch.full((len(stack),), -1, dtype=torch.int64)
        self.kept = {name: tensor.clone() for name, tensor in self._weights().items()} if how.best else {}

    def _weights(self) -> dict[str, Tensor]:
        return {"flat": self.stack.flat, **{f"buffer.{name}": part for name, part in self.stack.buffers.items()}}

    def due(self, step: int) -> int:
        """The next step after this one at which members are asked."""
        return (step // self.how.every + 1) * self.how.every

    def judge(self, ensemble: Ensemble, step: int) -> None:
        found = self.losses(ensemble)
        better = (found.double().cpu() < self.loss) & (self.stopped < 0)
        self.loss = torch.where(better, found.double().cpu(), self.loss)
        self.at = torch.where(better, step, self.at)
        rows = better.nonzero()[:, 0].to(found.device)
        for name, tensor in self.kept.items():
            tensor[rows] = self._weights()[name][rows]
        if self.how.patience is not None:
            tired = (self.stopped < 0) & (step - self.at >= self.how.patience * self.how.every)
            self.stopped = torch.where(tired, step, self.stopped)
            there = tired.to(found.device)
            self.stack.held.copy_(torch.where(there, found, self.stack.held))
            self.stack.lr.mul_(~there[:, None])

    def finish(self) -> None:
        for name, tensor in self.kept.items():
            self._weights()[name].copy_(tensor)

    def tensors(self) -> dict[str, Tensor]:
        """What a checkpoint holds."""
        numbers = {"loss": self.loss, "at": self.at, "stopped": self.stopped}
        return {f"valid.{name}": tensor for name, tensor in (numbers | self.kept).items()}

    def restore(self, saved: Mapping[str, Tensor]) -> None:
        self.loss, self.at, self.stopped = (saved[f"valid.{name}"].cpu() for name in ("loss", "at", "stopped"))
        for name, tensor in self.kept.items():
            tensor.copy_(saved[f"valid.{name}"])

    def notes(self) -> dict[str, list[float | int | None]]:
        finite = torch.isfinite(self.loss).tolist()
        return {
            "validation_loss": [loss if ok else None for loss, ok in zip(self.loss.tolist(), finite, strict=True)],
            "best_at": self.at.tolist(),
            "stopped_at": [step if step >= 0 else None for step in self.stopped.tolist()],
        }
