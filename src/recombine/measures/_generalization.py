"""How well pictures or vectors are predicted where training was, everywhere, and strictly where it was not.

R² = 1 − Σ(ŷ − y)² / Σ(y − ȳ)² with both sums over examples and outputs (variance-weighted). Pooled over all
examples, and as Wiedemer et al. (2023) give it: for each batch of 1 000 with that batch's own mean, then averaged
over batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from recombine.space import Points
from recombine.tasks import Draws, Task
from recombine.tasks.abilities import OnBackground
from recombine.training import Ensemble
from recombine.training.stack import positional

if TYPE_CHECKING:
    import polars as pl

BATCH = 1000
"""Examples in each batch whose R² is averaged; also how many are predicted at once at most."""

COLLAPSED = 0.05
"""A member whose pictures differ from the background by less than this share of what the targets do has collapsed."""

SPLITS = ("id", "all", "ood")


def generalization(ensemble: Ensemble, task: Task, count: int = 2000, chunk: int = 250, seed: int = 0) -> pl.DataFrame:
    """One row per member and split: fresh examples of the training support (id), of the whole space (all), and of what
    training leaves out (ood; absent where it leaves nothing out).

    ``mse``; ``r2`` pooled and ``r2_batches`` averaged over batches; ``blank_r2``, what the background alone would get;
    ``shown``, E(ŷ − background)² over that of the targets, and whether the member has ``collapsed`` to the
    background."""
    import polars as pl

    rows: list[dict[str, object]] = []
    for split in SPLITS:
        points = points_of(task, split, count, seed)
        if points is None:
            continue
        sums = _sums(ensemble, task, points, chunk, seed)
        per_batch = 1 - sums["error"] / sums["spread"]
        spread = sums["pooled_spread"]
        error, shown = sums["error"].sum(1), sums["shown"].sum(1) / sums["truth"].sum()
        for i, member in enumerate(ensemble.members):
            rows.append({
                "member": member, "split": split, "examples": len(points),
                "mse": float(error[i]) / (len(points) * sums["outputs"].item()),
                "r2": 1 - float(error[i] / spread), "r2_batches": float(per_batch[i].mean()),
                "blank_r2": 1 - float(sums["truth"].sum() / spread), "shown": float(shown[i]),
                "collapsed": bool(shown[i] < COLLAPSED),
            })  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"member": pl.Int32}, infer_schema_length=None)


def points_of(task: Task, split: str, count: int, seed: int) -> Points | None:
    """``count`` points of a split; None where training leaves nothing out."""
    if split == "id":
        return task.train.sample(count, seed)
    everything = task.space.sample(count, seed)
    if split == "all":
        return everything
    outside = ~task.train.contains(everything)
    return task.test.sample(count, seed) if outside.any() else None


def background_of(task: Task) -> float:
    """What a picture of nothing shows; 0 where the task does not say."""
    return task.background if isinstance(task, OnBackground) else 0.0


def evaluated(
    ensemble: Ensemble, task: Task, points: Points, chunk: int, seed: int = 0
) -> Iterator[tuple[Tensor, Tensor]]:
    """Outputs (members × examples × numbers) and targets (examples × numbers), ``chunk`` examples at a time."""
    dtype = ensemble.flat.dtype
    for start in range(0, len(points), chunk):
        asked = torch.as_tensor(np.array(points[start : start + chunk]), device=ensemble.device)
        inputs, targets = task.examples(asked, Draws.single(seed, f"evaluation {start}", ensemble.device))
        parts = tuple(p.to(dtype) if p.is_floating_point() else p for p in positional(inputs))
        outputs = ensemble.predict(parts)
        yield outputs.reshape(*outputs.shape[:2], -1), targets.to(dtype).reshape(len(targets), -1)


def _sums(ensemble: Ensemble, task: Task, points: Points, chunk: int, seed: int) -> dict[str, Tensor]:
    """Sums over outputs and the examples of each batch: errors (members × batches), the targets' spread (batches)."""
    background = background_of(task)
    errors, spreads, shown, truths = [], [], [], []
    first = second = torch.zeros(())
    for start in range(0, len(points), BATCH):
        error = energy = truth = mean = square = torch.zeros((), dtype=torch.float64, device=ensemble.device)
        batch = points[start : start + BATCH]
        for outputs, targets in evaluated(ensemble, task, batch, min(chunk, BATCH), seed + start):
            error = error + (outputs - targets).square().double().sum((1, 2))
            energy = energy + (outputs - background).square().double().sum((1, 2))
            truth = truth + (targets - background).square().double().sum()
            mean, square = mean + targets.double().sum(0), square + targets.double().square().sum(0)
        errors.append(error.cpu())
        shown.append(energy.cpu())
        truths.append(truth.cpu())
        spreads.append((square - mean.square() / len(batch)).sum().cpu())
        first, second = first + mean.cpu(), second + square.cpu()
    pooled = (second - first.square() / len(points)).sum()
    return {
        "error": torch.stack(errors, 1), "spread": torch.stack(spreads), "shown": torch.stack(shown, 1),
        "truth": torch.stack(truths), "pooled_spread": pooled, "outputs": torch.tensor(first.numel()),
    }  # fmt: skip
