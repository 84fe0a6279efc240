"""A person's own trained models as an ensemble: called as they are, never copied or rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import Parameter, signature
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.training import Ensemble
from recombine.training.layout import ALIGN, Layout, Slot
from recombine.training.trial import CALLING, not_called, one_tensor

FEW = 256
"""Whole numbers up to it are themselves in any precision."""


class Held(nn.Module):
    """The models, with two numbers beside them that say which is called, where they live and in which precision they
    compute."""

    def __init__(self, models: Sequence[nn.Module | Callable[..., Tensor]], names: Sequence[str] | None = None) -> None:
        super().__init__()
        first = models[0]
        own = [model for model in models if isinstance(model, nn.Module)]
        self.models = nn.ModuleList(own) if len(own) == len(models) else list(models)
        self.names = names
        self.by_name = names is not None and _by_name(models[0], names)
        tensors = [*first.parameters(), *first.buffers()] if isinstance(first, nn.Module) else []
        like = next((t for t in tensors if t.is_floating_point()), torch.zeros(1))
        self.place = nn.Parameter(torch.zeros(2, dtype=like.dtype, device=like.device), requires_grad=False)

    def forward(self, *inputs: Tensor) -> Tensor:
        first, second = self.place.tolist() if len(self.models) > 1 else (0, 0)
        model = self.models[int(first) * FEW + int(second)]
        try:
            outputs: Any = model(**dict(zip(self.names or (), inputs, strict=True))) if self.by_name else model(*inputs)
        except CALLING as error:
            if isinstance(error, (InputError, torch.OutOfMemoryError)):
                raise
            raise not_called(error, inputs, self.names) from error
        if isinstance(outputs, (np.ndarray, np.generic)):
            outputs = torch.as_tensor(np.asarray(outputs))
        return one_tensor(outputs, "measured", "give a function that takes it out, for example lambda x: {}")


def _by_name(model: Any, names: Sequence[str]) -> bool:
    """Whether named inputs are handed over by keyword: to whatever takes these names. What takes none of them is
    called with the inputs in their order."""
    try:
        taken = signature(model.forward if isinstance(model, nn.Module) else model).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = {part.kind for part in taken}
    known = [part.name for part in taken if part.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]
    here = [name for name in names if name in known]
    if len(here) == len(names) or Parameter.VAR_KEYWORD in kinds:
        return True
    if here and Parameter.VAR_POSITIONAL not in kinds:
        raise InputError(
            f"inputs are named {', '.join(names)} and are handed over by keyword, and the model takes "
            f"{', '.join(known)}: call both alike."
        )
    return False


def _together(models: Sequence[Any]) -> list[nn.Module]:
    """Several networks that can be the members of one ensemble."""
    if not models or not all(isinstance(model, nn.Module) for model in models):
        odd = next((type(model).__name__ for model in models if not isinstance(model, nn.Module)), "nothing")
        raise InputError(f"a list of models holds trained nn.Modules, one for each member; this one has {odd}.")
    if len({id(model) for model in models}) < len(models):
        raise InputError("a list of models holds the same network twice; give each member once.")
    first = _built(models[0])
    for i, model in enumerate(models):
        if _built(model) != first:
            raise InputError(
                f"networks 0 and {i} of the list are not of one architecture, device and precision, so they are no "
                "members of one ensemble; compare different ones by against={'name': model}."
            )
    return list(models)


def _built(model: nn.Module) -> list[Any]:
    tensors = [*model.named_parameters(), *model.named_buffers()]
    parts = [(name, type(part)) for name, part in model.named_modules()]
    return [parts, [(name, tensor.shape, tensor.dtype, tensor.device) for name, tensor in tensors]]


def _estimated(estimator: Any, classes: int = 0) -> Callable[[Tensor], Tensor]:
    """An estimator as a function of one tensor: a score for each class, or a number. ``classes`` there are, of which it
    may have been fitted on some."""

    def call(inputs: Tensor) -> Tensor:
        rows = inputs.detach().cpu().flatten(1).numpy()
        told = getattr(estimator, "classes_", None)
        if told is None:
            return torch.as_tensor(np.asarray(estimator.predict(rows), dtype=np.float64))
        if any(np.ndim(c) for c in told):
            raise InputError(
                "the estimator was fitted on rows of several answers (one-hot, or labels) and gives the chances of "
                "each apart; fit it on the number of the class or, of labels, measure one estimator a label."
            )
        known = [int(c) for c in told]
        if hasattr(estimator, "predict_proba"):
            shares = np.asarray(estimator.predict_proba(rows), dtype=np.float64)
            if not np.allclose(shares.sum(axis=1), 1, atol=1e-3):  # each by itself, as of an estimator of labels
                return torch.as_tensor(shares)
        else:
            shares = (np.asarray(estimator.predict(rows))[:, None] == np.asarray(told)[None]).astype(np.float64)
        scores = np.full((len(rows), max(*known, classes - 1) + 1), -np.inf)
        scores[:, known] = np.log(np.maximum(shares, 1e-12))
        return torch.as_tensor(scores)

    return call


@contextmanager
def as_ensemble(model: Any, task: Any = None) -> Iterator[Ensemble]:
    """The ensemble given; or a model, or each of a list of networks, as a member, with the names that the inputs of a
    task have. Training and evaluation modes are put back afterwards."""
    if isinstance(model, Ensemble):
        yield model
        return
    labels = getattr(task, "labels", None)
    if not isinstance(model, nn.Module) and (hasattr(model, "predict_proba") or hasattr(model, "predict")):
        model = _estimated(model, labels[1] + 1 if labels else 0)
    if isinstance(model, (list, tuple, nn.ModuleList)):
        models = _together(list(model))
    elif isinstance(model, type) or not callable(model):
        raise InputError(
            "a model is an nn.Module, a list of them, an ensemble, an estimator or a function of inputs, got "
            f"{model!r:.80}."
        )
    else:
        models = [model]
    held = Held(models, getattr(task, "input_names", None))
    modes = [(part, part.training) for part in held.modules()]
    layout = Layout((Slot("place", (2,), 0, 2),), ALIGN)
    flat = torch.zeros(len(models), ALIGN, dtype=held.place.dtype, device=held.place.device)
    flat[:, :2] = torch.tensor([divmod(i, FEW) for i in range(len(models))])
    try:
        yield Ensemble(held.eval(), layout, flat, {}, tuple(range(len(models))), looped=True)
    finally:
        for part, mode in modes:
            part.training = mode
