"""One number per answer: outputs and targets are brought into one form, or the difference is said."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from recombine.tasks import FixedTask, Task

Alike = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""From outputs (members × examples …) and targets to the same in one form."""

NUMBERS = ("squared", "mse", "l1", "huber", "absolute")
"""What losses of numbers are called."""


def alike(outputs: Tensor, targets: Tensor, task: Task) -> Alike:
    """How outputs and targets of this task are brought into one form; as they are, unless an answer is one number.

    One output for targets of 0 and 1 is the score of 1 against 0: a probability where the loss is binary cross-entropy
    of probabilities, or where all outputs lie between 0 and 1; else a logit. Other targets are numbers, whole ones too,
    and (n, 1) is (n)."""
    one = outputs[0, 0].numel() == 1
    if not one or targets[0].numel() != 1:
        return lambda o, t: (o, t)
    every = task._targets if isinstance(task, FixedTask) else targets
    loss = _loss_name(task)
    crossed = "binary" in loss or "bce" in loss
    whole = not targets.is_floating_point() and not any(name in loss for name in NUMBERS)
    if bool(((every == 0) | (every == 1)).all()) and (crossed or whole):
        probable = "logit" not in loss and (crossed or bool(((outputs >= 0) & (outputs <= 1)).all()))

        def as_classes(o: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
            score = torch.logit(o.flatten(1), eps=1e-12) if probable else o.flatten(1)
            return torch.stack([torch.zeros_like(score), score], -1), t.flatten().long()

        return as_classes
    return lambda o, t: (o.flatten(1)[..., None], t.flatten().to(o.dtype)[..., None])


def _loss_name(task: Task) -> str:
    loss = getattr(task, "_loss", None)
    return str(getattr(loss, "__name__", type(loss).__name__)).lower()
