"""What a mask's subnetwork does, and what is left when it is removed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from recombine.errors import InputError, unknown
from recombine.structure.choose import weights_of
from recombine.structure.masks import Mask, Masked
from recombine.tasks import Draws

Removal = Literal["zero", "mean", "random"]
REMOVALS: tuple[Removal, ...] = ("zero", "mean", "random")


def subnetwork(model: nn.Module, mask: Mask) -> Masked:
    """The model with nothing but what the mask keeps (of the weights that it covers)."""
    return Masked(model, mask)


def ablated(model: nn.Module, mask: Mask, removal: Removal = "zero", seed: int = 0) -> Masked:
    """The model without what the mask keeps: those weights are set to zero, to the mean of their parameter, or drawn
    anew (Kaiming-uniform, U(±1/√fan-in), as torch initialises a layer)."""
    if removal not in REMOVALS:
        raise unknown("removal", removal, REMOVALS)
    mask.check(model)
    weights = {name: weights_of(model)[name].parameter.detach() for name in mask.keep}
    fill: dict[str, Tensor] | None = None
    if removal == "mean":
        fill = {name: weight.mean().expand_as(weight) for name, weight in weights.items()}
    elif removal == "random":
        fill = {name: redrawn(name, weight, seed) for name, weight in weights.items()}
    return Masked(model, mask.complement(), fill)


def redrawn(name: str, weight: Tensor, seed: int) -> Tensor:
    """A parameter drawn anew: Kaiming-uniform with a = √5."""
    fan_in = math.prod(weight.shape[1:]) if weight.dim() > 1 else weight.numel()
    unit = Draws.single(seed, f"ablation {name}", weight.device).uniform(tuple(weight.shape))
    return ((2 * unit - 1) / math.sqrt(fan_in)).to(weight)


def overlap(masks: Sequence[Mask]) -> tuple[float, float]:
    """(weights that all masks keep / weights that any keeps, the same expected of independent masks that keep as many
    weights of each parameter as these do)."""
    if len(masks) < 2 or any(mask.keep.keys() != masks[0].keep.keys() for mask in masks):
        raise InputError("overlap needs two or more masks over the same parameters.")
    both = either = chance_both = chance_either = 0.0
    for name, first in masks[0].keep.items():
        parts = torch.stack([mask.keep[name].to(first.device) for mask in masks]).flatten(1)
        densities = parts.double().mean(1).tolist()
        both += int(parts.all(0).sum())
        either += int(parts.any(0).sum())
        chance_both += first.numel() * math.prod(densities)
        chance_either += first.numel() * (1 - math.prod(1 - d for d in densities))
    return both / either if either else 0.0, chance_both / chance_either if chance_either else 0.0


def anywhere(mask: Mask, seed: int) -> Mask:
    """A random mask that keeps as many weights as this one, drawn from all that it covers together."""
    units = [
        Draws.single(seed, f"anywhere {name}").uniform((part.numel(),), torch.float64)
        for name, part in mask.keep.items()
    ]
    last = torch.cat(units).sort().values[mask.kept - 1] if mask.kept else torch.tensor(-1.0)
    return Mask(
        {name: (unit <= last).reshape(part.shape).to(part.device)
         for (name, part), unit in zip(mask.keep.items(), units, strict=True)}
    )  # fmt: skip


def same_size(mask: Mask, seed: int, outside: bool = False) -> Mask:
    """A random mask that keeps as many weights of each parameter; ``outside`` draws them from what the mask removes."""
    keep = {}
    for name, part in mask.keep.items():
        number = int(part.sum())
        room = part.numel() - number if outside else part.numel()
        if number > room:
            raise InputError(
                f"{name!r} keeps {number} of {part.numel()} weights: there is no disjoint mask of its size."
            )
        unit = Draws.single(seed, f"same size {name}").uniform((part.numel(),), torch.float64)
        if outside:
            unit = unit + part.cpu().reshape(-1)
        chosen = torch.zeros(part.numel(), dtype=torch.bool)
        chosen[unit.argsort()[:number]] = True
        keep[name] = chosen.reshape(part.shape).to(part.device)
    return Mask(keep)
