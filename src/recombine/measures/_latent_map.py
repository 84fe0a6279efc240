"""Where in the space of latents a model is wrong: its error over a pair of latents, all others left to vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from recombine.errors import InputError
from recombine.measures._generalization import evaluated
from recombine.tasks import Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def latent_map(
    ensemble: Ensemble, task: Task, x: str, y: str, cells: int = 8, count: int = 24, seed: int = 0
) -> pl.DataFrame:
    """One row per cell of a ``cells`` × ``cells`` grid over the latents ``x`` and ``y``: ``error``, the mean squared
    error of ``count`` combinations of the other latents over the spread of all targets, mean over members that are
    finite."""
    import polars as pl

    space = task.space
    columns = [space.position(name) for name in (x, y)]
    if columns[0] == columns[1]:
        raise InputError(f"a map needs two latents, got {x!r} twice.")
    if any(space.factors[c].categorical for c in columns):
        raise InputError("a map is drawn over two continuous latents.")
    middles = (np.arange(cells) + 0.5) / cells
    places = np.stack(np.meshgrid(middles, middles, indexing="ij"), -1).reshape(-1, 2)
    points = space.sample(len(places) * count, seed)
    for column, unit in zip(columns, np.repeat(places, count, axis=0).T, strict=True):
        factor = space.factors[column]
        assert factor.low is not None
        assert factor.high is not None
        points[:, column] = factor.low + unit * (factor.high - factor.low)
    errors, truths = [], []
    for outputs, targets in evaluated(ensemble, task, points, chunk=256, seed=seed):
        errors.append((outputs - targets).square().mean(2).double().cpu())
        truths.append(targets.double().cpu())
    truth = torch.cat(truths)
    spread = float((truth - truth.mean(0)).square().mean())
    each = torch.cat(errors, 1).reshape(len(ensemble), -1, count).mean(2) / spread
    finite = each[torch.isfinite(each).all(1)]
    mean = finite.mean(0).tolist() if len(finite) else [None] * len(places)
    ends = [(space.factors[c].low, space.factors[c].high) for c in columns]
    values = [low + places[:, i] * (high - low) for i, (low, high) in enumerate(ends)]  # type: ignore[operator]
    return pl.DataFrame(
        {"x": values[0], "y": values[1], "x_name": x, "y_name": y, "error": mean, "members": len(finite)},
        schema_overrides={"error": pl.Float64, "members": pl.Int32},
    )
