"""Which rows and places of the targets count: padding and labels that are missing cost nothing by the loss, whatever is
answered, or are no numbers."""

from __future__ import annotations

import copy
import math

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.measures.asked_by_loss import class_axis
from recombine.measures.shapes import CENTS, KEPT
from recombine.tasks import FixedTask, Task
from recombine.training import Ensemble
from recombine.training.stack import positional

IGNORED = -100
"""What stands at a place of a sequence that does not count, as in torch."""
FEW = 8
"""Rows that a model is asked to see the shape of its outputs."""
AT_ONCE, MOST = 4_000_000, 100_000_000
"""Numbers that a loss is tried on at once, and in all where none of these is ignored."""
IGNORES, NO_NUMBERS = "cost nothing by the loss, whatever is answered", "are missing (NaN)"


def what_counts(ensemble: Ensemble, task: Task) -> tuple[Task, Tensor | None, list[str]]:
    """The task without rows that have no label, which places of its targets count (rows × places …; None: all), and
    what is told of it. A place does not count where its target is no number (NaN), or where its loss ignores it: there
    a target of other rows stands in."""
    if not isinstance(task, FixedTask):
        return task, None, []
    inputs, targets = task._gather(torch.arange(min(FEW, len(task._index)), device=ensemble.device))
    dtype = ensemble.flat.dtype
    parts = tuple(p.to(dtype) if p.is_floating_point() else p for p in positional(inputs))
    output = ensemble.predict(parts)[0]
    places, why = _counted(task, output), IGNORES
    if targets.is_floating_point() and (unknown := task._targets.isnan().cpu()).any():
        told = places is not None and places.shape == unknown.shape
        places = places & ~unknown if told and places is not None else ~unknown
        why = NO_NUMBERS if torch.equal(places, ~unknown) else why
    if places is None:
        of_classes = not targets.is_floating_point() and output.dim() == targets.dim() + 1
        below = int((task._targets < 0).sum()) if of_classes else 0
        said = (
            f"{below:,} targets are below 0, which is no class, and count as wrong: no loss is known to ignore them. "
            "Give the task the loss that ignores them, such as nn.CrossEntropyLoss()."
        )
        return task, None, [said] * (below > 0)
    notes, labelled = [], places.reshape(len(places), -1).any(1)
    if not labelled.all():
        if not (labelled & task.trained_on).any():
            raise InputError(
                "no row that is trained on has a label, by the loss; look at its targets and ignore_index."
            )
        without = "" if why == NO_NUMBERS else f" {why} and so"
        notes.append(f"{int((~labelled).sum()):,} of {len(labelled):,} rows{without} have no label, and were left out.")
        task, places = task.only(labelled), places[labelled]
    if places.dim() == 1 or places.all():
        return task, None, notes
    numbers = output.dim() == targets.dim()
    if numbers and targets[0].numel() > KEPT:
        return task, None, [*notes, _of_many(places, why)]
    what = "labels" if numbers else "places of sequences"
    missing = f"{int((~places).sum()):,} of {places.numel():,} {what} {why}, and were left out"
    if not numbers:
        return task, places, [*notes, f"{missing}, as padding is."]
    as_missing = ", as missing ones are" * (why != NO_NUMBERS)
    return _filled(task, places), places, [*notes, f"{missing}{as_missing}."]


def _of_many(places: Tensor, why: str) -> str:
    """What is told of long answers, which are looked at as a whole."""
    count, whole = f"{int((~places).sum()):,} of {places.numel():,} places", f"more than {KEPT} numbers are looked at"
    if why == NO_NUMBERS:
        raise InputError(
            f"{count} of targets are no numbers (NaN), and answers of {whole} as a whole; fill them in, or leave out "
            "these rows or these places."
        )
    return f"{count} of answers {why}, and count all the same: answers of {whole} as a whole."


def _filled(task: FixedTask, places: Tensor) -> FixedTask:
    """The task with the first target that counts at each place where another does not; 0 where none does."""
    filled, targets = copy.copy(task), task._targets.flatten(1)
    counts = places.flatten(1).to(targets.device)
    first = targets[counts.int().argmax(0), torch.arange(targets.shape[1], device=targets.device)]
    first = torch.where(counts.any(0), first, torch.zeros_like(first))
    filled._targets = torch.where(counts, targets, first).reshape(task._targets.shape)
    return filled


def _counted(task: FixedTask, output: Tensor) -> Tensor | None:
    """Which places of all targets the loss changes with; None where that is all, or cannot be told. A loss that picks
    them by what is answered ignores none."""
    targets = task._targets
    size = max(1, math.prod(output.shape[1:]))
    axis = _class_axis(task, output, targets)
    if task._loss is None or (axis is None and output[0].numel() != targets[0].numel()):
        return None

    def changes(rows: Tensor) -> Tensor | None:
        found = []
        for start in range(0, len(rows), max(1, AT_ONCE // size)):
            part = targets[rows[start : start + max(1, AT_ONCE // size)]]
            some = _changes(task, (len(part), *output.shape[1:]), part, axis)
            if some is None:
                return None
            found.append(some)
        return torch.cat(found)

    every = torch.arange(len(targets), device=targets.device)
    some = every[:: -(-len(every) * size // MOST)]
    places = changes(some)
    if places is None or places.all() or not places.any():
        return None
    places = places if len(some) == len(every) else changes(every)
    places = None if places is None else _of_shares(places, targets)
    return None if places is None or places.all() else places.cpu()


def _of_shares(places: Tensor, targets: Tensor) -> Tensor:
    """Shares that sum to 1, one-hot rows among them, count together: a class that a row has nothing of costs nothing by
    some losses, and is no label that is missing."""
    for axis in (targets.dim() - 1, 1) if targets.dim() > 1 and places.shape == targets.shape else ():
        sums = targets.double().sum(axis, keepdim=True)
        some = places.any(axis, keepdim=True)
        if targets.shape[axis] > 1 and bool((targets >= 0).all()) and bool(((sums - 1).abs() < CENTS)[some].all()):
            return some.expand_as(places).clone()
    return places


def _class_axis(task: FixedTask, output: Tensor, targets: Tensor) -> int | None:
    """The axis of outputs along which the scores of one place lie."""
    if targets.is_floating_point() or output.dim() != targets.dim() + 1:
        return None
    first, last = output.shape[2:] == targets.shape[1:], output.shape[1:-1] == targets.shape[1:]
    if first and last and targets.dim() > 1:
        return class_axis(task, output, targets[: len(output)])
    return 1 if first else output.dim() - 1 if last else None


def _changes(task: FixedTask, shape: tuple[int, ...], targets: Tensor, axis: int | None) -> Tensor | None:
    """Where the loss has a slope, at numbers that are probabilities and scores alike, or at the same below 0."""
    draw = torch.Generator().manual_seed(0)
    slopes = []
    tried = [torch.rand(shape, generator=draw) * 0.6 + 0.2 for _ in range(2)]
    for at in (*tried, -tried[0]):
        outputs = at.to(targets.device).requires_grad_()
        try:
            with torch.enable_grad():
                (slope,) = torch.autograd.grad(task.losses(outputs, targets).sum(), outputs)
        except Exception:  # of what it is not made for, or without a slope, a loss of one's own may raise what it likes
            return None
        slope = slope.nan_to_num(0.0) != 0  # The mean over no place is no number.
        slopes.append(slope.any(axis) if axis is not None else slope.reshape(targets.shape))
    return slopes[0] | slopes[2] if torch.equal(slopes[0], slopes[1]) else None
