"""How much each input moves the answer: E|∂Ŷ/∂X_j|."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.models.slopes import grad
from recombine.tasks import Draws, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def influence(ensemble: Ensemble, task: Task, outcome: int = 1, count: int = 256, seed: int = 0) -> pl.DataFrame:
    """E|∂p(outcome)/∂x_j| for each column j of the input, p the softmax of the outputs.

    The expectation is over all combinations of the space alike, seen or not: factors are drawn independently, as an
    intervention would. One row per member and input."""
    import polars as pl

    points = torch.as_tensor(task.space.grid()).repeat_interleave(count, 0).to(ensemble.device)
    inputs, _ = task.examples(points, Draws.single(seed, "influence", ensemble.device))
    if not isinstance(inputs, Tensor):
        raise InputError("influence is defined for models of one input tensor; this task gives several.")

    def slope(model: Callable[..., Tensor], x: Tensor) -> Tensor:
        def probability(one: Tensor) -> Tensor:
            return torch.softmax(model(one[None])[0], -1)[outcome]

        slopes: Tensor = torch.vmap(grad(probability))(x)
        return slopes.abs().flatten(1).mean(0)

    means = ensemble.map(slope, inputs.to(ensemble.flat.dtype)).detach().double().cpu()
    columns = means.shape[1]
    return pl.DataFrame(
        {
            "member": [m for m in ensemble.members for _ in range(columns)],
            "input": [f"x{j + 1}" for j in range(columns)] * len(ensemble),
            "influence": means.flatten().tolist(),
        },
        schema={"member": pl.Int32, "input": pl.String, "influence": pl.Float64},
    )
