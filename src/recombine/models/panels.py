"""Pictures given as bytes: normalised where they are read, so that a set of them takes a quarter of the memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import ClassVar

import torch
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError

MEAN, SPREAD = 0.9, 0.1
"""The normalisation of Lepori et al. (2023) for contours on white."""


class Panels(Description):
    """``encoder`` on panels of bytes, (x/255 − .9)/.1. Its layers are found under ``network``."""

    kind: ClassVar[str] = "panels"

    encoder: Description

    def __call__(self) -> nn.Module:
        if not callable(self.encoder):
            raise InputError(f"{type(self.encoder).__name__} builds no network; give a model of recombine.models.")
        network = self.encoder()
        return nn.Sequential(OrderedDict(normalise=Normalise(network), network=network))


class Normalise(nn.Module):
    """Bytes as numbers of the type of the network's weights; numbers are passed on as they are."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        # In a list, so that the network's parameters are not counted twice.
        self._network = [network]

    def forward(self, panels: Tensor) -> Tensor:
        if panels.dtype != torch.uint8:
            return panels
        weight = next(self._network[0].parameters())
        return (panels.to(weight.dtype) / 255 - MEAN) / SPREAD
