"""Composition functions C(φ_1, …, φ_K): components become one picture, cell by cell (Wiedemer et al. 2023, section 3).

Component 0 is in front. The occluding compositions fold from the back, x ← w_k·φ_k + (1 − w_k)·x, with a weight w_k
that component k decides for itself; addition is the plain sum. All act within a cell, so dC/dφ_k is one block per cell:

    addition          I
    occlusion, over   T_k (w_k E + (φ_k − x_behind) ⊗ dw_k/dφ_k)   with T_k = Π_{j<k} (1 − w_j), E the colour channels

The data's C and a model's C are separate arguments everywhere.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError

COLOURS = 3


class Composition(Description):
    """What every composition has."""

    kind: ClassVar[str]
    differentiable: ClassVar[bool] = True
    """Whether C has a derivative everywhere that counts: the theorem asks for it (A1)."""

    @property
    def channels(self) -> int:
        """How many numbers a component has in each cell."""
        return COLOURS

    def __call__(self, components: Tensor) -> Tensor:
        """One picture (… × cells × 3) of components (… × K × cells × channels), the first in front."""
        raise TypeError(f"{type(self).__name__} has no picture")

    def blocks(self, components: Tensor) -> Tensor:
        """dC/dφ_k in every cell, in closed form: (… × K × cells × out × channels)."""
        raise TypeError(f"{type(self).__name__} has no derivative")


class Addition(Composition):
    """C = Σ_k φ_k, for any number of channels: vectors are cells with one channel."""

    kind: ClassVar[str] = "addition"

    def __call__(self, components: Tensor) -> Tensor:
        return components.sum(-3)

    def blocks(self, components: Tensor) -> Tensor:
        size = components.shape[-1]
        one = torch.eye(size, dtype=components.dtype, device=components.device)
        return one.expand(*components.shape[:-1], size, size)


class Covering(Composition):
    """Compositions in which a component covers what is behind it with a weight of its own."""

    canvas: ClassVar[bool] = False
    """Whether the rearmost component lies on a black canvas, or is shown as it is because nothing is behind it."""

    def weights(self, components: Tensor) -> Tensor:
        """w_k (… × K × cells): how much of what is behind it each component covers."""
        raise TypeError(f"{type(self).__name__} has no weights")

    def slopes(self, components: Tensor) -> Tensor:
        """dw_k/dφ_k (… × K × cells × channels)."""
        return torch.zeros_like(components)

    def __call__(self, components: Tensor) -> Tensor:
        fronts, below = self._layers(components)
        weights = self.weights(fronts)
        for k in reversed(range(fronts.shape[-3])):
            below = self._blend(weights[..., k, :, None], fronts[..., k, :, :COLOURS], below)
        return below

    def blocks(self, components: Tensor) -> Tensor:
        fronts, below = self._layers(components)
        weights, slopes = self.weights(fronts), self.slopes(fronts)
        colour = torch.eye(COLOURS, self.channels, dtype=components.dtype, device=components.device)
        found: list[Tensor] = [] if self.canvas else [colour.expand(*below.shape, self.channels)]
        for k in reversed(range(fronts.shape[-3])):
            weight, front = weights[..., k, :], fronts[..., k, :, :COLOURS]
            found = [(1 - weight)[..., None, None] * block for block in found]
            change = (front - below)[..., None] * slopes[..., k, :, None, :]
            found.append(weight[..., None, None] * colour + change)
            below = self._blend(weight[..., None], front, below)
        return torch.stack(found[::-1], dim=-4)

    def _layers(self, components: Tensor) -> tuple[Tensor, Tensor]:
        """The components that cover something, and the colours of what is behind them all."""
        if components.shape[-1] != self.channels:
            raise InputError(
                f"{self.kind} composes cells of {self.channels} channels, got {components.shape[-1]}; vectors are "
                "composed by addition."
            )
        if self.canvas:
            return components, torch.zeros_like(components[..., 0, :, :COLOURS])
        return components[..., :-1, :, :], components[..., -1, :, :]

    def _blend(self, weight: Tensor, front: Tensor, below: Tensor) -> Tensor:
        return weight * front + (1 - weight) * below


class HardOcclusion(Covering):
    """The front where Σ_c φ_c > 0, else what is behind. It has no derivative where a front pixel is empty."""

    kind: ClassVar[str] = "hard_occlusion"
    differentiable: ClassVar[bool] = False

    def weights(self, components: Tensor) -> Tensor:
        return (components.sum(-1) > 0).to(components.dtype)

    def _blend(self, weight: Tensor, front: Tensor, below: Tensor) -> Tensor:
        return torch.where(weight > 0, front, below)


class SoftOcclusion(Covering):
    """w = sigmoid(Σ_c φ_c / temperature). An empty front covers half of what is behind at every temperature, so the
    limit of temperature 0 is *not* hard occlusion."""

    kind: ClassVar[str] = "soft_occlusion"

    temperature: float = Field(default=1.0, gt=0)

    def weights(self, components: Tensor) -> Tensor:
        return torch.sigmoid(components.sum(-1) / self.temperature)

    def slopes(self, components: Tensor) -> Tensor:
        weights = self.weights(components)
        return (weights * (1 - weights) / self.temperature)[..., None].expand_as(components)


class Over(Covering):
    """RGBA "over" an opaque black canvas: w = the fourth channel, clamped to [0, 1]. The colour of a transparent cell
    has no influence, so its block never has full rank; outside [0, 1] the derivative of alpha is ``leak``, so that with
    none a network whose alpha fell to 0 everywhere stays there."""

    kind: ClassVar[str] = "over"
    canvas: ClassVar[bool] = True
    leak: float = Field(default=0.0, ge=0)

    @property
    def channels(self) -> int:
        return COLOURS + 1

    def weights(self, components: Tensor) -> Tensor:
        alpha = components[..., COLOURS]
        clamped = alpha.clamp(0, 1)
        return clamped + self.leak * (alpha - clamped)

    def slopes(self, components: Tensor) -> Tensor:
        alpha = components[..., COLOURS:]
        inside = ((alpha >= 0) & (alpha <= 1)).to(components.dtype)
        slope = inside + self.leak * (1 - inside)
        return torch.cat([torch.zeros_like(components[..., :COLOURS]), slope], dim=-1)


COMPOSITIONS: dict[str, Composition] = {kind.kind: kind() for kind in (Addition, HardOcclusion, SoftOcclusion, Over)}
"""The compositions of the paper by name, with their defaults."""

__all__ = ["COMPOSITIONS", "Addition", "Composition", "HardOcclusion", "Over", "SoftOcclusion"]
