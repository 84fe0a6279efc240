"""A person's own trained model as an ensemble of one member: called as it is, never copied or rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.training import Ensemble
from recombine.training.layout import ALIGN, Layout, Slot


class Held(nn.Module):
    """The model, with one number beside it that says where it lives and in which precision it computes."""

    def __init__(self, model: nn.Module | Callable[..., Tensor]) -> None:
        super().__init__()
        self.model = model
        tensors = [*model.parameters(), *model.buffers()] if isinstance(model, nn.Module) else []
        like = next((t for t in tensors if t.is_floating_point()), torch.zeros(1))
        self.place = nn.Parameter(torch.zeros(1, dtype=like.dtype, device=like.device), requires_grad=False)

    def forward(self, *inputs: Tensor) -> Tensor:
        outputs: Any = self.model(*inputs)
        if not isinstance(outputs, Tensor):
            raise InputError(
                f"the model gives a {type(outputs).__name__}, and one tensor is measured; give a function that takes "
                "it out, for example lambda x: model(x).logits."
            )
        return outputs


def _estimated(estimator: Any) -> Callable[[Tensor], Tensor]:
    """An estimator as a function of one tensor: a score for each class, or a number."""

    def call(inputs: Tensor) -> Tensor:
        rows = inputs.detach().cpu().flatten(1).numpy()
        classes = getattr(estimator, "classes_", None)
        if classes is None:
            return torch.as_tensor(np.asarray(estimator.predict(rows), dtype=np.float64))
        known = [int(c) for c in classes]
        if hasattr(estimator, "predict_proba"):
            shares = np.asarray(estimator.predict_proba(rows), dtype=np.float64)
        else:
            shares = (np.asarray(estimator.predict(rows))[:, None] == np.asarray(classes)[None]).astype(np.float64)
        scores = np.full((len(rows), max(known) + 1), -np.inf)
        scores[:, known] = np.log(np.maximum(shares, 1e-12))
        return torch.as_tensor(scores)

    return call


@contextmanager
def as_ensemble(model: Ensemble | nn.Module | Callable[..., Tensor]) -> Iterator[Ensemble]:
    """The ensemble given, or the model as its one member; training and evaluation modes are put back afterwards."""
    if isinstance(model, Ensemble):
        yield model
        return
    if not isinstance(model, nn.Module) and (hasattr(model, "predict_proba") or hasattr(model, "predict")):
        model = _estimated(model)
    if isinstance(model, type) or not callable(model):
        raise InputError(
            f"a model is an nn.Module, an ensemble, an estimator or a function of inputs, got {model!r:.80}."
        )
    held = Held(model)
    modes = [(part, part.training) for part in held.modules()]
    layout = Layout((Slot("place", (1,), 0, 1),), ALIGN)
    flat = torch.zeros(1, ALIGN, dtype=held.place.dtype, device=held.place.device)
    try:
        yield Ensemble(held.eval(), layout, flat, {}, (0,), looped=True)
    finally:
        for part, mode in modes:
            part.training = mode
