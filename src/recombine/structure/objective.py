"""What is minimised for one mask: the loss with soft-masked weights, and the penalty on what the mask keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from recombine.models.called import call_with
from recombine.structure.calling import Loss, arguments
from recombine.structure.choose import Tied
from recombine.structure.methods import Method
from recombine.structure.units import Units

Named = Mapping[str, Tensor]


@dataclass(frozen=True)
class Step:
    """What changes from step to step: the temperature, random numbers by unit tensor, and the problems."""

    beta: Tensor
    noise: Named
    inputs: tuple[Tensor, ...]
    targets: Tensor
    other: tuple[Tensor, ...]
    """Inputs and targets of the other subroutine; empty where there is no adversarial term."""


@dataclass(frozen=True)
class Constants:
    """What is fixed for one mask, as tensors so that masks of a stack may differ."""

    active: Tensor
    """Which parts this mask covers; the others are held at one (parts)."""
    share: Tensor
    """The share of this mask's weights that one unit of each unit tensor covers (unit tensors)."""
    target: Tensor
    scale: Tensor
    adversary: Tensor

    def tensors(self) -> tuple[Tensor, ...]:
        return self.active, self.share, self.target, self.scale, self.adversary


@dataclass(frozen=True)
class MaskObjective:
    """The same for all masks of a stack."""

    model: nn.Module
    units: Units
    aliases: Mapping[str, tuple[Tied, ...]]
    method: Method
    loss: Loss
    like: Any
    """The inputs of some problems: how the model is called."""
    everywhere: bool
    """Whether every mask covers every part."""
    scaled: bool
    targeted: bool
    ceiling: float

    def total(
        self, numbers: Named, weights: Named, constants: Constants, penalty: Tensor, step: Step
    ) -> tuple[Tensor, Tensor]:
        """(what is differentiated, the loss on the problems alone). The soft mask is computed once and serves both."""
        level = self.method.level(numbers, step.beta)
        soft = {name: self.method.soft(part, level, step.noise.get(name)) for name, part in numbers.items()}
        density = torch.stack(
            [self.method.penalised(numbers[name], part).sum() for name, part in soft.items()]
        ).mul(constants.share).sum()  # fmt: skip
        named = {**weights, **self.masked(soft, weights, constants)}
        loss = self._loss(named, step.inputs, step.targets)
        total = loss + penalty * ((density - constants.target).abs() if self.targeted else density)
        if step.other:
            other = self._loss(named, step.other[:-1], step.other[-1])
            total = total + constants.adversary * torch.relu(self.ceiling - other)
        return total, loss

    def masked(self, soft: Named, weights: Named, constants: Constants) -> dict[str, Tensor]:
        """The masked parameters by every name they have."""
        named: dict[str, Tensor] = {}
        for i, part in enumerate(self.units.parts):
            weight, mask = weights[part.parameter], soft[part.units]
            if self.scaled:
                mask = mask * constants.scale
            if not self.everywhere:
                mask = torch.where(constants.active[i], mask, 1.0)
            named[part.parameter] = part.times(weight, mask.to(weight.dtype))
            for alias in self.aliases.get(part.parameter, ()):
                named[alias.name] = named[part.parameter].t() if alias.turned else named[part.parameter]
        return named

    def _loss(self, named: Named, inputs: tuple[Tensor, ...], targets: Tensor) -> Tensor:
        positional, by_name = arguments(self.like, inputs)
        outputs = call_with(self.model, dict(named), positional, by_name)
        if isinstance(outputs, Tensor) and outputs.dtype in (torch.bfloat16, torch.float16):
            outputs = outputs.float()
        return self.loss(outputs, targets).mean()
