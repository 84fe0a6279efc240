"""Influence by component: E‖∂ŷ/∂X_j‖, ŷ the score of the right class less the mean score (Li et al. 2020, def. 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from recombine.errors import InputError
from recombine.measures._swap import independent, part_of
from recombine.models.slopes import grad
from recombine.tasks import Draws, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

FloatArray = NDArray[np.float64]


def component_influence(ensemble: Ensemble, task: Task, count: int = 256, seed: int = 0) -> pl.DataFrame:
    """Mean Euclidean norm of the gradient over each component's part of the input, and its ``share`` of their sum.

    Components are drawn independently. One row per member and component. Noise in the input keeps the norm of an
    uninformative part well above zero: `swap` and `information` tell settings apart far better."""
    import polars as pl

    draws = Draws.single(seed, "component influence", ensemble.device)
    inputs, targets = task.examples(independent(task, draws, count), draws)
    norms = influence_norms(ensemble, task, inputs, targets)
    names = ["·".join(block) for block in task.space.components]
    share = norms / norms.sum(1, keepdims=True)
    return pl.DataFrame(
        {
            "member": np.repeat(np.array(ensemble.members, dtype=np.int32), len(names)),
            "component": names * len(ensemble),
            "influence": norms.ravel(),
            "share": share.ravel(),
        }
    )


def influence_norms(ensemble: Ensemble, task: Task, inputs: object, targets: Tensor) -> FloatArray:
    """Mean gradient norms (members × components)."""
    return norms_by_part(task, slopes(ensemble, inputs, targets))


def slopes(ensemble: Ensemble, inputs: object, targets: Tensor, place: slice = slice(None)) -> Tensor:
    """The gradient of the right class's score, less the mean score, at each input: (members × examples × input).

    ``place`` says which outputs are scores of this answer, where a model gives several."""
    if not isinstance(inputs, Tensor):
        raise InputError("influence is defined for models of one input tensor; this task gives several.")
    right = targets.long().unsqueeze(-1).to(ensemble.device)

    def slope(model: Callable[..., Tensor], x: Tensor) -> Tensor:
        def score(x: Tensor) -> Tensor:
            outputs = model(x)[..., place]
            return (outputs.gather(-1, right).squeeze(-1) - outputs.mean(-1)).sum()

        found: Tensor = grad(score)(x)
        return found

    gradients: Tensor = ensemble.map(slope, inputs.to(ensemble.flat.dtype))
    return gradients.detach()


def norms_by_part(task: Task, gradients: Tensor) -> FloatArray:
    """Mean Euclidean norm over the part of each component: (members × components)."""
    places = [part_of(task, gradients[0], j) for j in range(len(task.space.components))]
    if None in places:
        raise InputError("influence by component needs a task that says which part of an input shows which component.")
    norms = [gradients[..., place].flatten(2).norm(dim=2).double().mean(1).cpu().numpy() for place in places]
    return np.stack(norms, axis=1)
