"""Everything of a call to `train` that all of its stacks share."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from recombine.training.optim import Optimizer, PerMember
from recombine.training.record import Record
from recombine.training.stack import Model, Objective, Stack


@dataclass(frozen=True)
class Settings:
    """The arguments of `train`, checked and resolved."""

    model: Model
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
    device: torch.device
    dtype: torch.dtype | None
    checkpoint: Path | None
    checkpoint_seconds: float

    def key(self, stack: Stack, inputs: tuple[Tensor, ...], targets: Tensor) -> str:
        """What a checkpoint must match to be continued. A model and a task may be any object, so what they gave the
        first member at the start (its parameters and its first batch) stands for them."""
        shared = self.batch_size is None
        first = [*inputs, targets] if shared else [part[0, 0] for part in (*inputs, targets)]
        start = [stack.flat[0], *(buffer[0] for buffer in stack.buffers.values()), *first]
        text = json.dumps(
            [list(stack.members), self.steps, self.batch_size, self.optimizer.describe(), self.seed, self.init_scale,
             self.penalty_weight, [[r.name, r.at] for r in self.records], self.stop_below, str(self.dtype),
             [[s.name, s.shape] for s in stack.layout.slots], [list(part.shape) for part in start]]
        )  # fmt: skip
        digest = hashlib.sha256(text.encode())
        for part in start:
            digest.update(part.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()
