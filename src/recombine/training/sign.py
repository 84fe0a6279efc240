"""Sign descent: w ← w − lr · sign(g). Every parameter moves by the same amount, whatever the size of its gradient."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field
from torch import Tensor, zeros_like

from recombine.training.optim import Hyper, Optimizer, State


class SignSGD(Optimizer):
    """The sign of the gradient, or with ``momentum`` of its running mean (Bernstein et al. 2018)."""

    kind: ClassVar[str] = "sign"

    momentum: float = Field(default=0.0, ge=0, lt=1)

    def start(self, flat: Tensor) -> State:
        return {"mean": zeros_like(flat)} if self.momentum else {}

    def update(self, flat: Tensor, grad: Tensor, state: State, lr: Tensor, decay: Tensor | None, hyper: Hyper) -> None:
        if decay is not None:
            grad = grad + decay * flat
        if self.momentum:
            grad = state["mean"].lerp_(grad, 1 - self.momentum)
        flat.addcmul_(grad.sign(), lr * hyper[0], value=-1)
