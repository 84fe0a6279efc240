"""Train many members of one architecture at once: one call, whatever the device and the size."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from recombine.tasks import Draws, Task
from recombine.training.checkpoint import load_checkpoint, save_checkpoint
from recombine.training.ensemble import Ensemble
from recombine.training.failures import in_short, whole_or_halves
from recombine.training.layout import Layout
from recombine.training.log import Log
from recombine.training.optim import Optimizer, PerMember
from recombine.training.plan import LOOP_STACK, ChunkSize, Plan, make_plan
from recombine.training.progress import Progress, reporter
from recombine.training.record import Record
from recombine.training.settings import Settings, resolve
from recombine.training.stack import Model, Penalty, Stack, cast, initial, positional, stack_members
from recombine.training.stopping import NEVER
from recombine.training.strategies import strategy_for
from recombine.training.strategies.stacked import member_step
from recombine.training.threads import threads

BLOCK_STEPS = 64
BLOCK_BYTES = {"cpu": 16 * 2**20, "cuda": 2**30}
"""Batches are drawn for a block of steps at once, within these bounds: drawing one step costs as many launches."""


def train(
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
    strategy: str = "auto",
    chunk_size: ChunkSize = "auto",
    checkpoint: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    only: int | None = None,
    progress: Progress | None = None,
) -> Ensemble:
    """Train ``members`` members of ``model`` on ``task`` for ``steps`` steps.

    ``model`` is a function that builds an ``nn.Module``, or a module to be drawn anew for each member. ``members`` is a
    number, or the numbers of the members wanted: member 3 is the same alone, among 4 and among 64, because its
    initialisation and its data come from its own seed. ``batch_size=None`` trains on the whole set at every step.
    ``lr``, ``weight_decay``, ``init_scale`` and ``penalty_weight`` may be tuples: entry i belongs to member i. A member
    whose loss falls below ``stop_below`` is left as it is from then on: its loss on the batch, or every ``stop_every``
    steps that on ``stop_on`` fresh examples, which are the same for all and then give its final loss too. One whose
    final loss is above ``fit_below`` is marked as not fitted.

    ``strategy`` and ``chunk_size`` are chosen from the description and the kind of device unless given. With a
    ``checkpoint`` folder a killed training continues where it was, and its stacks can be trained apart: ``only`` names
    the one to train, and a call without it joins what it finds. ``progress(done, total)`` counts member-steps; without
    it a bar is shown on a terminal and nothing elsewhere.
    """
    settings, ids = resolve(
        model, task, members=members, steps=steps, batch_size=batch_size, optimizer=optimizer, seed=seed,
        init_scale=init_scale, penalty=penalty, penalty_weight=penalty_weight, records=records, fit_below=fit_below,
        stop_below=stop_below, stop_on=stop_on, stop_every=stop_every, device=device, dtype=dtype,
        checkpoint=checkpoint, checkpoint_seconds=checkpoint_seconds,
    )  # fmt: skip
    plan = _plan(settings, ids, strategy, chunk_size)
    stacks = plan.stacks(ids) if only is None else (plan.stacks(ids)[only],)
    started = time.monotonic()
    with reporter(progress, total=sum(map(len, stacks)) * steps) as report, threads(plan.threads):
        work = partial(_train_stack, settings, plan, report)
        parts = [part for stack in stacks for part in whole_or_halves(work, list(stack))]
    ensemble = _join(parts)
    ensemble.notes |= {
        "strategy": plan.strategy,
        "stack": plan.stack,
        "reason": plan.reason,
        "stacks": [len(part) for part in parts],
        "device": settings.device.type,
        "seconds": time.monotonic() - started,
    }
    return ensemble


def plan_training(
    model: Model, task: Task, *, strategy: str = "auto", chunk_size: ChunkSize = "auto", **how: Any
) -> tuple[Plan, list[int]]:
    """How `train`, called with the same arguments, will run which members."""
    settings, ids = resolve(model, task, **how)
    return _plan(settings, ids, strategy, chunk_size), ids


def _plan(settings: Settings, ids: list[int], strategy: str, chunk_size: ChunkSize) -> Plan:
    module = initial(settings.model, ids[0], settings.seed, settings.dtype).to(settings.device).train()
    Layout.of(module)
    inputs, targets = _batches(settings, ids[:1], range(1), next(module.parameters()).dtype)
    one = (inputs, targets) if settings.batch_size is None else (tuple(part[0, 0] for part in inputs), targets[0, 0])
    state = settings.optimizer.start(torch.zeros(1, 1))
    plan = make_plan(
        module, settings.objective, one, members=len(ids), steps=settings.steps, state_tensors=len(state),
        device=settings.device, strategy=strategy, chunk_size=chunk_size,
    )  # fmt: skip
    if strategy == "auto" and plan.strategy != "loop" and (reason := _refusal(settings, ids[:2])) is not None:
        reason = f"torch.vmap cannot batch this model: {reason}"
        return replace(plan, strategy="loop", stack=min(len(ids), LOOP_STACK), reason=reason)
    return plan


def _refusal(settings: Settings, ids: list[int]) -> str | None:
    """Why a small stack cannot take its first step, or None where it can."""
    stack = _stack(settings, ids)
    inputs, targets = _batches(settings, ids, range(1), stack.flat.dtype)
    shared = settings.batch_size is None
    x, y = (inputs, targets) if shared else (tuple(part[0] for part in inputs), targets[0])
    try:
        member_step(stack, settings.objective, shared)(
            list(stack.layout.split(stack.flat).values()), list(stack.buffers.values()), x, y, stack.weight
        )
    except (RuntimeError, NotImplementedError, ValueError) as error:
        return in_short(error)
    return None


def _stack(settings: Settings, ids: Sequence[int]) -> Stack:
    return stack_members(
        settings.model, ids, optimizer=settings.optimizer, seed=settings.seed, device=settings.device,
        dtype=settings.dtype, init_scale=settings.init_scale, penalty_weight=settings.penalty_weight,
        stop_below=NEVER if settings.judged_fresh else settings.stop_below,
    )  # fmt: skip


def _batches(
    settings: Settings, ids: Sequence[int], block: range, dtype: torch.dtype
) -> tuple[tuple[Tensor, ...], Tensor]:
    """The batches of a block, (steps × members × batch …), or the whole set once where training is full-batch."""
    task, size = settings.task, settings.batch_size
    if size is None:
        inputs, targets = task.whole(settings.device)
    else:
        inputs, targets = task.batch(Draws.of(ids, block, settings.seed, settings.device), size)
    return tuple(cast(part, dtype) for part in positional(inputs)), cast(targets, dtype)


def _train_stack(settings: Settings, plan: Plan, report: Callable[[int], None], ids: list[int]) -> Ensemble:
    stack = _stack(settings, ids)
    log = Log(stack, settings, looped=plan.strategy == "loop")
    folder = stack_folder(settings.checkpoint, ids) if settings.checkpoint is not None else None
    inputs, targets = _batches(settings, ids, range(1), stack.flat.dtype)
    key = settings.key(stack, inputs, targets) if folder is not None else ""
    step = 0
    saved = load_checkpoint(folder, key, str(settings.device)) if folder is not None else None
    if saved is not None and log.fits(saved):
        step = log.restore(saved)
        report(step * len(ids))
    else:
        log.record(0)
    shared = settings.batch_size is None
    strategy = strategy_for(plan.strategy, stack, settings.objective, shared)
    at_once = BLOCK_STEPS if shared else block_steps(inputs, targets, settings.device)
    saved_at = time.monotonic()
    while step < settings.steps:
        block = range(step, min(step + at_once, log.next_stop(step)))
        if not shared:
            inputs, targets = _batches(settings, ids, block, stack.flat.dtype)
        hyper = settings.optimizer.hyper(block).to(stack.flat)
        losses = strategy.advance(inputs, targets, hyper, block.start)
        step = block.stop
        log.losses(block, losses)
        log.judge(step)
        log.record(step)
        report(len(block) * len(ids))
        if stack.stopped and step < settings.steps:
            report((settings.steps - step) * len(ids))
            step = log.skip_to_end(step)
        if folder is not None and (step == settings.steps or time.monotonic() - saved_at > settings.checkpoint_seconds):
            # Another process that trains the same stack may tidy the folder up meanwhile; then there is no checkpoint.
            with suppress(FileNotFoundError):
                save_checkpoint(folder, key, log.checkpoint(step))
            saved_at = time.monotonic()
    return log.ensemble()


def stack_folder(checkpoint: Path, members: Sequence[int]) -> Path:
    """Where the checkpoints of a stack lie."""
    return checkpoint / f"stack-{members[0]}-{members[-1]}"


def block_steps(inputs: tuple[Tensor, ...], targets: Tensor, device: torch.device) -> int:
    """How many steps are drawn at once, from the batch of one."""
    one_step = sum(t.numel() * t.element_size() for t in (*inputs, targets))
    return max(1, min(BLOCK_STEPS, BLOCK_BYTES.get(device.type, BLOCK_BYTES["cpu"]) // max(one_step, 1)))


def _join(parts: list[Ensemble]) -> Ensemble:
    """The stacks of one training as one ensemble."""
    first = parts[0]
    if len(parts) == 1:
        return first
    import polars as pl

    # By step first, as one stack records them: how members were stacked does not show in a table.
    records = {name: pl.concat([p.records[name] for p in parts]) for name in first.records}
    return Ensemble(
        first.module,
        first.layout,
        torch.cat([p.flat for p in parts]),
        {name: torch.cat([p.buffers[name] for p in parts]) for name in first.buffers},
        tuple(m for p in parts for m in p.members),
        first.looped,
        tuple(d for p in parts for d in p.diverged_at),
        tuple(f for p in parts for f in p.fitted),
        {"step": first.history["step"], "loss": torch.cat([p.history["loss"] for p in parts])},
        {name: table.sort("step", maintain_order=True) for name, table in records.items()},
        {name: [value for p in parts for value in p.notes[name]] for name in first.notes},
    )
