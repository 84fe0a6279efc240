"""Several items at once through one encoder: a vector for each (what contrastive pretraining compares)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError


class Views(Description):
    """``encoder`` on every item of (batch × items × …) → (batch × items × numbers)."""

    kind: ClassVar[str] = "views"

    encoder: Description

    def __call__(self) -> nn.Module:
        if not callable(self.encoder):
            raise InputError(f"{type(self.encoder).__name__} builds no network; give a model of recombine.models.")
        return _Views(self.encoder())


class _Views(nn.Module):
    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, items: Tensor) -> Tensor:
        out: Tensor = self.encoder(items.flatten(0, 1)).unflatten(0, items.shape[:2])
        return out
