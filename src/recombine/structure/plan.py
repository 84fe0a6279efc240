"""Which masks are trained together, and how: decided from the descriptions and the kind of device, without a clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from recombine.structure.calling import Loss, arguments, precision
from recombine.structure.settings import MaskSettings
from recombine.structure.units import Units
from recombine.tasks import Problems
from recombine.training.plan import (
    BRANCHED_BYTES,
    COMPILE_BYTES,
    LOOP_BYTES_CPU,
    NOT_STACKED,
    ONE_THREAD_BYTES,
    STACK_BYTES,
    ChunkSize,
    Plan,
    activation_bytes,
    check_asked,
    convolves,
    too_few,
)
from recombine.training.stack import Objective, cast
from recombine.training.strategies import can_compile

COPIES = 8
"""Tensors of the size of the masked weights that a step touches: weights, numbers, gradient, Adam's two, soft mask,
masked weights and their gradient."""

LAUNCH_BYTES = {"cuda": 2**28}
"""A step that touches less than this spends its time on launches: the fewer stacks the better."""

LONG = 2000
"""Steps of a search so long that starting another stack is nothing beside what masks in it can share."""


@dataclass(frozen=True, eq=False)
class Job:
    """One mask to be trained: place in the search, model, problems, the other subroutine's problems, settings."""

    place: int
    model: nn.Module
    problems: Problems
    other: Problems | None
    settings: MaskSettings
    units: Units

    @property
    def steps(self) -> int:
        """Every epoch is the number of steps that shows each problem once, rounded up."""
        return self.settings.epochs * -(-len(self.problems.targets) // self.settings.batch_size)

    def batches(self) -> str:
        """Jobs with the same show one model the same batches."""
        return f"{id(self.model)} {id(self.problems)} {self.settings.seed}"

    def key(self) -> str:
        """Jobs with the same key can be one stack: they differ only in numbers, and in the layers they cover."""
        own, choice = self.settings, self.settings.choice
        optimizer = own.optimizer.resolved()
        fixed: list[Any] = [
            own.method.shared, {k: v for k, v in optimizer.items() if k not in ("lr", "weight_decay")}, own.epochs,
            own.batch_size, own.stop_undecided, own.target_density is None, own.adversary > 0, own.ceiling, self.steps,
            [choice.unit, choice.heads, choice.blocks, choice.columns], str(self.model),
            [[name, str(p.dtype), list(p.shape)] for name, p in self.model.named_parameters()],
            _signature(self.problems), None if self.other is None else _signature(self.other),
        ]  # fmt: skip
        return json.dumps(fixed)


def groups(jobs: Sequence[Job], loss: Loss, device: torch.device) -> list[list[Job]]:
    """Jobs that are stacked if any are, in the order in which they were given.

    Masks of different layers can be one stack, in which each holds the layers that it does not cover at one. That pays
    only where a step is mostly launches: on their own, masks of late layers share what comes before, if they are of one
    model and see the same batches. So in a long search on a GPU only such masks are together."""
    found: list[list[Job]] = []
    for alike in _sorted(jobs, Job.key):
        layers = _sorted(alike, lambda job: json.dumps([part.parameter for part in job.units.parts]))
        launches = LAUNCH_BYTES.get(device.type, 0)
        if len(layers) == 1 or alike[0].settings.method.ranks or not launches:
            found += layers
        elif len(alike) * max(step_bytes(group[0], loss, device) for group in layers) <= launches:
            found.append(alike)
        elif alike[0].steps >= LONG:
            found += [sharing for group in layers for sharing in _sorted(group, Job.batches)]
        else:
            found += layers
    return found


def _sorted(jobs: Sequence[Job], key: Callable[[Job], str]) -> list[list[Job]]:
    found: dict[str, list[Job]] = {}
    for job in jobs:
        found.setdefault(key(job), []).append(job)
    return list(found.values())


def plan_group(jobs: Sequence[Job], loss: Loss, device: torch.device, strategy: str, chunk_size: ChunkSize) -> Plan:
    """Strategy and stack of one group. What does not pay stacked (see ``training/plan.py``) is trained one by one."""
    check_asked(strategy, chunk_size, device)
    reason = "asked for" if strategy != "auto" else _looped(jobs, device)
    if strategy == "loop" or (strategy == "auto" and reason):
        return Plan("loop", 1, reason)
    touched = step_bytes(jobs[0], loss, device)
    if strategy == "auto":
        strategy, reason = _choose(jobs[0].model, touched, len(jobs) * jobs[0].steps, device)
    if strategy == "loop":
        return Plan(strategy, 1, reason)
    most = max(1, STACK_BYTES.get(device.type, STACK_BYTES["cpu"]) // touched)
    stack = min(len(jobs), most if chunk_size == "auto" else int(chunk_size))
    if chunk_size == "auto":
        # As many stacks, but of equal size.
        stack = -(-len(jobs) // -(-len(jobs) // stack))
        if strategy == "captured" and too_few(jobs[0].model, touched, stack):
            stack = 1
    one_thread = device.type == "cpu" and touched * stack < ONE_THREAD_BYTES
    return Plan(strategy, stack, reason, 1 if one_thread else None)


def _looped(jobs: Sequence[Job], device: torch.device) -> str:
    """Why these masks are trained one by one whatever a step touches; empty where that has to be looked at."""
    parts = list(jobs[0].model.modules())
    if any(isinstance(part, NOT_STACKED) for part in parts):
        return "recurrent layers of torch.nn cannot be traced"
    if device.type != "cuda" and len(jobs) == 1:
        return "a single mask"
    if device.type != "cuda" and convolves(jobs[0].model):
        return "grouped convolutions are slower than a loop on a CPU"
    return ""


def _choose(model: nn.Module, touched: int, mask_steps: int, device: torch.device) -> tuple[str, str]:
    if device.type == "cuda":
        if touched * mask_steps > COMPILE_BYTES and can_compile():
            if convolves(model) and touched > BRANCHED_BYTES:
                return "branches", "convolutions of this size fill a GPU mask by mask, long enough to pay for compiling"
            return "compiled", "long enough to pay for compiling"
        return "captured", "one launch per step"
    if touched > LOOP_BYTES_CPU:
        return "loop", "one mask fills the caches"
    return "stacked", "many small masks per step"


def step_bytes(job: Job, loss: Loss, device: torch.device) -> int:
    """Bytes that one step of one mask touches."""
    size, dtype = job.settings.batch_size, precision(job.model)
    # Copies: a part of a set would count with the storage of the whole, and a layer may work in place.
    inputs = tuple(cast(part[:size].clone().to(device), dtype) for part in job.problems.parts)
    targets = job.problems.targets[:size].to(device)
    kept = activation_bytes(_Called(job.model, job.problems.inputs), Objective(_Lossy(loss)), inputs, targets)
    data = sum(part.numel() * part.element_size() for part in (*inputs, targets))
    passes = 2 if job.other is not None else 1
    return COPIES * 4 * job.units.weights + passes * (2 * kept + data)


class _Called(nn.Module):
    """A model that is called by name, called by position."""

    def __init__(self, model: nn.Module, like: Any) -> None:
        super().__init__()
        self.model, self.like = model, like

    def forward(self, *inputs: Tensor) -> Any:
        positional, named = arguments(self.like, inputs)
        return self.model(*positional, **named)


@dataclass(frozen=True)
class _Lossy:
    """As much of a task as the planner asks for."""

    losses: Loss


def _signature(problems: Problems) -> list[Any]:
    names = list(problems.inputs) if isinstance(problems.inputs, dict) else None
    parts = [*problems.parts, problems.targets]
    return [names, [[str(part.dtype), list(part.shape[1:])] for part in parts]]
