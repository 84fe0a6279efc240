"""An additive decoder trained without latents: the encoder must find slots of its own (Lachapelle et al. 2023).

One step towards the unsupervised question. Whatever the encoder does with unseen observations, a decoder that adds
up what it draws of each slot must draw a new combination of slots from what it drew of each: the decoder alone can
be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.models.compositional import ComposedNetworks, composer
from recombine.models.perceptron import Perceptron
from recombine.tasks.sprites.compose import Addition


class SlotAutoencoder(Description):
    """Observation (batch × …) → perceptron → ``components`` slots of ``slot`` numbers → component networks → C."""

    kind: ClassVar[str] = "slot-autoencoder"

    inputs: int = Field(ge=1)
    slot: int = Field(ge=1)
    component: Description
    composition: Description = Addition()
    components: int = Field(default=2, ge=2)
    hidden: int = Field(default=64, ge=1)
    depth: int = Field(default=2, ge=1)

    def __call__(self) -> nn.Module:
        build: Callable[[], nn.Module] = self.component  # type: ignore[assignment]
        widths = (self.inputs, *[self.hidden] * self.depth, self.components * self.slot)
        encoder = Perceptron(widths=widths, activation="elu")()
        networks = [build() for _ in range(self.components)]
        return _SlotAutoencoder(encoder, ComposedNetworks(networks, composer(self.composition), self.components))


class _SlotAutoencoder(nn.Module):
    def __init__(self, encoder: nn.Module, decoder: ComposedNetworks) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def slots(self, observed: Tensor) -> Tensor:
        """What the encoder finds, (batch × K · slot)."""
        found: Tensor = self.encoder(observed.reshape(len(observed), -1))
        return found

    def forward(self, observed: Tensor) -> Tensor:
        picture: Tensor = self.decoder(self.slots(observed))
        return picture
