"""A dissection, tried before it begins: whether a network can be asked these problems, and what their answers are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.structure.calling import arguments, device_of, evaluating, precision
from recombine.structure.subroutines import Subroutine
from recombine.tasks import Problems
from recombine.tasks.coded import coded
from recombine.training.stack import cast
from recombine.training.trial import CALLING, not_called, one_tensor

FEW = 2
"""Problems that the network is asked: some layers refuse a single one."""
PARTS = ("train", "passing", "validation", "test")


def check_network(model: Any) -> nn.Module:
    """A built network with numbers to mask; a function or a class is none."""
    if isinstance(model, type) or not isinstance(model, nn.Module):
        raise InputError(
            f"what is dissected is a trained nn.Module, whose weights are masked, got {model!r:.80}; a function that "
            "builds a network goes into fresh=."
        )
    if not any(p.is_floating_point() for p in model.parameters()):
        raise InputError(f"a {type(model).__name__} without parameters has no weights to mask.")
    return model


def as_classes(problems: Problems, of: str) -> Problems:
    """The same problems with one class number per problem: whole numbers of any type, also as rows that are high at
    the class (one-hot, smoothed or not)."""
    targets = problems.targets
    if targets.dim() == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    elif targets.dim() == 2 and coded(targets):
        targets = targets.double().argmax(1)
    if targets.dim() != 1:
        raise InputError(
            f"targets of {of} have shape {tuple(problems.targets.shape)}; an answer is one class number per problem, "
            "or a row with a one at its class. Of chances of classes give targets.argmax(1); of labels that are yes or "
            "no, dissect one at a time, as classes 0 and 1."
        )
    classes = targets.long()
    if targets.is_complex() or not torch.equal(classes.to(targets.dtype), targets):
        odd = targets[classes.to(targets.dtype) != targets][0]
        raise InputError(
            f"targets of {of} are no class numbers, such as {odd.item():g}; an answer is a whole number from 0."
        )
    return replace(problems, targets=classes)


def subroutine_of_classes(part: Subroutine) -> Subroutine:
    """A subroutine whose answers are class numbers, two or more."""
    made: Any = {name: as_classes(getattr(part, name), repr(part.name)) for name in PARTS}
    found = replace(part, **made)
    if len(found.answers) < 2:
        raise InputError(
            f"all problems of {part.name!r} have the answer {found.answers[0]}, so that nothing has to be computed for "
            "them; give problems with two answers or more."
        )
    return found


def try_network(model: nn.Module, parts: Sequence[Subroutine], whole: Problems | None) -> None:
    """An error that says what is wrong where the network cannot be asked these problems, or does not give one score for
    each of their classes."""
    asked = [(repr(part.name), [getattr(part, name) for name in PARTS]) for part in parts]
    for of, several in [*asked, *([("whole=", [whole])] if whole is not None else [])]:
        for problems in several:
            classes = _classes(model, problems, of)
            low, high = int(problems.targets.min()), int(problems.targets.max())
            if low < 0 or high >= classes:
                raise InputError(
                    f"targets of {of} go from {low} to {high}, and the model has scores for classes 0 to {classes - 1}."
                )


@torch.no_grad()
def _classes(model: nn.Module, problems: Problems, of: str) -> int:
    device, dtype = device_of(model), precision(model)
    parts = tuple(cast(part[:FEW].to(device), dtype) for part in problems.parts)
    positional, named = arguments(problems.inputs, parts)
    with evaluating(model):
        try:
            outputs: Any = model(*positional, **named)
        except CALLING as error:
            if isinstance(error, (InputError, torch.OutOfMemoryError)):
                raise
            raise not_called(error, parts, tuple(named) or None, f"the problems of {of}, ") from error
    scores: Tensor = one_tensor(outputs, "read", "wrap it in an nn.Module whose forward returns one, for example {}")
    shape, rows = tuple(scores.shape), len(parts[0])
    if shape in ((rows,), (rows, 1)):
        raise InputError(
            "the model gives one number per problem, and one score per class is read; where z = model(x).flatten() are "
            "logits of class 1 against 0, wrap it in an nn.Module whose forward returns torch.stack([0 * z, z], -1)."
        )
    if len(shape) != 2 or shape[0] != rows:
        raise InputError(
            f"the model gives scores of shape {shape} for {rows} problems of {of}; one score per class and problem "
            "is read."
        )
    return shape[1]
