"""The training of one stack of masks, from its first step to its hard masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from recombine.structure.calling import Loss
from recombine.structure.masks import Mask
from recombine.structure.plan import Job
from recombine.structure.stack import MaskStack
from recombine.training.engine import block_steps


@dataclass
class History:
    """What is recorded of one mask after every epoch."""

    beta: list[float] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    density: list[float] = field(default_factory=list)
    """The share of maskable weights that the soft mask keeps."""
    undecided: list[float] = field(default_factory=list)
    stopped_at: int | None = None
    """The epoch after which the mask was left as it was, if it was."""


def learn(
    jobs: Sequence[Job], strategy: str, loss: Loss, device: torch.device, report: Callable[[int], None]
) -> list[tuple[Mask, History]]:
    """Train the masks of ``jobs`` together."""
    masks = MaskStack(jobs, loss, device)
    runner = masks.strategy(strategy)
    steps, epochs, stop = jobs[0].steps, jobs[0].settings.epochs, jobs[0].settings.stop_undecided
    length, histories = steps // epochs, [History() for _ in jobs]
    records: list[Tensor] = []
    stopped: list[int | None] = [None] * len(jobs)
    at_once = min(length, block_steps(*masks.block(range(1)), device))
    for epoch in range(epochs):
        losses = []
        for start in range(epoch * length, (epoch + 1) * length, at_once):
            block = range(start, min(start + at_once, (epoch + 1) * length))
            inputs, targets = masks.block(block)
            losses.append(
                runner.advance(inputs, targets, jobs[0].settings.optimizer.hyper(block).to(masks.betas), start)
            )
            report(len(block) * len(jobs))
        state = masks.state((epoch + 1) * length - 1)
        records.append(torch.cat([masks.betas[epoch * length][None], torch.cat(losses).mean(0)[None], state]))
        if stop is not None:
            decided = (state[1] <= stop).tolist()
            stopped = [epoch + 1 if done and at is None else at for done, at in zip(decided, stopped, strict=True)]
            # A learning rate of zero is how a mask stands still while the others go on.
            masks.stack.lr.mul_(torch.tensor([[at is None] for at in stopped], device=device))
            if None not in stopped:
                report((epochs - epoch - 1) * length * len(jobs))
                break
    for i, (history, table) in enumerate(zip(histories, torch.stack(records).double().cpu().unbind(-1), strict=True)):
        history.beta, history.loss, history.density, history.undecided = table.T.tolist()
        history.stopped_at = stopped[i]
    return list(zip(masks.hard(), histories, strict=True))
