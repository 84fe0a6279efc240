"""Where a classifier of two numbers changes its mind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from recombine.tasks import Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def decision_map(
    ensemble: Ensemble, task: Task, resolution: int = 24, low: float = -1.0, high: float = 1.0
) -> pl.DataFrame:
    """The class chosen at the middle of each cell of a square grid over (x₁, x₂). One row per member and cell."""
    import polars as pl

    middles = _middles(resolution, low, high)
    choice = _choices(ensemble, torch.cartesian_prod(middles, middles))
    cells = resolution**2
    return pl.DataFrame(
        {
            "member": np.repeat(np.array(ensemble.members, dtype=np.int32), cells),
            "x1": middles.double().repeat_interleave(resolution).repeat(len(ensemble)).numpy(),
            "x2": middles.double().repeat(resolution).repeat(len(ensemble)).numpy(),
            "choice": choice.flatten().numpy(),
        }
    )


def boundary(
    ensemble: Ensemble, task: Task, lines: int = 21, points: int = 201, low: float = -1.0, high: float = 1.0
) -> pl.DataFrame:
    """For each of ``lines`` values of x₂, the x₁ beyond which class 1 is chosen: ``high`` minus the length of the
    part of the line that is given class 1, which is the crossing itself where there is one. One row per member and
    x₂."""
    import polars as pl

    across, along = torch.linspace(low, high, lines), _middles(points, low, high)
    grid = torch.stack([along.repeat(lines), across.repeat_interleave(points)], dim=1)
    share = _choices(ensemble, grid).double().reshape(len(ensemble), lines, points).mean(2)
    crossing = high - (high - low) * share
    return pl.DataFrame(
        {
            "member": [m for m in ensemble.members for _ in range(lines)],
            "x2": across.double().tolist() * len(ensemble),
            "x1": crossing.flatten().tolist(),
        },
        schema={"member": pl.Int32, "x2": pl.Float64, "x1": pl.Float64},
    )


def _middles(count: int, low: float, high: float) -> Tensor:
    edge = torch.linspace(low, high, count + 1, dtype=torch.float64)
    return (edge[1:] + edge[:-1]) / 2


def _choices(ensemble: Ensemble, grid: Tensor) -> Tensor:
    return ensemble.predict(grid.to(ensemble.flat.dtype)).argmax(-1).to(torch.int8).cpu()
