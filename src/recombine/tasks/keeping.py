"""Tensors that a task makes once and keeps on every device they are used on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import torch
from torch import Tensor


class Keeping:
    def kept(self, name: str, device: torch.device, make: Callable[[], Iterable[Tensor]]) -> tuple[Tensor, ...]:
        """What ``make`` gives under this name, made at the first call for a device."""
        key = (name, str(device))
        if key not in self._on:
            self._on[key] = tuple(tensor.to(device) for tensor in make())
        return self._on[key]

    @cached_property
    def _on(self) -> dict[tuple[str, str], tuple[Tensor, ...]]:
        return {}
