"""Interventional swap: how often, and how far, the answer moves when one component of the input is redrawn.

flip_j = P(argmax p(· | x) ≠ argmax p(· | x with X_j redrawn)),  tv_j = E ½‖p(· | x) − p(· | x with X_j redrawn)‖₁.
It needs no gradient: 0 for a model that ignores X_j, 1 for a certain one that reads nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recombine.measures.shapes import alike
from recombine.statistics import FloatArray
from recombine.tasks import Draws, FixedTask, Inputs, Task
from recombine.training import Ensemble
from recombine.training.stack import positional

if TYPE_CHECKING:
    import polars as pl


def swap(ensemble: Ensemble, task: Task, count: int = 1024, seed: int = 0) -> pl.DataFrame:
    """Flip rate and total variation when a component takes another of its levels. One row per member and component.

    Combinations are drawn independently, as an intervention would: seen or not. Where the task can say which part of an
    input shows a component (``part(j)``, or one column per component), that part is replaced by that of a fresh
    example; otherwise the component is changed in the combination and everything random stays. An answer that is a
    sequence flips where any of its places does, and its total variation is that of the place where it is largest."""
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


def redraw(task: Task, points: Tensor, inputs: Inputs, component: int, draws: Draws, change: bool = True) -> Inputs:
    """The inputs with one component at another of its levels, and nothing else changed; without ``change``, the
    component drawn anew at the level it has."""
    other = points.clone()
    for name in task.space.components[component]:
        column, levels = task.space.position(name), len(task.space[name])
        step = 1 + draws(f"step {name}").integers(levels - 1, points.shape[:-1])
        other[..., column] = (points[..., column] + change * step) % levels
    place = part_of(task, inputs, component)
    if place is None or not isinstance(inputs, Tensor):
        return task.examples(other, draws("before"))[0]
    fresh, _ = task.examples(other, draws("after"))
    assert isinstance(fresh, Tensor)
    swapped = inputs.clone()
    swapped[..., place] = fresh[..., place].to(inputs.dtype)
    return swapped


def part_of(task: Task, inputs: Inputs, component: int) -> slice | None:
    """The places of an input's last dimension that show a component, where it can be said; of a person's own tensors
    nothing is guessed."""
    own = task.part(component)
    if own is not None or isinstance(task, FixedTask):
        return own
    if isinstance(inputs, Tensor) and inputs.dim() == 2 and inputs.shape[-1] == len(task.space.components):
        return slice(component, component + 1)
    return None


@dataclass(frozen=True, eq=False)
class Flips:
    """How often the answer is another one, members × combinations: with a component at another level (``moved``), and
    with another example of the same level (``still``)."""

    moved: FloatArray
    still: FloatArray
    counts: NDArray[np.int64]
    still_is: str
    """In words, what ``still`` is."""


def redrawn_flips(
    ensemble: Ensemble, task: Task, component: int, count: int, seed: int, one: int | None = None
) -> Flips | str:
    """Flips of up to ``count`` examples, or in a sentence why there are none. ``one``: which of several labels of an
    answer is looked at; None: all.

    Of a fixed set, an example with the component at another level is another row, which differs in more than the
    component. So it is held against another row of the same combination; where the task says which part of an input
    shows the component, that part alone is taken from either."""
    if isinstance(task, FixedTask):
        chosen = _partners(task, component, count, seed)
        if chosen is None:
            return "no combination has two rows and another one that differs in one factor"
        own, other, same = (torch.as_tensor(rows).to(ensemble.device) for rows in chosen)
        inputs, targets = task._gather(own)
        moved, still = (_with_part(task, inputs, task._gather(rows)[0], component) for rows in (other, same))
        cells = task._index.numpy()[chosen[0]]
        still_is = "another example alike" if task.part(component) is None else "its noise redrawn"
    else:
        draws = Draws.single(seed, "redrawn", ensemble.device)
        points = independent(task, draws, count)
        inputs, targets = task.examples(points, draws("before"))
        moved = redraw(task, points, inputs, component, draws)
        still = redraw(task, points, inputs, component, draws, change=False)
        cells = task.space.index(points.cpu().numpy())
        still_is = "nothing redrawn" if part_of(task, inputs, component) is None else "its noise redrawn"
    before = ensemble.predict(_floats(inputs, ensemble))
    _, group = np.unique(cells, return_inverse=True)
    group = group.ravel()
    counts = np.bincount(group)
    form = alike(before, targets, task)

    def scores(outputs: Tensor) -> Tensor:
        found = form(outputs, targets)[0]
        return found if one is None else found[..., one, :]

    first = scores(before)

    def flips(changed: Inputs) -> FloatArray:
        after = scores(ensemble.predict(_floats(changed, ensemble)))
        # Scores that are no numbers are no answer that could be another one.
        told = ~(first.isnan() | after.isnan()).any(-1)
        changes = told & (first.argmax(-1) != after.argmax(-1))
        different = changes.reshape(*changes.shape[:2], -1).any(-1).cpu().numpy()
        return np.stack([np.bincount(group, row) / counts for row in different])

    return Flips(flips(moved), flips(still), counts, still_is)


def _partners(
    task: FixedTask, component: int, count: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None:
    """Rows; for each another one that differs in this component alone, and another one of the same combination."""
    rng = np.random.default_rng(seed)
    asked = rng.permutation(task._asked.numpy())
    codes = task.space.check(task._codes.numpy())
    away = [task.space.position(name) for name in task.space.components[component]]
    rest = np.delete(codes, away, axis=1)
    if rest.shape[1]:
        _, key = np.unique(rest[asked], axis=0, return_inverse=True)
    else:
        key = np.zeros(len(asked), dtype=np.int64)
    key = key.ravel()
    groups = {int(k): asked[key == k] for k in np.unique(key)}
    index = task._index.numpy()
    found: list[tuple[int, int, int]] = []
    for row, k in zip(asked, key, strict=True):
        mates = groups[int(k)]
        alike_ = mates[(index[mates] == index[row]) & (mates != row)]
        other = mates[index[mates] != index[row]]
        if len(alike_) and len(other):
            found.append((int(row), int(rng.choice(other)), int(rng.choice(alike_))))
        if len(found) == count:
            break
    if not found:
        return None
    own, other_, same = np.array(found).T
    return own, other_, same


def _with_part(task: FixedTask, inputs: Inputs, other: Inputs, component: int) -> Inputs:
    """The other example, or the first with the component's part taken from it where the task says which it is."""
    place = task.part(component)
    if place is None or not isinstance(inputs, Tensor) or not isinstance(other, Tensor):
        return other
    changed = inputs.clone()
    changed[..., place] = other[..., place]
    return changed


def _floats(inputs: Inputs, ensemble: Ensemble) -> Inputs:
    parts = tuple(p.to(ensemble.flat.dtype) if p.is_floating_point() else p for p in positional(inputs))
    return parts if isinstance(inputs, tuple) else parts[0]
