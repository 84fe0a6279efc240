"""What outputs are by the loss: it is asked what it costs to go on, to be cut off, to add one number everywhere, to
be some times as long, to be the logarithm."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from recombine.tasks import Task

Output = Literal["logit", "probability", "number"]
NUMBERS = ("squared", "mse", "l1", "huber", "absolute")
"""What losses of numbers are called."""


def output_of(task: Task, output: Tensor, target: Tensor, low: int = 0) -> Output | None:
    """What each number of an output is to a loss of 0 (or −1) and 1, by trial or else by its name; null where it does
    not say, or there is none."""
    if (found := _tried(task, output, target, low)) is not None:
        return found
    if any(name in _name(task) for name in ("binary", "bce")):
        return "logit" if "logit" in _name(task) else "probability"
    return "number" if any(name in _name(task) for name in NUMBERS) else None


def class_axis(task: Task, output: Tensor, target: Tensor) -> int | None:
    """The axis along which outputs (examples …) are scores of classes: the last, or that after the examples.

    A number that is added to all scores of an answer changes no softmax, and whatever is said of its classes; it
    changes what is said of numbers."""
    if output.dim() < 2:
        return None
    tried = torch.linspace(0.0, 40.0, output.numel(), device=output.device).sin().reshape(output.shape)
    tried = tried.to(output.dtype)
    for axis in dict.fromkeys((output.dim() - 1, 1)):
        shape = [1 if i == axis else n for i, n in enumerate(output.shape)]
        added = torch.linspace(1.0, 3.0, math.prod(shape), device=output.device).reshape(shape).to(output.dtype)
        try:
            cost, same, other = (task.losses(o, target) for o in (tried, tried + added, tried.roll(1, axis)))
        except Exception:  # of outputs that it is not made for, a loss of one's own may raise what it likes
            continue
        if torch.allclose(cost, same, rtol=1e-4, atol=1e-4) and not torch.allclose(cost, other, rtol=1e-3, atol=1e-3):
            return axis
    return None


def of_logs(task: Task, output: Tensor, target: Tensor) -> bool:
    """Whether outputs are logarithms to a loss, such as of the rates of counts: it is least where they are the
    logarithm of the target, and not at the target."""

    def loss(at: float, of: float) -> float:
        try:
            return float(task.losses(torch.full_like(output, at), torch.full_like(target, of)).sum())
        except Exception:  # of numbers that it is not made for, a loss of one's own may raise what it likes
            return math.nan

    tried = [(math.log(right), right) for right in (3.0, 20.0)]
    return all(loss(log, right) < loss(other, right) for log, right in tried for other in (log - 0.1, log + 0.1, right))


def of_directions(task: Task, output: Tensor, target: Tensor) -> bool:
    """Whether a loss of several numbers in a row, the last axis, looks at their direction alone: how long each row is
    changes nothing, and where it points to does."""
    if output.shape != target.shape or output.dim() < 2 or output.shape[-1] < 2:
        return False
    tried = torch.linspace(0.0, 40.0, output.numel(), device=output.device).sin().reshape(output.shape).to(output.dtype)
    times = torch.linspace(0.5, 3.0, tried[..., :1].numel(), device=output.device).reshape(tried[..., :1].shape)
    try:
        cost, same, other = (task.losses(o, target) for o in (tried, tried * times.to(tried.dtype), tried.roll(1, -1)))
    except Exception:  # as above
        return False
    return torch.allclose(cost, same, rtol=1e-4, atol=1e-4) and not torch.allclose(cost, other, rtol=1e-3, atol=1e-3)


def _tried(task: Task, output: Tensor, target: Tensor, low: int) -> Output | None:
    """What a loss asks for: going on beyond the target costs a number and no score, and of a probability has no value
    or is cut off."""

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


def _name(task: Task) -> str:
    loss = getattr(task, "_loss", None)
    return str(getattr(loss, "__name__", type(loss).__name__)).lower()
