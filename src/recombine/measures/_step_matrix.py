"""One gradient step where several answers are asked: what it adds to every ∂Ŷ_i/∂X_j (Li et al. 2020, proposition 5).

dL/dθ = Σ_i g_i with g_i = (∂Ŷ_i/∂θ)(∂L/∂Ŷ_i). The proposition says that a step along the sum leaves ∂Ŷ_i/∂X_j ≠ 0 for a
redundant X_j, j ≠ i, because the terms are unlikely to cancel. Beside what the whole step adds stands what its own term
g_i would add alone, and ‖Σ_i g_i‖ / Σ_i ‖g_i‖. From a linear model at 0, on the toy without (1, 1) and with ŷ the score
of the right class less the mean of both, the step adds η/4 for j = i and η/12 for j ≠ i; with all four combinations η/4
and 0; the ratio is √½.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.measures._component_influence import FloatArray, norms_by_part, slopes
from recombine.measures._one_step import gradient_terms
from recombine.measures._swap import independent
from recombine.tasks import Draws, Task
from recombine.tasks.abilities import AnswersInParts
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def step_matrix(
    ensemble: Ensemble, task: Task, lr: float = 0.1, batch: int = 512, count: int = 256, seed: int = 0
) -> pl.DataFrame:
    """E‖∂Ŷ_i/∂X_j‖ ``before`` and ``after`` one step of plain gradient descent, what was ``added``, what the term of
    output i alone would have added (``alone``), and the ``cancellation`` ratio of the terms.

    One row per member, output and component. The task says which outputs answer a component (``answer_part(i)``) and
    its targets have a column per component. The ensemble itself is left as it is."""
    import polars as pl

    if not isinstance(task, AnswersInParts):
        raise InputError("this task asks for one answer only; the step of a single output is measured by one_step.")
    names = ["·".join(block) for block in task.space.components]
    places = [task.answer_part(i) for i in range(len(names))]
    draws = Draws.single(seed, "step matrix", ensemble.device)
    inputs, targets = task.batch(draws("batch"), batch)
    if not isinstance(inputs, Tensor):
        raise InputError("the one-step test is defined for models of one input tensor; this task gives several.")
    columns = gradient_terms(ensemble, task, inputs.to(ensemble.flat.dtype), targets)
    terms = torch.stack([columns[:, place].sum(1) for place in places], 1)
    whole = terms.sum(1)
    ratio = whole.norm(dim=-1) / terms.norm(dim=-1).sum(1).clamp(min=torch.finfo(terms.dtype).tiny)
    asked, right = task.examples(independent(task, draws("asked"), count), draws("asked"))
    rows: dict[str, list[FloatArray]] = {"before": [], "after": [], "added": [], "alone": []}
    for i, place in enumerate(places):
        steps = {"before": torch.zeros_like(whole), "after": whole, "alone": terms[:, i]}
        found = {
            name: slopes(replace(ensemble, flat=ensemble.flat - lr * step), asked, right[..., i], place)
            for name, step in steps.items()
        }
        found |= {"added": found["after"] - found["before"], "alone": found["alone"] - found["before"]}
        for name, values in found.items():
            rows[name].append(norms_by_part(task, values))
    cells = len(names) ** 2
    return pl.DataFrame(
        {
            "member": np.repeat(np.array(ensemble.members, dtype=np.int32), cells),
            "output": [name for name in names for _ in names] * len(ensemble),
            "component": names * len(names) * len(ensemble),
            **{name: np.stack(values, 1).ravel() for name, values in rows.items()},
            "cancellation": np.repeat(ratio.double().cpu().numpy(), cells),
        }
    )
