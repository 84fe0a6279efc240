"""A fixed set of problems: what is shown and what is the answer, one row per problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from recombine.errors import InputError

Shown = Tensor | tuple[Tensor, ...] | dict[str, Tensor]
"""What a model is called with: one tensor, several by position, or several by name."""


@dataclass(frozen=True, eq=False)
class Problems:
    """``inputs`` and ``targets`` with one row per problem; odd-one-out inputs are (problems × items × …)."""

    inputs: Shown
    targets: Tensor

    def __post_init__(self) -> None:
        rows = {len(part) for part in (*self.parts, self.targets)}
        if len(rows) != 1 or rows == {0}:
            raise InputError(f"inputs and targets must have as many rows, and at least one; they have {sorted(rows)}.")

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """The input tensors."""
        if isinstance(self.inputs, Tensor):
            return (self.inputs,)
        return tuple(self.inputs.values()) if isinstance(self.inputs, dict) else self.inputs

    def __len__(self) -> int:
        return len(self.targets)

    def rows(self, chosen: Tensor | slice) -> Problems:
        """Some of the problems."""
        return Problems(self._map(lambda part: part[chosen]), self.targets[chosen])

    def to(self, device: torch.device | str) -> Problems:
        return Problems(self._map(lambda part: part.to(device)), self.targets.to(device))

    def _map(self, change: Callable[[Tensor], Tensor]) -> Shown:
        if isinstance(self.inputs, Tensor):
            return change(self.inputs)
        if isinstance(self.inputs, dict):
            return {name: change(part) for name, part in self.inputs.items()}
        return tuple(change(part) for part in self.inputs)
