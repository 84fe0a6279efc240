"""A component network that is equivariant to shifts: it draws in the middle, and the position latents move the drawing.

The network never sees where the sprite is, so a position that was never trained on is drawn like any other: an
inductive bias that stands in for missing support (an open question of Wiedemer et al. 2023).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description


class ShiftedNetwork(Description):
    """(x, y, other latents) → ``network`` of the others draws a picture in the middle → moved to (x, y).

    x and y lie in the unit square, y upwards; ``network`` gives (batch × side² × outputs), and so does this. Between
    cells the drawing is interpolated; beyond its border it goes on as at the border."""

    kind: ClassVar[str] = "shifted-network"

    network: Description
    side: int = Field(ge=2)

    def __call__(self) -> nn.Module:
        build: Callable[[], nn.Module] = self.network  # type: ignore[assignment]
        return _Shifted(build(), self.side)


class _Shifted(nn.Module):
    places: Tensor

    def __init__(self, network: nn.Module, side: int) -> None:
        super().__init__()
        self.network, self.side = network, side
        self.register_buffer("places", torch.arange(side, dtype=torch.get_default_dtype()))

    def forward(self, latents: Tensor) -> Tensor:
        drawn = self.network(latents[:, 2:]).unflatten(1, (self.side, self.side))
        x, y = latents[:, 0], latents[:, 1]
        # Rows are counted from the top and y from the bottom.
        moved = torch.einsum("bij,bjkc->bikc", self._move(0.5 - y), drawn)
        out: Tensor = torch.einsum("bkl,bilc->bikc", self._move(x - 0.5), moved).flatten(1, 2)
        return out

    def _move(self, by: Tensor) -> Tensor:
        """(batch × side × side): what each place shows of each place of the drawing, moved ``by`` shares of the
        side."""
        shown = (self.places - self.side * by[:, None]).clamp(0, self.side - 1)
        return (1 - (shown[:, :, None] - self.places).abs()).clamp(min=0)
