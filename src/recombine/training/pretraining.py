"""Pretraining an encoder on a task of its own, and starting another model from what it learnt."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError
from recombine.models import Views
from recombine.tasks import MaskedWords, TwoViews
from recombine.training.engine import train
from recombine.training.ensemble import Ensemble
from recombine.training.stack import Model

INNER = "encoder."
"""How the parameters of an encoder are called within a model that holds one."""


def pretrain(encoder: Description, task: MaskedWords | TwoViews, **how: Any) -> Ensemble:
    """Members of ``encoder`` trained on masked words or on two views of panels; ``how`` is what `train` takes."""
    if isinstance(task, TwoViews):
        return train(Views(encoder=encoder), task, **how)
    if "masked_words" not in type(encoder).model_fields:
        raise InputError(f"{type(encoder).__name__} cannot say words; pretrain a WordEncoder on masked words.")
    return train(encoder.replace(masked_words=True), task, **how)


def starting_from(model: Model, pretrained: Ensemble, member: int) -> Callable[[], nn.Module]:
    """``model`` with the weights of a pretrained member wherever both have a parameter of the same name, ``encoder.``
    aside. Everything that was pretrained must find its place; what was not is drawn as ever."""
    at = pretrained.position(member)
    weights = {_bare(name): stacked[at].detach().cpu().clone() for name, stacked in pretrained.parameters.items()}

    def build() -> nn.Module:
        module = copy.deepcopy(model) if isinstance(model, nn.Module) else model()
        places: dict[str, Tensor] = {_bare(name): parameter for name, parameter in module.named_parameters()}
        with torch.no_grad():
            for name, weight in weights.items():
                if name not in places or places[name].shape != weight.shape:
                    raise InputError(f"what was pretrained has {name!r} {tuple(weight.shape)}, this model has not.")
                places[name].copy_(weight)
        return module

    return build


def _bare(name: str) -> str:
    return name.removeprefix(INNER)
