"""How the temperature β of a soft mask changes while it is trained: recorded values, one per step."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description


class Temperature(Description):
    """β is ``first`` throughout."""

    kind: ClassVar[str] = "constant temperature"

    first: float = Field(default=1.0, gt=0)

    def values(self, steps: int, epochs: int) -> Tensor:
        """β at each of ``steps`` steps, the epochs being of equal length."""
        return torch.full((steps,), self.first, dtype=torch.float64)


class Rising(Temperature):
    """From ``first`` to ``last``, changed once an epoch or once a step."""

    kind: ClassVar[str] = "rising temperature"

    last: float = Field(default=200.0, gt=0)
    per: Literal["epoch", "step"] = "epoch"
    ahead: bool = True
    """Whether the e-th of E periods is at e/E of the way, so that the last one is trained at ``last`` — what the code
    of Lepori et al. (2023) does; otherwise at (e − 1)/E."""

    def values(self, steps: int, epochs: int) -> Tensor:
        periods = epochs if self.per == "epoch" else steps
        period = torch.arange(steps) * periods // max(steps, 1)
        return self._at((period.double() + self.ahead) / periods)

    def _at(self, share: Tensor) -> Tensor:
        raise TypeError(f"{type(self).__name__} does not say how it rises")


class Geometric(Rising):
    """β = first · (last/first)^t; 1 → 200 is the schedule of continuous sparsification (Savarese et al. 2020)."""

    kind: ClassVar[str] = "geometric temperature"

    def _at(self, share: Tensor) -> Tensor:
        return self.first * (self.last / self.first) ** share


class Linear(Rising):
    """β = first + t · (last − first)."""

    kind: ClassVar[str] = "linear temperature"

    def _at(self, share: Tensor) -> Tensor:
        return self.first + share * (self.last - self.first)
