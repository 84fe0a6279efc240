"""Penalties on a member's parameters: what forces a decoder to render its factors (Liang et al. 2025).

Each is a description that is called with the parameters by name and gives one number, a *mean* over levels, terms or
pixels, so that a weight means the same at every side. (The paper sums: its .1 on the entropy of 64 levels is 6.4 here,
its .01 on the variance of 4096 vectors 41.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description

SMALLEST = 1e-8


class Penalty(Description):
    """One number from the parameters of a member."""

    kind: ClassVar[str]

    def __call__(self, parameters: Mapping[str, Tensor]) -> Tensor:
        raise TypeError(f"{type(self).__name__} has no formula")


class SquaredNorm(Penalty):
    """Σ w² over all parameters."""

    kind: ClassVar[str] = "squared norm"

    def __call__(self, parameters: Mapping[str, Tensor]) -> Tensor:
        return torch.stack([parameter.square().sum() for parameter in parameters.values()]).sum()


class CoefficientEntropy(Penalty):
    """H = −Σ_k q_k log q_k, q_k = λ_k² / Σ λ², mean over levels: 0 where one term of each level is left."""

    kind: ClassVar[str] = "coefficient entropy"

    strength: str = "strength"

    def __call__(self, parameters: Mapping[str, Tensor]) -> Tensor:
        squares = parameters[self.strength].square()
        share = (squares / squares.sum(-1, keepdim=True).clamp(min=SMALLEST)).clamp(min=SMALLEST)
        return -(share * share.log()).sum(-1).mean()


class VectorVariance(Penalty):
    """Var of the entries of each vector, mean over vectors: a constant side makes an outer product a stripe."""

    kind: ClassVar[str] = "vector variance"

    vectors: tuple[str, ...] = ("rows", "columns")

    def __call__(self, parameters: Mapping[str, Tensor]) -> Tensor:
        return torch.stack([parameters[name].var(-1).mean() for name in self.vectors]).mean()


class MapVariance(Penalty):
    """Variance of each factor's pictures along the *other* axis, mean over pictures: 0 for stripes.

    ``weight`` maps two factors' codes (columns, x first) to channels × side × side pictures."""

    kind: ClassVar[str] = "map variance"

    side: int = Field(ge=2)
    weight: str = "seed.weight"

    def __call__(self, parameters: Mapping[str, Tensor]) -> Tensor:
        pictures = parameters[self.weight].unflatten(0, (-1, self.side, self.side))
        x, y = pictures.chunk(2, dim=-1)
        # Pictures are (channels × row × column × code): x must not change down the rows, nor y along the columns.
        uneven: Tensor = (x - x.mean(1, keepdim=True)).square().mean() + (y - y.mean(2, keepdim=True)).square().mean()
        return uneven / 2


class NuclearNorm(Penalty):
    """Σ_k |λ_k| / side of each level's picture Σ_k λ_k û_k v̂_kᵀ, mean over levels. With as many terms as the side, the
    least that it can be for a picture is the sum of its singular values, its nuclear norm."""

    kind: ClassVar[str] = "nuclear norm"

    strength: str = "strength"
    rows: str = "rows"

    def __call__(self, parameters: Mapping[str, Tensor]) -> Tensor:
        return parameters[self.strength].abs().sum(-1).mean() / parameters[self.rows].shape[-1]


class Together(Penalty):
    """Σ weight · penalty."""

    kind: ClassVar[str] = "together"

    parts: tuple[tuple[float, Penalty], ...] = Field(min_length=1)

    def __call__(self, parameters: Mapping[str, Tensor]) -> Tensor:
        return torch.stack([weight * part(parameters) for weight, part in self.parts]).sum()
