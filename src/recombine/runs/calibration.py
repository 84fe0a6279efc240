"""How long trainings take on this device, from a few timed steps of each plan.

A training takes start + steps × step + records × measure for each of its stacks. Steps are timed after the first, which
also starts everything up, and each measure once on the untrained members. What there was no time to try is scaled from
what was: steps by the bytes they touch, the rest as the median.
"""

from __future__ import annotations

import json
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from recombine.runs._provenance import peak_memory
from recombine.runs.run import Run, RunPlan
from recombine.runs.training import TrainingRun

if TYPE_CHECKING:
    import polars as pl

ENOUGH = 0.4
"""Seconds of steps after which a plan is timed well enough."""
MARKS = (0, 1, 3, 8, 20, 50, 120, 300)
"""Steps after which the clock is read."""

Basis = Literal["timed", "scaled", "recorded", "unknown"]


@dataclass(frozen=True)
class Estimate:
    """Seconds of a whole run on one worker, bytes of memory, and what they rest on."""

    seconds: float | None = None
    memory: int | None = None
    basis: Basis = "unknown"


@dataclass(frozen=True)
class Timed:
    """One stack: seconds to start, a step, and each measure by name; the bytes that a GPU needed; and its plan."""

    start: float
    step: float
    measures: dict[str, float]
    memory: int | None
    strategy: str | None
    model: str
    touched: int
    """Bytes that a step of the whole stack touches."""


@dataclass
class Bench:
    """Times plans, each once, until its time is up."""

    device: str
    seconds: float
    timed: dict[str, Timed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.until = time.monotonic() + self.seconds
        self.base = 0 if self.device.startswith("cuda") else peak_memory("cpu") or 0

    def time(self, run: Run, plan: RunPlan) -> None:
        """Time the plan of a training, unless it was timed already or time is up."""
        key = _key(run, plan)
        if not isinstance(run, TrainingRun) or key in self.timed or time.monotonic() > self.until:
            return
        from recombine.training import one_thread_each

        # What is wrong with a run is said when it is computed.
        with one_thread_each() if self.device == "cpu" else nullcontext(), suppress(Exception):
            self.timed[key] = _time(run, plan, self.device)

    def estimate(self, run: Run, plan: RunPlan) -> Estimate | None:
        """What a training would take; None for another kind of run."""
        if not isinstance(run, TrainingRun) or plan.touched is None or plan.stack is None:
            return None
        # Members of a loop are stepped one after the other; of a stack, all are held at once.
        memory = self.base + plan.touched * (1 if plan.strategy == "loop" else plan.stack)
        records = {measured.table: len(measured.record().steps(run.steps)) for measured in run.measured}
        timed = self.timed.get(_key(run, plan))
        if timed is not None:
            measuring = sum(count * timed.measures[name] for name, count in records.items())
            seconds = plan.units * (timed.start + run.steps * timed.step + measuring)
            return Estimate(seconds, timed.memory or memory, "timed")
        like = [t for t in self.timed.values() if (t.strategy, t.model) == (plan.strategy, run.model.kind)]
        like = like or [t for t in self.timed.values() if t.strategy == plan.strategy]
        if not like:
            return Estimate(None, memory)
        step = median(t.step / t.touched for t in like) * plan.touched * plan.stack
        measuring = sum(count * self._measure(name) for name, count in records.items())
        seconds = plan.units * (median(t.start for t in like) + run.steps * step + measuring)
        return Estimate(seconds, memory, "scaled")

    def _measure(self, name: str) -> float:
        taken = [t.measures[name] for t in self.timed.values() if name in t.measures]
        return median(taken) if taken else 0.0


class _Enough(Exception):
    """The plan has been timed."""


def _time(run: TrainingRun, plan: RunPlan, device: str) -> Timed:
    from recombine.training import Ensemble, Record, train

    members = list(range(run.members)) if isinstance(run.members, int) else list(run.members)
    together = members[: plan.stack]
    measures: dict[str, float] = {}
    ticks: dict[int, float] = {}

    def mark(ensemble: Ensemble, task: Any) -> pl.DataFrame:
        """Called before the first step, where each measure is timed, and then only so that there is a clock to read."""
        import polars as pl

        if not measures:
            for measured in run.measured:
                started = _now(device)
                measured.record().measure(ensemble, task)
                measures[measured.table] = _now(device) - started
        return pl.DataFrame({"member": []}, {"member": pl.Int64})

    def tell(done: int, total: int) -> None:
        ticks[done // len(together)] = _now(device)
        if len(ticks) > 1 and _now(device) - min(ticks.values()) > ENOUGH:
            raise _Enough

    if device.startswith("cuda"):
        import torch

        torch.cuda.reset_peak_memory_stats()
    steps = max(2, min(run.steps, MARKS[-1]))
    marks = tuple(step for step in MARKS if step <= steps)
    # Compiling would take longer than all the rest; captured steps take about half as long again.
    strategy = "captured" if plan.strategy == "compiled" else plan.strategy
    short = run.replace(members=tuple(together), steps=steps, stop_below=None)
    started = _now(device)
    with suppress(_Enough):
        train(
            **short.how(), device=device, strategy=strategy or "auto", chunk_size=plan.stack or "auto",
            records=[Record("mark", mark, marks)], progress=tell,
        )  # fmt: skip
    first, last = min(ticks), max(ticks)
    step = max((ticks[last] - ticks[first]) / (last - first), 1e-7)
    start = max(ticks[first] - started - sum(measures.values()) - first * step, 0.0)
    memory = peak_memory(device) if device.startswith("cuda") else None
    touched = max(1, (plan.touched or 1) * len(together))
    return Timed(start, step, measures, memory, plan.strategy, run.model.kind, touched)


def _now(device: str) -> float:
    if device.startswith("cuda"):
        import torch

        torch.cuda.synchronize()
    return time.perf_counter()


def _key(run: Run, plan: RunPlan) -> str:
    """Trainings with the same key take as long a step: they differ in steps, seed and numbers alone."""
    described = run.describe()
    parts = {name: described.get(name) for name in ("task", "model", "batch_size", "penalty", "measured")}
    return json.dumps(
        [parts, type(getattr(run, "optimizer", None)).__name__, plan.strategy, plan.stack], sort_keys=True
    )
