"""Dense networks on symbolic tasks: one hidden layer from rich to lazy, and one to four narrow layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.kernels import Kernel, ReLU, nngp, problems
from recombine.models import Dense
from recombine.runs import Run
from recombine.runs.training import Measured, TrainingRun
from recombine.studies.kernel_theory import sets
from recombine.studies.study import Scale
from recombine.tasks import SymbolicTask
from recombine.training import SGD, Adam


@dataclass(frozen=True)
class Size:
    """What the scales differ in."""

    width: int
    pair_width: int
    """Width on transitive equivalence, where the paper takes 10 000."""
    context_width: int
    scales: tuple[float, ...]
    seeds: int
    lazy_seeds: int
    """Networks at σ = 1, whose random start adds noise to every figure."""
    tiny_seeds: int
    """The same on sets of two or three pairs, where the start weighs most."""
    steps: int
    logistic_steps: int
    left_out: dict[str, tuple[int, ...]]
    """Which of CD-1, CD-2 and CD-3, by loss."""
    deep_tasks: tuple[str, ...]
    depths: tuple[int, ...]
    deep_lr: float
    deep_steps: int


SOME = {"squared error": (3,), "logistic": (3, 1)}

SIZES: dict[Scale, Size] = {
    "smoke": Size(
        width=64, pair_width=64, context_width=64, scales=(1.0, 0.1, 1e-3), seeds=2, lazy_seeds=3, tiny_seeds=8,
        steps=400, logistic_steps=200, left_out=SOME, deep_tasks=("equivalence",), depths=(1, 2),
        deep_lr=3e-3, deep_steps=200,
    ),
    "quick": Size(
        width=500, pair_width=1000, context_width=300, scales=(1.0, 0.1, 0.01, 1e-6), seeds=3, lazy_seeds=12,
        tiny_seeds=160, steps=4000, logistic_steps=1000, left_out=SOME, deep_tasks=("equivalence", "interpolation"),
        depths=(1, 2, 3, 4), deep_lr=1e-3, deep_steps=4000,
    ),
    "paper": Size(
        width=1000, pair_width=10_000, context_width=1000, scales=(1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6), seeds=6,
        lazy_seeds=24, tiny_seeds=200, steps=20_000, logistic_steps=5000, left_out=dict.fromkeys(SOME, (3, 2, 1)),
        deep_tasks=("equivalence", "interpolation", "cd3"), depths=(1, 2, 3, 4), deep_lr=1e-4, deep_steps=40_000,
    ),
}  # fmt: skip

FIT = {"squared error": 1e-3, "logistic": 0.02}
TINY_STEPS = 400
"""Sets of two or three pairs stop within 160 steps; a low bound makes theirs the run that `verify` trains again."""


def dense_runs(scale: Scale, members: int | None) -> dict[str, Run]:
    """One hidden layer, σ from rich to lazy, on every symbolic task."""
    size = SIZES[scale]
    runs: dict[str, Run] = {}
    for name in sets.ANCHORS:
        runs[f"dense-{name}"] = _dense(sets.addition(name), size, size.width, members)
    for loss in ("squared error", "logistic"):
        word = loss.split()[0]
        runs[f"dense-equivalence-{word}"] = _dense(
            sets.equivalence((2, 2), (1, 1), loss), size, size.pair_width, members, stop=1e-6
        )
        for left_out in size.left_out[loss]:
            runs[f"dense-cd{left_out}-{word}"] = _dense(sets.context(left_out, loss), size, size.context_width, members)
    others = {
        "invariance": problems.invariance(),
        "exposure": problems.partial_exposure(),
        "ordering": problems.transitive_ordering(),
    }
    if scale == "paper":
        others |= {"exception": sets.ordering_with_exceptions(), "dispersed": problems.dispersed_addition(1)}
    for name, problem in others.items():
        runs[f"dense-{name}"] = _dense(sets.task(problem), size, size.width, members)
    return runs


def deep_runs(scale: Scale, members: int | None) -> dict[str, Run]:
    """One to four layers of 100 units at σ = .1, as the paper's deep networks."""
    size = SIZES[scale]
    tasks = {
        "equivalence": sets.equivalence((2, 2), (1, 1)),
        "interpolation": sets.addition("interpolation"),
        "cd3": sets.context(3, "squared error"),
    }
    return {
        f"deep{depth}-{name}": TrainingRun(
            task=task,
            model=Dense(inputs=sum(task.levels), width=100, depth=depth, scale=0.1),
            members=members or max(4, size.seeds),
            steps=size.deep_steps,
            optimizer=Adam(lr=size.deep_lr),
            fit_below=FIT["squared error"],
            stop_below=1e-4,
            measured=_measured(f"relu_{depth}"),
        )
        for name, task in tasks.items()
        if name in size.deep_tasks
        for depth in size.depths
    }


def _dense(task: SymbolicTask, size: Size, width: int, members: int | None, stop: float = 1e-4) -> TrainingRun:
    tiny = len(task.seen) < 4
    seeds = members or size.seeds
    more = max(0, (members or (size.tiny_seeds if tiny else size.lazy_seeds)) - seeds)
    scales = tuple(s for _ in range(seeds) for s in size.scales) + (1.0,) * more
    squared = task.loss == "squared error"
    rates = {s: learning_rate(s, task, width) for s in set(scales)}
    return TrainingRun(
        task=task,
        model=Dense(inputs=sum(task.levels), width=width),
        members=len(scales),
        steps=TINY_STEPS if tiny else size.steps if squared else size.logistic_steps,
        optimizer=SGD(lr=tuple(rates[s] for s in scales)),
        init_scale=scales,
        fit_below=FIT[task.loss],
        stop_below=stop if squared else None,
        measured=_measured("relu_1,tangent"),
    )


def learning_rate(sigma: float, task: SymbolicTask, width: int) -> float:
    """min(cap, .7 · 2/λ), λ the largest curvature of the loss of an infinitely wide lazy network.

    Its readout kernel is K = H σ² C/fan_in · κ, κ the one-layer ReLU kernel; the curvature is 2/N of K's largest
    eigenvalue for squared error, and at most a quarter of K/N for logistic loss. A rich network makes features of
    a size of its own and is held by the cap."""
    seen = np.array(task.seen)
    gram = nngp(Kernel.one_hot(len(task.levels)), ReLU(), 1)[1].gram(seen)
    size = width * sigma**2 * len(task.levels) / sum(task.levels)
    largest = float(np.linalg.eigvalsh(gram)[-1]) * size / len(seen)
    if task.loss == "logistic":
        return min(0.3, 0.7 * 8 / largest)
    return min(0.05 if max(map(abs, task.answers)) > 1 else 0.1, 0.7 / largest)


def _measured(layers: str) -> tuple[Measured, ...]:
    return (
        Measured(measure="leak", arguments={"count": 1}),
        Measured(measure="additivity", arguments={"count": 1}),
        Measured(measure="salience", at=(0, -1), arguments={"layers": layers, "count": 1}),
    )
