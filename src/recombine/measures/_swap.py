"""Interventional swap: how often, and how far, the answer moves when one component of the input is redrawn.

flip_j = P(argmax p(· | x) ≠ argmax p(· | x with X_j redrawn)),  tv_j = E ½‖p(· | x) − p(· | x with X_j redrawn)‖₁.
It needs no gradient: 0 for a model that ignores X_j, 1 for a certain one that reads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from recombine.tasks import Draws, Inputs, Task
from recombine.training import Ensemble
from recombine.training.stack import positional

if TYPE_CHECKING:
    import polars as pl


def swap(ensemble: Ensemble, task: Task, count: int = 1024, seed: int = 0) -> pl.DataFrame:
    """Flip rate and total variation when a component takes another of its levels. One row a member and component.

    Combinations are drawn independently, as an intervention would: seen or not. Where the task can say which part of an
    input shows a component (``part(j)``, or one column a component), that part is replaced by that of a fresh example;
    otherwise the component is changed in the combination and everything random stays. An answer that is a sequence
    flips where any of its places does, and its total variation is that of the place where it is largest."""
    import polars as pl

    draws = Draws.single(seed, "swap", ensemble.device)
    points = independent(task, draws, count)
    inputs = _floats(task.examples(points, draws("before"))[0], ensemble)
    before = torch.softmax(ensemble.predict(inputs), -1)
    names = ["·".join(block) for block in task.space.components]
    columns: dict[str, list[float]] = {"flip": [], "tv": []}
    for j in range(len(names)):
        after = torch.softmax(ensemble.predict(_floats(redraw(task, points, inputs, j, draws), ensemble)), -1)
        changed = (before.argmax(-1) != after.argmax(-1)).reshape(len(ensemble), count, -1)
        apart = (before - after).abs().sum(-1).div(2).reshape(len(ensemble), count, -1).amax(-1)
        columns["flip"] += changed.any(-1).double().mean(1).tolist()
        columns["tv"] += apart.double().mean(1).tolist()
    return pl.DataFrame(
        {
            "member": np.tile(np.array(ensemble.members, dtype=np.int32), len(names)),
            "component": [name for name in names for _ in ensemble.members],
            **columns,
        }
    )


def independent(task: Task, draws: Draws, count: int) -> Tensor:
    """``count`` combinations, every factor uniform over its levels and independent of the others."""
    shape = (*draws.lead, count)
    factors = zip(task.space.names, task.space.shape, strict=True)
    return torch.stack([draws(f"level {name}").integers(levels, shape) for name, levels in factors], -1)


def redraw(task: Task, points: Tensor, inputs: Inputs, component: int, draws: Draws) -> Inputs:
    """The inputs with one component at another of its levels, and nothing else changed."""
    other = points.clone()
    for name in task.space.components[component]:
        column, levels = task.space.position(name), len(task.space[name])
        step = 1 + draws(f"step {name}").integers(levels - 1, points.shape[:-1])
        other[..., column] = (points[..., column] + step) % levels
    place = part_of(task, inputs, component)
    if place is None or not isinstance(inputs, Tensor):
        return task.examples(other, draws("before"))[0]
    fresh, _ = task.examples(other, draws("after"))
    assert isinstance(fresh, Tensor)
    swapped = inputs.clone()
    swapped[..., place] = fresh[..., place].to(inputs.dtype)
    return swapped


def part_of(task: Task, inputs: Inputs, component: int) -> slice | None:
    """The places of an input's last dimension that show a component, where it can be said."""
    own = task.part(component)
    if own is not None:
        return own
    if isinstance(inputs, Tensor) and inputs.dim() == 2 and inputs.shape[-1] == len(task.space.components):
        return slice(component, component + 1)
    return None


def _floats(inputs: Inputs, ensemble: Ensemble) -> Inputs:
    parts = tuple(p.to(ensemble.flat.dtype) if p.is_floating_point() else p for p in positional(inputs))
    return parts if isinstance(inputs, tuple) else parts[0]
