"""Optimisers over stacked members: one flat row of parameters per member, a learning rate of its own for each.

torch.optim has one learning rate per tensor, so it cannot give members of a stack different ones. The updates are the
textbook formulas, written in place so that they can be captured in a CUDA graph; ``hyper`` holds what changes from
step to step (see ``Optimizer.hyper``) as a tensor for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from inspect import signature
from typing import Any, ClassVar

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError, unknown

State = dict[str, Tensor]
PerMember = float | tuple[float, ...]
Hyper = Sequence[float] | Tensor
"""A row of ``Optimizer.hyper``: plain numbers, or a tensor where the step is captured."""

PIECE = 2**18
"""Numbers that an optimiser goes through at once on a CPU."""


class Schedule(Description):
    """The learning rate's factor at each step; 1 throughout."""

    kind: ClassVar[str] = "constant"

    def factor(self, step: int) -> float:
        return 1.0


class Exponential(Schedule):
    """Multiply by ``factor_each`` every ``every`` steps."""

    kind: ClassVar[str] = "exponential"

    factor_each: float = Field(gt=0)
    every: int = Field(default=1, ge=1)

    def factor(self, step: int) -> float:
        return float(self.factor_each ** (step // self.every))


class Cosine(Schedule):
    """From 1 to ``floor`` along half a cosine over ``steps`` steps, changed every ``every`` steps."""

    kind: ClassVar[str] = "cosine"

    steps: int = Field(ge=1)
    floor: float = 0.0
    every: int = Field(default=1, ge=1)

    def factor(self, step: int) -> float:
        share = min(step // self.every * self.every / self.steps, 1.0)
        return self.floor + (1 - self.floor) * (1 + math.cos(math.pi * share)) / 2


class Step(Schedule):
    """Multiply by ``factor_each`` at each of the steps ``at``."""

    kind: ClassVar[str] = "step"

    at: tuple[int, ...]
    factor_each: float = Field(default=0.1, gt=0)

    def factor(self, step: int) -> float:
        return float(self.factor_each ** sum(step >= at for at in self.at))


class Warmup(Schedule):
    """Rise in equal parts to 1 at step ``steps``, and from there as ``then`` does from its beginning."""

    kind: ClassVar[str] = "warm-up"

    steps: int = Field(ge=1)
    then: Schedule = Schedule()

    def factor(self, step: int) -> float:
        return (step + 1) / self.steps if step < self.steps else self.then.factor(step - self.steps)


class Optimizer(Description):
    """What every optimiser has. ``lr`` and ``weight_decay`` are one number, or one per member; ``lr`` may be given by
    position and is torch's unless given. ``clip`` is the largest norm of a member's gradient: a larger one is shrunk to
    it."""

    kind: ClassVar[str]

    lr: PerMember
    weight_decay: PerMember = 0.0
    schedule: Schedule = Schedule()
    clip: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    def __init__(self, lr: PerMember | Sequence[float] = 1e-3, **fields: Any) -> None:
        if not isinstance(fields.get("schedule", Schedule()), Schedule):
            raise InputError(
                "schedule is Cosine(steps=…), Step(at=…), Exponential(factor_each=…) or Warmup(steps=…, then=…), each "
                f"of recombine.training; got {str(fields['schedule'])[:80]!r}."
            )
        super().__init__(lr=lr, **fields)
        for name, value in (("lr", self.lr), ("weight_decay", self.weight_decay)):
            if not all(math.isfinite(rate) and rate >= 0 for rate in (value if isinstance(value, tuple) else (value,))):
                raise InputError(f"{name} must be a number from 0 on, or one for each member; got {value}.")

    def unread(self) -> dict[str, str]:
        """The fields that nothing reads as the others stand, each with where it would be read."""
        return {}

    def start(self, flat: Tensor) -> State:
        """The optimiser's state at step 0 for parameters (members × numbers)."""
        return {}

    def hyper(self, steps: range) -> Tensor:
        """What changes from step to step (steps × 3): learning-rate factor and Adam's two bias corrections."""
        made = torch.ones(len(steps), 3, dtype=torch.float64)
        if type(self.schedule) is not Schedule:
            made[:, 0] = torch.tensor([self.schedule.factor(s) for s in steps], dtype=torch.float64)
        return made

    def clipped(self, grad: Tensor) -> Tensor:
        """Gradients (members × numbers), each no longer than ``clip``, as ``torch.nn.utils.clip_grad_norm_`` has it."""
        if self.clip is None:
            return grad
        norm: Tensor = torch.linalg.vector_norm(grad, dim=-1, keepdim=True)
        return grad * (self.clip / (norm + 1e-6)).clamp(max=1.0)

    def update(self, flat: Tensor, grad: Tensor, state: State, lr: Tensor, decay: Tensor | None, hyper: Hyper) -> None:
        """One step in place; ``lr`` and ``decay`` are (members × 1), ``decay`` None where there is none. No number may
        depend on another: a step may be taken in pieces."""
        raise TypeError(f"{type(self).__name__} has no update")

    def update_in_pieces(
        self, flat: Tensor, grad: Tensor, state: State, lr: Tensor, decay: Tensor | None, hyper: Hyper
    ) -> None:
        """``update``, to the last bit; on a CPU in pieces that stay in its caches from one operation to the next."""
        members, numbers = flat.shape
        if flat.is_cuda or flat.numel() < 4 * PIECE:  # below, calling costs what it saves
            return self.update(flat, grad, state, lr, decay, hyper)
        rows, columns = max(1, PIECE // numbers), min(PIECE, numbers)
        for i in range(0, members, rows):
            some = slice(i, i + rows)
            for at in range(0, numbers, columns):
                here = (some, slice(at, at + columns))
                part = {name: tensor[here] for name, tensor in state.items()}
                self.update(flat[here], grad[here], part, lr[some], None if decay is None else decay[some], hyper)


class SGD(Optimizer):
    """w ← w − lr·v, v ← momentum·v + g; weight decay is added to g. With ``nesterov``, w ← w − lr·(g + momentum·v).

    Examples:
        >>> SGD(0.1, momentum=0.9).momentum
        0.9
    """

    kind: ClassVar[str] = "sgd"

    momentum: float = Field(default=0.0, ge=0, lt=1)
    nesterov: bool = False

    def unread(self) -> dict[str, str]:
        return {} if self.momentum else {"nesterov": "momentum is above 0"}

    def start(self, flat: Tensor) -> State:
        return {"velocity": torch.zeros_like(flat)} if self.momentum else {}

    def update(self, flat: Tensor, grad: Tensor, state: State, lr: Tensor, decay: Tensor | None, hyper: Hyper) -> None:
        if decay is not None:
            grad = grad + decay * flat
        if self.momentum:
            velocity = state["velocity"].mul_(self.momentum).add_(grad)
            grad = grad + self.momentum * velocity if self.nesterov else velocity
        flat.addcmul_(grad, lr * hyper[0], value=-1)


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015); weight decay is added to the gradient.

    Examples:
        >>> Adam().lr
        0.001
    """

    kind: ClassVar[str] = "adam"

    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8

    def start(self, flat: Tensor) -> State:
        return {"mean": torch.zeros_like(flat), "square": torch.zeros_like(flat)}

    def hyper(self, steps: range) -> Tensor:
        first, second = self.betas
        rows = [[self.schedule.factor(s), 1 - first ** (s + 1), math.sqrt(1 - second ** (s + 1))] for s in steps]
        return torch.tensor(rows, dtype=torch.float64)

    def update(self, flat: Tensor, grad: Tensor, state: State, lr: Tensor, decay: Tensor | None, hyper: Hyper) -> None:
        if decay is not None:
            grad = grad + decay * flat
        first, second = self.betas
        mean = state["mean"].lerp_(grad, 1 - first)
        square = state["square"].mul_(second).addcmul_(grad, grad, value=1 - second)
        size = square.sqrt().div_(hyper[2]).add_(self.eps)
        flat.addcmul_(mean / size, lr * (hyper[0] / hyper[1]), value=-1)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019): w ← w − lr·decay·w, then Adam.

    Examples:
        >>> AdamW(3e-4, weight_decay=0.1).weight_decay
        0.1
    """

    kind: ClassVar[str] = "adamw"

    weight_decay: PerMember = 0.01

    def update(self, flat: Tensor, grad: Tensor, state: State, lr: Tensor, decay: Tensor | None, hyper: Hyper) -> None:
        if decay is not None:
            flat.mul_(1 - lr * hyper[0] * decay)
        super().update(flat, grad, state, lr, None, hyper)


def column(value: PerMember, members: Sequence[int], like: Tensor) -> Tensor:
    """A setting as (members × 1): the same for all, or the one that each member asks for by its number."""
    if isinstance(value, tuple):
        return torch.tensor([[value[m]] for m in members], dtype=like.dtype, device=like.device)
    return torch.full((len(members), 1), float(value), dtype=like.dtype, device=like.device)


TORCHS: dict[str, type[Optimizer]] = {"SGD": SGD, "Adam": Adam, "AdamW": AdamW}
"""Which of torch.optim have their like here."""


def as_optimizer(given: Any) -> Optimizer:
    """An optimiser of ours, one by name ("adam"), or a class of torch.optim, with keywords by ``functools.partial``."""
    if isinstance(given, Optimizer):
        return given
    if isinstance(given, str):
        named = {name.lower(): kind for name, kind in TORCHS.items()}
        if given.lower() not in named:
            raise unknown("optimizer", given, named)
        return named[given.lower()]()
    made: Any = given.func if isinstance(given, partial) else given
    words = given.keywords if isinstance(given, partial) else {}
    kind = TORCHS.get(getattr(made, "__name__", ""))
    if kind is None or not isinstance(made, type) or not issubclass(made, torch.optim.Optimizer):
        shown = type(given).__name__ if isinstance(given, torch.optim.Optimizer) else repr(given)[:80]
        raise InputError(
            f"optimizer is rc.SGD(…), rc.Adam(…) or rc.AdamW(…), the name of one, or torch.optim.Adam with keywords by "
            f"functools.partial, before it is given parameters; got {shown}."
        )
    defaults = {name: p.default for name, p in signature(made).parameters.items()}
    meant = {name: value for name, value in words.items() if name not in HOW_ONLY and value != defaults.get(name)}
    if left := [name for name in meant if name not in kind.model_fields]:
        raise InputError(f"{left[0]}={meant[left[0]]!r} of torch.optim.{made.__name__} has no like here; leave it out.")
    return kind(**{"weight_decay": defaults["weight_decay"], **meant})


HOW_ONLY = ("foreach", "fused", "capturable", "differentiable")
"""Keywords of torch.optim that change how it computes and not what."""
