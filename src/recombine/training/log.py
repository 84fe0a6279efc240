"""What is kept along the training of a stack."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from recombine.tasks import PerMember, Task
from recombine.training.checkpoint import Checkpoint
from recombine.training.ensemble import Ensemble
from recombine.training.settings import Training
from recombine.training.stack import Stack
from recombine.training.stopping import Stopping, fresh_losses
from recombine.training.validation import Watching

if TYPE_CHECKING:
    import polars as pl

HISTORY_BINS = 1024
HISTORY_NUMBERS = 2**24
"""Of more than 16 384 members fewer bins are kept: so many numbers in all."""
TAIL = 50
"""A member's final loss is its mean over the last 1/TAIL of training."""
TOLD = 100
"""How often members that are not stopped are judged, to tell when they had learnt enough."""


class Log:
    """Binned losses, first divergence, recorded measures."""

    def __init__(self, stack: Stack, training: Training, looped: bool) -> None:
        self.stack, self.training, self.looped = stack, training, looped
        # A module of its own: measuring puts it into evaluation mode, training goes on in training mode.
        self.module = copy.deepcopy(stack.module).eval()
        self.bins = max(1, min(training.steps, HISTORY_BINS, HISTORY_NUMBERS // len(training.ids)))
        # On a GPU they are added up there: small networks take more steps per second than can be fetched.
        self.device = stack.flat.device if stack.flat.is_cuda else torch.device("cpu")
        self.sums = torch.zeros(len(stack), self.bins, dtype=torch.float64, device=self.device)
        self.counts = torch.zeros(self.bins, dtype=torch.float64)
        self.diverged = torch.full((len(stack),), -1, dtype=torch.int64, device=self.device)
        self.tables: dict[str, list[pl.DataFrame]] = {record.name: [] for record in training.records}
        self.due = {record.name: record.steps(training.steps) for record in training.records}
        self.stops = sorted(set().union(*self.due.values(), {training.steps}))
        self.stopping: Stopping | None = None
        held, every = training.stop_below is not None, training.judged_every
        bound = training.stop_below if held else training.fit_below
        if bound is not None and training.judged_on is not None:
            losses = fresh_losses(training.task, training.judged_on, training.seed, stack.flat)
            every = every if held else max(every, training.steps // TOLD)
            self.stopping = Stopping(stack, losses, bound, every, held)
        watched = training.validation
        self.watching = None if watched is None else Watching(stack, training.task, watched, training.seed)

    def next_stop(self, step: int) -> int:
        judges = [judge for judge in (self.stopping, self.watching) if judge is not None]
        return min([stop for stop in self.stops if stop > step] + [judge.due(step) for judge in judges])

    def judge(self, step: int) -> None:
        """Stop the members that have learnt enough, where fresh examples or validation say so at this step."""
        for judge in (self.stopping, self.watching):
            if judge is not None and step in (judge.due(step - 1), self.training.steps):
                judge.judge(self._ensemble(), step)

    def losses(self, block: range, losses: Tensor) -> None:
        values = losses.detach().double().to(self.device).T
        bins = torch.arange(block.start, block.stop) * self.bins // self.training.steps
        if values.is_cuda:  # there, ``index_add_`` adds in any order
            found, lengths = bins.unique_consecutive(return_counts=True)
            parts = torch.segment_reduce(values.T, "sum", lengths=lengths.to(self.device), axis=0, unsafe=True)
            self.sums[:, int(found[0]) : int(found[-1]) + 1] += parts.T
            torch.cuda.synchronize(self.device)  # what is reported is done
        else:
            self.sums.index_add_(1, bins, values)
        self.counts.index_add_(0, bins, torch.ones(len(block), dtype=torch.float64))
        bad = ~torch.isfinite(values)
        first = torch.where(bad.any(1), block.start + bad.int().argmax(1), -1)
        self.diverged = torch.where(self.diverged < 0, first, self.diverged)

    def skip_to_end(self, step: int) -> int:
        """All members have stopped: what is left of training would change nothing."""
        for start in range(step, self.training.steps, HISTORY_BINS):
            block = range(start, min(start + HISTORY_BINS, self.training.steps))
            self.losses(block, self.stack.held.expand(len(block), -1))
        for stop in [stop for stop in self.stops if stop > step]:
            self.record(stop)
        return self.training.steps

    def record(self, step: int) -> None:
        for record in self.training.records:
            if step in self.due[record.name]:
                import polars as pl

                asked = shared_out(self._ensemble(), self.training.task)
                table = pl.concat([record.measure(ensemble, task) for ensemble, task in asked])
                self.tables[record.name].append(table.with_columns(pl.lit(step, pl.Int64).alias("step")))

    def checkpoint(self, step: int) -> Checkpoint:
        log = {"log.sums": self.sums, "log.counts": self.counts, "log.diverged": self.diverged}
        log |= self.stopping.tensors() if self.stopping is not None else {}
        log |= self.watching.tensors() if self.watching is not None else {}
        return Checkpoint(step, self.stack.tensors() | log, self._joined())

    def fits(self, saved: Checkpoint) -> bool:
        """Whether a checkpoint holds all that is restored, in its shape; one that a damaged disk changed does not."""
        wanted = self.checkpoint(0).tensors
        return wanted.keys() == saved.tensors.keys() and all(
            tensor.shape == saved.tensors[name].shape for name, tensor in wanted.items()
        )

    def restore(self, saved: Checkpoint) -> int:
        for name, tensor in self.stack.tensors().items():
            tensor.copy_(saved.tensors[name])
        self.sums, self.counts = saved.tensors["log.sums"].to(self.device), saved.tensors["log.counts"].cpu()
        self.diverged = saved.tensors["log.diverged"].to(self.device)
        if self.stopping is not None:
            self.stopping.loss, self.stopping.at = (saved.tensors[name].cpu() for name in self.stopping.tensors())
        if self.watching is not None:
            self.watching.restore(saved.tensors)
        for name, table in saved.records.items():
            self.tables[name] = [table]
        return saved.step

    def _joined(self) -> dict[str, pl.DataFrame]:
        if not self.tables:
            return {}
        import polars as pl

        return {name: pl.concat(tables) for name, tables in self.tables.items() if tables}

    def _ensemble(self) -> Ensemble:
        stack = self.stack
        return Ensemble(self.module, stack.layout, stack.flat, stack.buffers, stack.members, self.looped)

    def ensemble(self) -> Ensemble:
        if self.watching is not None:
            self.watching.finish()
        ensemble = self._ensemble()
        losses = self.sums.cpu() / self.counts.clamp(min=1)
        tail = max(1, self.bins // TAIL)
        final = losses[:, -tail:].mean(1) if self.training.steps else losses.new_full((len(self.stack),), torch.nan)
        if self.stopping is not None and self.training.steps:
            final = self.stopping.loss
        limit = self.training.fit_below if self.training.steps else None
        ensemble.diverged_at = tuple(d if d >= 0 else None for d in self.diverged.tolist())
        ensemble.fitted = tuple(
            None if limit is None else bool(f <= limit) and d is None
            for f, d in zip(final.tolist(), ensemble.diverged_at, strict=True)
        )
        ends = (torch.arange(1, self.bins + 1) * self.training.steps + self.bins - 1) // self.bins
        ensemble.history = {"step": ends, "loss": losses}
        ensemble.records = self._joined()
        ensemble.notes = {"final_loss": [f if f == f and abs(f) != float("inf") else None for f in final.tolist()]}
        if self.stopping is not None:
            name = "stopped_at" if self.stopping.held else "fitted_at"
            ensemble.notes[name] = [at if at >= 0 else None for at in self.stopping.at.tolist()]
        elif limit is not None and self.training.batch_size is None:
            below = (losses <= limit).int()
            at = torch.where(below.any(1), ends[below.argmax(1)], -1)
            ensemble.notes["fitted_at"] = [step if step >= 0 else None for step in at.tolist()]
        if self.watching is not None:
            ensemble.notes |= self.watching.notes()
        return ensemble


def shared_out(ensemble: Ensemble, task: Task) -> list[tuple[Ensemble, Task]]:
    """The members that are asked the same: all of them, or each alone where each has a task of its own."""
    if not isinstance(task, PerMember):
        return [(ensemble, task)]
    return [(ensemble.select([member]), task.of(member)) for member in ensemble.members]
