"""How a mask is found: from one real number per unit to a soft mask that is trained and a hard one that is used.

Each method is a description with the same few functions, all elementwise except the level, so that one mask and a
stack of them are trained by the same code. Numbers that differ between the masks of a stack (``start``, ``scale``) are
tensors there; everything else of a method is the same for the whole stack.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.structure.units import Units

Numbers = Mapping[str, Tensor]
"""One tensor for each unit tensor of a model, by name."""

TINY = 2.0**-24


class Method(Description):
    """What every method has."""

    kind: ClassVar[str]

    draws: ClassVar[bool] = False
    """Whether the soft mask takes a uniform random number a unit and step."""
    per_mask: ClassVar[tuple[str, ...]] = ()
    """Settings that may differ between the masks of one stack."""
    ranks: ClassVar[bool] = False
    """Whether units compete, so that masks of different layers can never share a stack."""
    trained: ClassVar[bool] = True

    def begin(self, units: Units, weights: Numbers) -> dict[str, Tensor]:
        """The numbers training starts from."""
        raise TypeError(f"{type(self).__name__} is not trained")

    def level(self, numbers: Numbers, beta: Tensor | float) -> Tensor | float:
        """What the soft masks of one step share: the temperature."""
        return beta

    def soft(self, numbers: Tensor, level: Tensor | float, noise: Tensor | None) -> Tensor:
        """What the weights of a unit are multiplied by, up to ``scale``."""
        raise TypeError(f"{type(self).__name__} is not trained")

    def penalised(self, numbers: Tensor, soft: Tensor) -> Tensor:
        """How much of each unit counts as kept in the penalty: the soft mask itself where that is what is trained."""
        return soft

    def expected(self, numbers: Tensor, level: Tensor | float) -> Tensor:
        """The mask without noise, from 0 to 1: what density and undecided units are counted from."""
        return torch.sigmoid(numbers)

    def hard(self, numbers: Tensor, level: Tensor | float) -> Tensor:
        """Which units are kept in the end."""
        return numbers > 0

    @property
    def scale(self) -> float:
        """What kept weights are multiplied by."""
        return 1.0

    @property
    def shared(self) -> dict[str, Any]:
        """The settings that all masks of a stack must have in common."""
        fields = {name: value for name, value in self.resolved().items() if name not in self.per_mask}
        return fields | {"kind": self.kind}


class ContinuousSparsification(Method):
    """m = σ(β s), hard mask 1[s > 0] (Savarese et al. 2020; without the rescale as Lepori et al. 2023 use it).

    With ``rescale`` weights are multiplied by σ(βs)/σ(start), so that training begins with the function of the model
    itself at β = 1 and what is kept in the end stays multiplied by 1/σ(start); without it, every masked weight is about
    halved at the start."""

    kind: ClassVar[str] = "continuous sparsification"
    per_mask: ClassVar[tuple[str, ...]] = ("start", "rescale")

    start: float = 0.05
    rescale: bool = False

    def begin(self, units: Units, weights: Numbers) -> dict[str, Tensor]:
        return constants(units, self.start)

    def soft(self, numbers: Tensor, level: Tensor | float, noise: Tensor | None) -> Tensor:
        return torch.sigmoid(numbers * level)

    def expected(self, numbers: Tensor, level: Tensor | float) -> Tensor:
        return torch.sigmoid(numbers * level)

    @property
    def scale(self) -> float:
        return 1 + math.exp(-self.start) if self.rescale else 1.0


class HardConcrete(Method):
    """Samples of a stretched and clipped concrete variable (Louizos, Welling and Kingma 2018).

    z = σ((log u − log(1−u) + s)/temperature), m = clip(z·(high − low) + low, 0, 1); the penalty is the probability that
    m > 0, σ(s − temperature·log(−low/high)). The hard mask keeps units whose m without noise is above ½: s > 0."""

    kind: ClassVar[str] = "hard concrete"
    draws: ClassVar[bool] = True
    per_mask: ClassVar[tuple[str, ...]] = ("start",)

    start: float = 2.0
    temperature: float = Field(default=2 / 3, gt=0)
    low: float = Field(default=-0.1, lt=0)
    high: float = Field(default=1.1, gt=1)

    def begin(self, units: Units, weights: Numbers) -> dict[str, Tensor]:
        return constants(units, self.start)

    def soft(self, numbers: Tensor, level: Tensor | float, noise: Tensor | None) -> Tensor:
        z = torch.sigmoid((_logistic(noise) + numbers) / self.temperature)
        return (z * (self.high - self.low) + self.low).clamp(0, 1)

    def penalised(self, numbers: Tensor, soft: Tensor) -> Tensor:
        return torch.sigmoid(numbers - self.temperature * math.log(-self.low / self.high))


class StraightThroughGumbel(Method):
    """m = 1[z > ½] with the gradient of z = σ((s + logistic noise)/temperature) (Csordás et al. 2021)."""

    kind: ClassVar[str] = "straight-through gumbel"
    draws: ClassVar[bool] = True
    per_mask: ClassVar[tuple[str, ...]] = ("start",)

    start: float = 2.0
    temperature: float = Field(default=1.0, gt=0)

    def begin(self, units: Units, weights: Numbers) -> dict[str, Tensor]:
        return constants(units, self.start)

    def soft(self, numbers: Tensor, level: Tensor | float, noise: Tensor | None) -> Tensor:
        z = torch.sigmoid((numbers + _logistic(noise)) / self.temperature)
        return _straight_through((z > 0.5).to(z.dtype), z)

    def penalised(self, numbers: Tensor, soft: Tensor) -> Tensor:
        return torch.sigmoid(numbers)


class TopK(Method):
    """Keep the ``density`` of units with the largest scores, the gradient passed straight to the scores
    (Ramanujan et al. 2020). Scores start at the mean |weight| of a unit, relative to the largest of its parameter."""

    kind: ClassVar[str] = "top-k"
    ranks: ClassVar[bool] = True

    density: float = Field(default=0.1, gt=0, lt=1)

    def begin(self, units: Units, weights: Numbers) -> dict[str, Tensor]:
        sizes = magnitudes(units, weights)
        return {name: size / size.max().clamp(min=TINY) for name, size in sizes.items()}

    def level(self, numbers: Numbers, beta: Tensor | float) -> Tensor:
        return kth_largest(numbers, self.density)

    def soft(self, numbers: Tensor, level: Tensor | float, noise: Tensor | None) -> Tensor:
        return _straight_through((numbers >= level).to(numbers.dtype), numbers)

    def expected(self, numbers: Tensor, level: Tensor | float) -> Tensor:
        return (numbers >= level).to(numbers.dtype)

    def hard(self, numbers: Tensor, level: Tensor | float) -> Tensor:
        return numbers >= level


class MagnitudePruning(TopK):
    """Keep the ``density`` of units with the largest mean |weight| of the whole model; nothing is trained."""

    kind: ClassVar[str] = "magnitude pruning"
    trained: ClassVar[bool] = False

    def begin(self, units: Units, weights: Numbers) -> dict[str, Tensor]:
        return magnitudes(units, weights)


def constants(units: Units, value: float) -> dict[str, Tensor]:
    return {name: torch.full(shape, value) for name, shape in units.shapes.items()}


def magnitudes(units: Units, weights: Numbers) -> dict[str, Tensor]:
    """The mean |weight| of each unit."""
    sums: dict[str, Tensor] = {}
    for part in units.parts:
        across = [d for d, (view, inner) in enumerate(zip(part.view, part.inner, strict=True)) if view < inner]
        size = weights[part.parameter].detach().abs().float().reshape(part.inner)
        size = (size.sum(across) if across else size).reshape(units.shapes[part.units])
        sums[part.units] = sums[part.units] + size if part.units in sums else size
    return {name: total / units.covers[name] for name, total in sums.items()}


def kth_largest(numbers: Numbers, density: float) -> Tensor:
    """The score above which ``density`` of all units lie (at least one)."""
    row = torch.cat([part.detach().reshape(-1) for part in numbers.values()])
    k = max(1, round(density * len(row)))
    return row.topk(k).values[-1]


def _logistic(noise: Tensor | None) -> Tensor:
    assert noise is not None
    u = noise.clamp(TINY, 1 - TINY)
    return torch.log(u) - torch.log1p(-u)


def _straight_through(value: Tensor, through: Tensor) -> Tensor:
    return value + through - through.detach()
