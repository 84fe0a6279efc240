"""Compositional models: one network per component, then a composition that works cell by cell (Wiedemer et al. 2023).

f̂(z) = C(φ̂_1(z_1), …, φ̂_K(z_K)). C is given, or learned (`learned_composition`). A network of all latents at once,
such as `Upsampler` or `Perceptron`, is the *monolithic* model beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.tasks.sprites.compose import Composition


class Compositional(Description):
    """Latents (batch × K·d) → ``components`` networks of d latents each → C → (batch × cells × colours).

    ``component`` describes a network that gives the numbers of all cells, cell by cell; ``shared`` uses one for all
    components. ``composition`` is a `Composition`, or describes a module that learns one."""

    kind: ClassVar[str] = "compositional"

    component: Description
    composition: Description
    components: int = Field(default=2, ge=2)
    shared: bool = False

    def __call__(self) -> nn.Module:
        build: Callable[[], nn.Module] = self.component  # type: ignore[assignment]
        networks = [build() for _ in range(1 if self.shared else self.components)]
        return ComposedNetworks(networks, composer(self.composition), self.components)


def composer(composition: Description) -> Composition | nn.Module:
    """What composes: the composition itself, or the module that a description of a learned one builds."""
    return composition if isinstance(composition, Composition) else composition()  # type: ignore[operator]


class ComposedNetworks(nn.Module):
    """The module of a compositional model; ``components`` gives what it composes."""

    def __init__(self, networks: list[nn.Module], compose: Composition | nn.Module, count: int) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.compose, self.count = compose, count

    def components(self, latents: Tensor) -> Tensor:
        """φ̂_k(z_k) of every component, (batch × K × cells × channels)."""
        parts = latents.unflatten(-1, (self.count, -1))
        if len(self.networks) == 1:
            shared: Tensor = self._cells(self.networks[0](parts.flatten(0, 1))).unflatten(0, parts.shape[:2])
            return shared
        # Cells before examples, as a decoder leaves them: else every picture is turned once more.
        drawn = [self._cells(net(parts[:, k])).movedim(1, 0) for k, net in enumerate(self.networks)]
        return torch.stack(drawn).permute(2, 0, 1, 3)

    def _cells(self, drawn: Tensor) -> Tensor:
        """(batch × cells × channels) of what a network drew, which may be flat."""
        return drawn.unflatten(-1, (-1, self.compose.channels)) if drawn.dim() == 2 else drawn

    def forward(self, latents: Tensor) -> Tensor:
        picture: Tensor = self.compose(self.components(latents))
        return picture
