"""A training, described once and checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.tasks import Task
from recombine.training.optim import SGD, Optimizer, PerMember
from recombine.training.plan import ChunkSize
from recombine.training.progress import Progress
from recombine.training.record import Record
from recombine.training.stack import Model, Objective, Penalty, Stack

UNLESS_GIVEN = SGD(lr=0.1)


@dataclass(frozen=True, eq=False)
class Training:
    """What is trained and how, once for all that ask: `train`, which says what each means, `plan_training` and runs."""

    model: Model
    task: Task
    _: KW_ONLY
    members: int | Sequence[int] = 1
    steps: int
    batch_size: int | None = 64
    optimizer: Optimizer = UNLESS_GIVEN
    seed: int = 0
    init_scale: PerMember = 1.0
    penalty: Penalty | None = None
    penalty_weight: PerMember = 0.0
    records: Sequence[Record] = ()
    fit_below: float | None = None
    stop_below: float | None = None
    stop_on: int | None = None
    stop_every: int = 1
    device: str | torch.device = "auto"
    dtype: torch.dtype | None = None
    strategy: str = "auto"
    chunk_size: ChunkSize = "auto"
    checkpoint: str | Path | None = None
    checkpoint_seconds: float = 30.0
    only: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        for name in ("init_scale", "penalty_weight"):
            object.__setattr__(self, name, _per_member(getattr(self, name)))
        object.__setattr__(self, "records", tuple(self.records))
        last = max(self.ids)
        if self.steps < 0:
            raise InputError(f"steps must not be negative, got {self.steps}.")
        if self.batch_size is not None and self.batch_size < 1:
            raise InputError(f"batch_size must be at least 1, got {self.batch_size}.")
        if self.stop_every < 1 or (self.stop_on is not None and self.stop_on < 1):
            raise InputError("stop_on and stop_every are whole numbers from 1 on.")
        for record in self.records:
            record.steps(self.steps)
        for name, value in (("lr", self.optimizer.lr), ("weight_decay", self.optimizer.weight_decay),
                            ("init_scale", self.init_scale), ("penalty_weight", self.penalty_weight)):  # fmt: skip
            if isinstance(value, tuple) and len(value) <= last:
                raise InputError(f"{name} has {len(value)} entries, member {last} has none.")

    @cached_property
    def ids(self) -> list[int]:
        """The numbers of its members."""
        ids = list(range(self.members)) if isinstance(self.members, int) else [int(m) for m in self.members]
        if not ids or min(ids) < 0 or len(set(ids)) != len(ids):
            raise InputError(f"members must be a positive number or distinct member numbers, got {self.members!r}.")
        return ids

    @cached_property
    def on(self) -> torch.device:
        """The device it is trained on."""
        return pick_device(self.device)

    @cached_property
    def objective(self) -> Objective:
        return Objective(self.task, self.penalty)

    def folder(self, members: Sequence[int]) -> Path | None:
        """Where the checkpoints of a stack lie."""
        return stack_folder(Path(self.checkpoint), members) if self.checkpoint is not None else None

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


def stack_folder(checkpoint: Path, members: Sequence[int]) -> Path:
    """Where the checkpoints of a stack lie, within those of its training."""
    return checkpoint / f"stack-{members[0]}-{members[-1]}"


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
