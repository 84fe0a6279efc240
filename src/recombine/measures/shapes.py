"""One number per answer: outputs and targets are brought into one form, or the difference is said."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from recombine.tasks import FixedTask, Task

Alike = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""From outputs (members × examples …) and targets to the same in one form."""

NUMBERS = ("squared", "mse", "l1", "huber", "absolute")
"""What losses of numbers are called."""


def alike(outputs: Tensor, targets: Tensor, task: Task) -> Alike:
    """How outputs and targets of this task are brought into one form; as they are, unless an answer is one number.

    One output for targets of 0 and 1 is the score of 1 against 0 where the loss is a binary cross-entropy, where a loss
    of one's own is one of scores (`_scores`; then of −1 and 1, too), or where targets are whole and no loss says that
    they are numbers: a probability where the loss is of these, or where all outputs lie between 0 and 1; else a logit.
    Other targets are numbers, whole ones too, and (n, 1) is (n)."""
    one = outputs[0, 0].numel() == 1
    if not one or targets[0].numel() != 1:
        return lambda o, t: (o, t)
    every = task._targets if isinstance(task, FixedTask) else targets
    loss = _loss_name(task)
    crossed = "binary" in loss or "bce" in loss
    low = -1 if bool((every == -1).any()) else 0
    if not bool(((every == low) | (every == 1)).all()):
        return _as_numbers
    of = None if crossed else _scores(task, outputs[0, :1], targets[:1], low)
    whole = low == 0 and not targets.is_floating_point() and not any(name in loss for name in NUMBERS)
    if crossed or of == "logit" or (of == "probability" and low == 0) or (of is None and whole):
        inside = bool(((outputs >= 0) & (outputs <= 1)).all())
        probable = "logit" not in loss and of != "logit" and (crossed or of == "probability" or inside)

        def as_classes(o: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
            t = t.flatten() == 1
            score = torch.logit(o.flatten(1), eps=1e-12) if probable else o.flatten(1)
            return torch.stack([torch.zeros_like(score), score], -1), t.long()

        return as_classes
    return _as_numbers


def _as_numbers(outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    return outputs.flatten(1)[..., None], targets.flatten().to(outputs.dtype)[..., None]


def _scores(task: Task, output: Tensor, target: Tensor, low: int) -> Literal["logit", "probability", "number"] | None:
    """What a loss of 0 (or −1) and 1 is of, by what it asks for: going on beyond the target costs a number and no
    score, and of a probability has no value or is cut off. Null where there is no loss, or it is none of these."""
    if getattr(task, "_loss", None) is None:
        return None

    def loss(at: float, of: int) -> float:
        place, right = (low + (1 - low) * where for where in (at, of))
        try:
            return float(task.losses(torch.full_like(output, place), torch.full_like(target, right)).sum())
        except Exception:  # of what is not a probability: a loss of one's own may raise what it likes
            return math.nan

    nearer, there, beyond = (tuple(loss(at if of else 1 - at, of) for of in (0, 1)) for at in (0.6, 0.99, 4.0))
    if not all(there[of] < nearer[of] for of in (0, 1)):
        return None
    cut = all(loss(end, of) == loss(far, of) for of in (0, 1) for end, far in ((0.0, -3.0), (1.0, 4.0)))
    if cut or not np.isfinite(beyond).any():
        return "probability"
    return "logit" if all(beyond[of] <= there[of] for of in (0, 1)) else "number"


def _loss_name(task: Task) -> str:
    loss = getattr(task, "_loss", None)
    return str(getattr(loss, "__name__", type(loss).__name__)).lower()
