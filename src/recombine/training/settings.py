"""A training, described once and checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.identity import identity
from recombine.tasks import Task
from recombine.training.optim import SGD, PerMember, as_optimizer
from recombine.training.plan import ChunkSize
from recombine.training.precision import Precision
from recombine.training.progress import Progress
from recombine.training.record import Record
from recombine.training.stack import Model, Objective, Penalty, Stack
from recombine.training.validation import Validation

JUDGED = 1024
UNLESS_GIVEN = SGD(lr=0.1)
ONLY_HOW = {"members", "epochs", "device", "strategy", "chunk_size"} | {
    *("checkpoint", "checkpoint_seconds", "only", "progress")
}
"""Settings that change nothing of what a member comes to; the members of a checkpoint are those of its stack."""


@dataclass(frozen=True, eq=False)
class Training:
    """What is trained and how, once for all that ask: `train`, which says what each means, `plan_training` and runs."""

    model: Model
    task: Task
    _: KW_ONLY
    members: int | Sequence[int] = 1
    steps: int = None  # type: ignore[assignment]  # given, or made of epochs
    epochs: float | None = None
    batch_size: int | None = 64
    optimizer: Any = UNLESS_GIVEN
    seed: int = 0
    fresh: bool | None = None
    init_scale: PerMember = 1.0
    penalty: Penalty | None = None
    penalty_weight: PerMember = 0.0
    records: Sequence[Record] = ()
    fit_below: float | None = None
    stop_below: float | None = None
    stop_on: int | None = None
    stop_every: int = 1
    validation: Validation | None = None
    device: str | torch.device = "auto"
    dtype: torch.dtype | None = None
    precision: Precision = "float32"
    strategy: str = "auto"
    chunk_size: ChunkSize = "auto"
    checkpoint: str | Path | None = None
    checkpoint_seconds: float = 30.0
    only: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        for name in ("init_scale", "penalty_weight"):
            object.__setattr__(self, name, _per_member(name, getattr(self, name)))
        object.__setattr__(self, "records", tuple(self.records))
        object.__setattr__(self, "optimizer", as_optimizer(self.optimizer))
        if not isinstance(self.task, Task):
            raise InputError(f"a task is an rc.FixedTask or another rc.Task, got a {type(self.task).__name__}.")
        if not callable(self.model):
            raise InputError(
                f"a model is an nn.Module or a function that builds one, got a {type(self.model).__name__}."
            )
        if self.batch_size is not None:
            self._set_whole("batch_size", 1)
        if self.stop_on is not None:
            self._set_whole("stop_on", 1)
        self._set_whole("stop_every", 1)
        if self.validation is not None and self.stop_below is not None:
            raise InputError("members stop by validation or below a loss (stop_below), not by both.")
        self._set_whole("seed", -(2**63))
        if (self.steps is None) == (self.epochs is None):
            raise InputError("give steps or epochs, and not both.")
        if self.epochs is not None:
            object.__setattr__(self, "steps", self._steps_of(self.epochs))
        self._set_whole("steps", 0)
        last = max(self.ids)
        if isinstance(self.model, nn.Module) and self.fresh is None and len(self.ids) > 1:
            raise InputError(
                "a module was given for several members: fresh=False starts each from its weights, fresh=True draws "
                "each anew; or give a function that builds the module."
            )
        if self.fresh is not None and not isinstance(self.model, nn.Module):
            raise InputError("fresh is for a module that is given; a function builds each member as it likes.")
        for record in self.records:
            record.steps(self.steps)
        for name, value in (("lr", self.optimizer.lr), ("weight_decay", self.optimizer.weight_decay),
                            ("init_scale", self.init_scale), ("penalty_weight", self.penalty_weight)):  # fmt: skip
            if isinstance(value, tuple) and len(value) <= last:
                raise InputError(f"{name} has {len(value)} entries, member {last} has none.")

    def _set_whole(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if not _is_whole(value) or value < least:
            raise InputError(f"{name} must be a whole number from {least} on, got {value!r:.80}.")
        object.__setattr__(self, name, int(value))

    def _steps_of(self, epochs: float) -> int:
        rows = getattr(self.task, "training_rows", None)
        if rows is None:
            raise InputError(f"a {type(self.task).__name__} draws new examples without end: give steps, not epochs.")
        if not isinstance(epochs, Real) or not 0 <= epochs < math.inf:
            raise InputError(f"epochs must be a number from 0 on, got {epochs!r:.80}.")
        return math.ceil(epochs * rows / (self.batch_size or rows))

    @cached_property
    def ids(self) -> list[int]:
        """The numbers of its members."""
        given = range(self.members) if _is_whole(self.members) else self.members  # type: ignore[arg-type]
        ids = [] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
        if not ids or not all(map(_is_whole, ids)) or min(ids) < 0 or len(set(ids)) != len(ids):
            raise InputError(f"members must be a positive number or distinct member numbers, got {self.members!r:.80}.")
        return [int(member) for member in ids]

    @cached_property
    def on(self) -> torch.device:
        """The device it is trained on."""
        return pick_device(self.device)

    @property
    def draws_weights(self) -> bool:
        """Whether a module that is given is drawn anew for each member, rather than trained on from its weights."""
        return self.fresh is True

    @cached_property
    def objective(self) -> Objective:
        return Objective(self.task, self.penalty)

    def folder(self, members: Sequence[int]) -> Path | None:
        """Where the checkpoints of a stack lie."""
        return stack_folder(Path(self.checkpoint), members) if self.checkpoint is not None else None

    @property
    def judged_apart(self) -> bool:
        """Whether members stop by their loss on other examples than their batches."""
        patient = self.validation is not None and self.validation.patience is not None
        return patient or (self.stop_below is not None and self.judged_on is not None)

    @property
    def judged_on(self) -> int | None:
        """Examples on which ``stop_below`` and ``fit_below`` are judged: ``stop_on``; of a fixed set its training rows,
        or so many of them that always are the same, as one batch is below a bound by luck."""
        rows = getattr(self.task, "training_rows", None)
        if self.stop_on is not None or self.batch_size is None or rows is None:
            return self.stop_on
        return min(int(rows), JUDGED)

    @property
    def judged_every(self) -> int:
        """Steps from one judgement to the next: ``stop_every``, or an epoch of a fixed set."""
        if self.stop_on is not None or self.judged_on is None or self.stop_every > 1:
            return self.stop_every
        return max(1, int(getattr(self.task, "training_rows", 1)) // (self.batch_size or 1))

    @cached_property
    def ingredients(self) -> dict[str, str]:
        """A hash of all that decides what is computed, by the name it is given under; data in full."""
        return {part.name: identity(getattr(self, part.name)) for part in fields(self) if part.name not in ONLY_HOW}

    def key(self, stack: Stack, inputs: tuple[Tensor, ...], targets: Tensor) -> dict[str, str]:
        """What a checkpoint must match to be continued. What is read from elsewhere while a model is built or a batch
        is drawn shows in how the first member starts."""
        first = [*inputs, targets] if self.batch_size is None else [part[0, 0] for part in (*inputs, targets)]
        start = [stack.flat[0], *(buffer[0] for buffer in stack.buffers.values())]
        return {"members": identity(stack.members), **self.ingredients, "first weights": identity(start),
                "first batch": identity(first)}  # fmt: skip


def stack_folder(checkpoint: Path, members: Sequence[int]) -> Path:
    """Where the checkpoints of a stack lie, within those of its training."""
    return checkpoint / f"stack-{members[0]}-{members[-1]}"


def pick_device(device: str | torch.device) -> torch.device:
    """``"auto"`` is a GPU where there is one that this package can use."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError):
        raise InputError(f"there is no device {str(device)[:80]!r}; use auto, cpu or cuda.") from None
    if chosen.type == "mps":
        raise InputError("Apple's GPU (mps) has no 64-bit numbers, which batches are drawn with; use device='cpu'.")
    if chosen.type == "meta":
        raise InputError("a meta device holds no numbers; use device='cpu'.")
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InputError("no CUDA device is available here; use device='cpu'.")
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise InputError(f"there are {torch.cuda.device_count()} CUDA devices here, and no {str(chosen)!r}.")
    return chosen


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _per_member(name: str, value: PerMember | Sequence[float]) -> PerMember:
    try:
        made = tuple(float(v) for v in value) if isinstance(value, Sequence) else float(value)
    except (TypeError, ValueError):
        made = math.nan
    if not all(map(math.isfinite, made if isinstance(made, tuple) else (made,))):
        raise InputError(f"{name} must be a number, or one for each member; got {value!r:.80}.")
    return made
