"""Train many members of one architecture at once: one call, whatever the device and the size."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial, wraps
from inspect import signature
from typing import ParamSpec, TypeVar

import torch
from torch import Tensor

from recombine.tasks import Draws, FixedTask
from recombine.training.checkpoint import load_checkpoint, save_checkpoint
from recombine.training.ensemble import Ensemble
from recombine.training.failures import in_short, whole_or_halves
from recombine.training.layout import Layout
from recombine.training.log import Log
from recombine.training.plan import LOOP_STACK, ONE_BY_ONE, Plan, make_plan
from recombine.training.precision import check_precision, rounding
from recombine.training.progress import reporter
from recombine.training.settings import Training
from recombine.training.stack import Stack, cast, positional, rules_missing, stack_members
from recombine.training.stopping import NEVER
from recombine.training.strategies import strategy_for
from recombine.training.strategies.fused import asked_for, can_fuse, program_of
from recombine.training.strategies.fused_program import Program
from recombine.training.strategies.stacked import member_step
from recombine.training.threads import threads
from recombine.training.trial import first_member, try_member

P = ParamSpec("P")
Answer = TypeVar("Answer")

NO_RULE = re.compile(r"performance drop because .* batching rule for ([\w:]+)")
BLOCK_STEPS = 64
FUSED_STEPS = 4096
BLOCK_BYTES, BLOCK_SHARE = 16 * 2**20, 32
"""Batches are drawn for a block of steps at once, within these bounds (a GPU's are such a part of its memory): drawing
one step costs as many launches."""


def describing(described: Callable[P, Training]) -> Callable[[Callable[[Training], Answer]], Callable[P, Answer]]:
    """A function of a training, to be called with the arguments that describe one."""

    def decorate(work: Callable[[Training], Answer]) -> Callable[P, Answer]:
        @wraps(work)
        def call(*given: P.args, **named: P.kwargs) -> Answer:
            return work(described(*given, **named))

        shown = signature(described).replace(return_annotation=signature(work).return_annotation)
        call.__signature__ = shown  # type: ignore[attr-defined]
        return call

    return decorate


@describing(Training)
def train(training: Training) -> Ensemble:
    """Train ``members`` members of ``model`` on ``task`` for ``steps`` steps.

    ``model`` is a function that builds an ``nn.Module``. A module itself is trained on from its weights, which is
    fine-tuning: with several members ``fresh=False`` says so, and ``fresh=True`` draws each of them anew instead.
    ``members`` is a number, or the numbers of the members wanted: member 3 has the same initialisation and data alone,
    among 4 and among 64, which come from its own seed. ``batch_size=None`` trains on the whole set at every step.
    ``lr``, ``weight_decay``, ``init_scale`` and ``penalty_weight`` may be tuples: entry i belongs to member i. A member
    whose loss falls below ``stop_below`` is left as it is from then on: its loss on the batch, or every ``stop_every``
    steps that on ``stop_on`` fresh examples, which are the same for all and then give its final loss too; of a
    `FixedTask`, unless said otherwise, that on its training rows (up to 1024 of them) once in an epoch. One whose
    final loss is above ``fit_below`` is marked as not fitted; without ``stop_below`` it is trained on to the end, is
    judged on the same examples, and ``notes["fitted_at"]`` has the first step at which it was found fitted.

    ``epochs`` may be given for ``steps`` where the task has rows. ``optimizer`` is ``rc.Adam(1e-3)`` and the like,
    ``"adam"``, or ``torch.optim.Adam``, with keywords by ``functools.partial``. ``validation=rc.Validation(…)`` stops
    members early and keeps the best of each.

    ``precision`` is ``"float32"``; for those who accept it, on a GPU, ``"tf32"`` or ``"bfloat16"``, which round the
    factors of matrix products and convolutions (`recombine.training.precision`). What is measured is not rounded.

    ``strategy`` and ``chunk_size`` are chosen from the description and the kind of device unless given. With a
    ``checkpoint`` folder a killed training continues where it was, and its stacks can be trained apart: ``only`` names
    the one to train, and a call without it joins what it finds. ``progress(done, total)`` counts member-steps (one
    that takes three arguments, as for `dissect`, is told what is counted as well); without it a bar is shown on a
    terminal and in a notebook where it takes more than a few seconds, and nothing elsewhere.

    Examples:
        >>> import recombine as rc
        >>> import torch
        >>> space = rc.FactorSpace.of(shape=2, colour=3)
        >>> seen = rc.Explicit(space, [(0, 0), (0, 1), (1, 1), (1, 2)])
        >>> codes = torch.as_tensor(space.sample(120, seed=0))
        >>> pictures = torch.nn.functional.one_hot(codes[:, 0], 2).float()
        >>> task = rc.FixedTask(space, seen, ~seen, pictures, codes[:, 0], codes, loss=torch.nn.CrossEntropyLoss())
        >>> ensemble = rc.train(rc.Perceptron(widths=(2, 8, 2)), task, members=4, steps=40, optimizer=rc.Adam(0.03))
        >>> ensemble(pictures[:5]).shape
        torch.Size([4, 5, 2])
    """
    with rules_missing():
        plan = _plan(training)
    stacks = plan.stacks(training.ids)
    stacks = stacks if training.only is None else (stacks[training.only],)
    started = time.monotonic()
    total = sum(map(len, stacks)) * training.steps
    with reporter(training.progress, total) as report, threads(plan.threads), rules_missing():
        work = partial(_train_stack, training, plan, report)
        parts = [part for stack in stacks for part in whole_or_halves(work, list(stack))]
    ensemble = _join(parts)
    ensemble.notes |= {
        "strategy": plan.strategy,
        "stack": plan.stack,
        "reason": plan.reason,
        "stacks": [len(part) for part in parts],
        "device": training.on.type,
        "seconds": time.monotonic() - started,
    }
    return ensemble


@describing(Training)
def plan_training(training: Training) -> tuple[Plan, list[int]]:
    """How `train`, called with the same arguments, will run which members."""
    return _plan(training), training.ids


def _plan(training: Training) -> Plan:
    ids = training.ids
    module = first_member(training).to(training.on).train()
    Layout.of(module)
    check_precision(training.precision, training.on, next(module.parameters()).dtype)
    inputs, targets = _batches(training, ids[:1], range(1), next(module.parameters()).dtype)
    one = (inputs, targets) if training.batch_size is None else (tuple(part[0, 0] for part in inputs), targets[0, 0])
    try_member(training, module, one)
    state = training.optimizer.start(torch.zeros(1, 1))
    with rounding(training.precision):
        program = program_of(module, training.objective, training.optimizer, one) if can_fuse(training.on) else ""
    plan = make_plan(
        module, training.objective, one, members=len(ids), steps=training.steps, state_tensors=len(state),
        device=training.on, strategy=training.strategy, chunk_size=training.chunk_size,
        # in single precision: that is what the matrix units are for
        fusible=isinstance(program, Program) and next(module.parameters()).dtype == torch.float32,
    )  # fmt: skip
    if training.strategy == "fused":
        asked_for(program)
    elif plan.strategy == "fused" and (reason := _misfit(training, ids[:2])) is not None:
        plan = replace(plan, strategy="captured", reason=f"no launch for many steps on this GPU: {reason}")
    stacked = training.strategy == "auto" and plan.strategy not in ONE_BY_ONE
    if stacked and (reason := _refusal(training, ids[:2])) is not None:
        reason = f"torch.vmap cannot batch this model: {reason}"
        return replace(plan, strategy="loop", stack=min(len(ids), LOOP_STACK), reason=reason)
    return plan


def _misfit(training: Training, ids: list[int]) -> str | None:
    """Why the program for all steps cannot take the first of a small stack, as on a small GPU; None where it can."""
    stack = _stack(training, ids)
    inputs, targets = _batches(training, ids, range(1), stack.flat.dtype, _by_row(training))
    fused = strategy_for("fused", stack, training.objective, training.batch_size is None)
    try:
        with rounding(training.precision):
            fused.advance(inputs, targets, training.optimizer.hyper(range(1)).to(stack.flat), 0).cpu()
    except Exception as error:  # whatever the compiler or the driver say
        return in_short(error)
    return None


def _by_row(training: Training) -> bool:
    """Whether a launch can read the rows of a fixed set itself."""
    return training.batch_size is not None and type(training.task).batch is FixedTask.batch


def _refusal(training: Training, ids: list[int]) -> str | None:
    """Why a small stack cannot take its first step, or on a CPU only member by member; None where it can."""
    stack = _stack(training, ids)
    inputs, targets = _batches(training, ids, range(1), stack.flat.dtype)
    shared = training.batch_size is None
    x, y = (inputs, targets) if shared else (tuple(part[0] for part in inputs), targets[0])
    step = member_step(stack, training.objective, shared)
    parts = list(stack.layout.split(stack.flat).values()), list(stack.buffers.values()), x, y, stack.weight
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            with rounding(training.precision):
                step(*parts)
        except (RuntimeError, NotImplementedError, ValueError) as error:
            return in_short(error)
    slow = [found[1] for warning in told if (found := NO_RULE.search(str(warning.message)))]
    return f"it has no rule for {slow[0]}" if slow and not stack.flat.is_cuda else None


def _stack(training: Training, ids: Sequence[int]) -> Stack:
    return stack_members(
        training.model, ids, optimizer=training.optimizer, seed=training.seed, device=training.on,
        dtype=training.dtype, init_scale=training.init_scale, penalty_weight=training.penalty_weight,
        stop_below=NEVER if training.judged_apart else training.stop_below, fresh=training.draws_weights,
    )  # fmt: skip


def _batches(
    training: Training, ids: Sequence[int] | Tensor, block: range, dtype: torch.dtype, by_row: bool = False
) -> tuple[tuple[Tensor, ...], Tensor]:
    """The batches of a block, (steps × members × batch …); or the whole set once, where training is full-batch or
    batches are given as rows of it."""
    task, size = training.task, training.batch_size
    if size is None:
        inputs, targets = task.whole(training.on)
    else:
        draws = Draws.of(ids, block, training.seed, training.on)
        inputs, targets = task.by_row(draws, size) if by_row else task.batch(draws, size)  # type: ignore[attr-defined]
    return tuple(cast(part, dtype) for part in positional(inputs)), cast(targets, dtype)


def _train_stack(training: Training, plan: Plan, report: Callable[[int], None], ids: list[int]) -> Ensemble:
    stack = _stack(training, ids)
    log = Log(stack, training, looped=plan.strategy in ONE_BY_ONE)
    folder = training.folder(ids)
    inputs, targets = _batches(training, ids, range(1), stack.flat.dtype)
    key = training.key(stack, inputs, targets) if folder is not None else {}
    step = 0
    saved = load_checkpoint(folder, key, str(training.on)) if folder is not None else None
    if saved is not None and log.fits(saved):
        step = log.restore(saved)
        report(step * len(ids))
    else:
        log.record(0)
    shared = training.batch_size is None
    strategy = strategy_for(plan.strategy, stack, training.objective, shared)
    most = FUSED_STEPS if plan.strategy == "fused" else BLOCK_STEPS
    by_row = plan.strategy == "fused" and _by_row(training)
    if by_row:
        (_, rows), _ = _batches(training, ids, range(1), stack.flat.dtype, by_row)
        at_once = block_steps((rows,) * 3, rows, training.on, most)  # shuffling holds them several times over
    else:
        at_once = most if shared else block_steps(inputs, targets, training.on, most)
    numbers = torch.tensor(ids, device=training.on)
    saved_at = time.monotonic()
    while step < training.steps:
        block = range(step, min(step + at_once, log.next_stop(step)))
        if not shared:
            inputs, targets = _batches(training, numbers, block, stack.flat.dtype, by_row)
        hyper = training.optimizer.hyper(block).to(stack.flat)
        with rounding(training.precision):
            losses = strategy.advance(inputs, targets, hyper, block.start)
        step = block.stop
        log.losses(block, losses)
        log.judge(step)
        log.record(step)
        report(len(block) * len(ids))
        if stack.stopped and step < training.steps:
            report((training.steps - step) * len(ids))
            step = log.skip_to_end(step)
        if folder is not None and (step == training.steps or time.monotonic() - saved_at > training.checkpoint_seconds):
            # Another process that trains the same stack may tidy the folder up meanwhile; then there is no checkpoint.
            with suppress(FileNotFoundError):
                save_checkpoint(folder, key, log.checkpoint(step))
            saved_at = time.monotonic()
    return log.ensemble()


def block_steps(inputs: tuple[Tensor, ...], targets: Tensor, device: torch.device, most: int = BLOCK_STEPS) -> int:
    """How many steps are drawn at once, from the batch of one."""
    one_step = sum(t.numel() * t.element_size() for t in (*inputs, targets))
    gpu = device.type == "cuda"
    room = torch.cuda.get_device_properties(device).total_memory // BLOCK_SHARE if gpu else BLOCK_BYTES
    return max(1, min(most, room // max(one_step, 1)))


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
