"""Everything of a call to `train` that all of its stacks share, checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.tasks import Task
from recombine.training.optim import SGD, Optimizer, PerMember
from recombine.training.record import Record
from recombine.training.stack import Model, Objective, Penalty, Stack


@dataclass(frozen=True)
class Settings:
    """The arguments of `train`, checked and resolved."""

    model: Model
    task: Task
    objective: Objective
    steps: int
    batch_size: int | None
    optimizer: Optimizer
    seed: int
    init_scale: PerMember
    penalty_weight: PerMember
    records: tuple[Record, ...]
    fit_below: float | None
    stop_below: float | None
    stop_on: int | None
    stop_every: int
    device: torch.device
    dtype: torch.dtype | None
    checkpoint: Path | None
    checkpoint_seconds: float

    @property
    def judged_fresh(self) -> bool:
        """Whether members stop by their loss on fresh examples."""
        return self.stop_below is not None and self.stop_on is not None

    def key(self, stack: Stack, inputs: tuple[Tensor, ...], targets: Tensor) -> str:
        """What a checkpoint must match to be continued. A model and a task may be any object, so what they gave the
        first member at the start (its parameters and its first batch) stands for them."""
        shared = self.batch_size is None
        first = [*inputs, targets] if shared else [part[0, 0] for part in (*inputs, targets)]
        start = [stack.flat[0], *(buffer[0] for buffer in stack.buffers.values()), *first]
        fresh = [] if self.stop_on is None else [self.stop_on, self.stop_every]
        text = json.dumps(
            [list(stack.members), self.steps, self.batch_size, self.optimizer.describe(), self.seed, self.init_scale,
             self.penalty_weight, [[r.name, r.at] for r in self.records], self.stop_below, str(self.dtype),
             [[s.name, s.shape] for s in stack.layout.slots], [list(part.shape) for part in start], *fresh]
        )  # fmt: skip
        digest = hashlib.sha256(text.encode())
        for part in start:
            digest.update(part.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()


def resolve(
    model: Model,
    task: Task,
    *,
    members: int | Sequence[int] = 1,
    steps: int,
    batch_size: int | None = 64,
    optimizer: Optimizer | None = None,
    seed: int = 0,
    init_scale: PerMember = 1.0,
    penalty: Penalty | None = None,
    penalty_weight: PerMember = 0.0,
    records: Sequence[Record] = (),
    fit_below: float | None = None,
    stop_below: float | None = None,
    stop_on: int | None = None,
    stop_every: int = 1,
    device: str | torch.device = "auto",
    dtype: torch.dtype | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
) -> tuple[Settings, list[int]]:
    """The settings of a call to `train`, which says what they mean, and the numbers of its members."""
    ids = _member_numbers(members)
    if steps < 0:
        raise InputError(f"steps must not be negative, got {steps}.")
    if batch_size is not None and batch_size < 1:
        raise InputError(f"batch_size must be at least 1, got {batch_size}.")
    if stop_every < 1 or (stop_on is not None and stop_on < 1):
        raise InputError("stop_on and stop_every are whole numbers from 1 on.")
    for record in records:
        record.steps(steps)
    optimizer = optimizer or SGD(lr=0.1)
    init_scale, penalty_weight = _per_member(init_scale), _per_member(penalty_weight)
    for name, value in (("lr", optimizer.lr), ("weight_decay", optimizer.weight_decay), ("init_scale", init_scale),
                        ("penalty_weight", penalty_weight)):  # fmt: skip
        if isinstance(value, tuple) and len(value) <= max(ids):
            raise InputError(f"{name} has {len(value)} entries, member {max(ids)} has none.")
    settings = Settings(
        model, task, Objective(task, penalty), steps, batch_size, optimizer, seed, init_scale, penalty_weight,
        tuple(records), fit_below, stop_below, stop_on, stop_every, pick_device(device), dtype,
        Path(checkpoint) if checkpoint is not None else None, checkpoint_seconds,
    )  # fmt: skip
    return settings, ids


def pick_device(device: str | torch.device) -> torch.device:
    """``"auto"`` is a GPU where there is one."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError:
        raise InputError(f"there is no device {str(device)[:80]!r}; use auto, cpu or cuda.") from None
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InputError("no CUDA device is available here; use device='cpu'.")
    return chosen


def _per_member(value: PerMember | Sequence[float]) -> PerMember:
    return tuple(float(v) for v in value) if isinstance(value, Sequence) else float(value)


def _member_numbers(members: int | Sequence[int]) -> list[int]:
    ids = list(range(members)) if isinstance(members, int) else [int(m) for m in members]
    if not ids or min(ids) < 0 or len(set(ids)) != len(ids):
        raise InputError(f"members must be a positive number or distinct member numbers, got {members!r}.")
    return ids
