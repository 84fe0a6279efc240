"""One gradient step from the start, and what it does to each component's influence (Li et al. 2020, propositions 2–5).

The propositions say that after a step ∂Ŷ/∂X_j ≠ 0 for a redundant X_j; they do not say how large, and a network at
its start has ∂Ŷ/∂X_j ≠ 0 already. So what the step itself adds is reported, E‖∂(ŷ_after − ŷ_before)/∂X_j‖, to be
compared with the step of a control whose X_j says nothing. Proposition 5 sums the terms of the outputs, dL/dθ = Σ_i
(∂Ŷ_i/∂θ)(∂L/∂Ŷ_i), and argues that they do not cancel: ‖Σ_i g_i‖ / Σ_i ‖g_i‖ is 1 where all point one way and 0 where
they cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.measures._component_influence import norms_by_part, slopes
from recombine.measures._swap import independent
from recombine.models.called import call_with
from recombine.models.slopes import grad, vjp
from recombine.tasks import Draws, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def one_step(
    ensemble: Ensemble, task: Task, lr: float = 0.1, batch: int = 512, count: int = 256, seed: int = 0
) -> pl.DataFrame:
    """Influence before and after one step of plain gradient descent on a batch of the task, that of what was added, and
    the cancellation ratio of the outputs' terms. One row per member and component. The ensemble itself is left as it
    is."""
    import polars as pl

    draws = Draws.single(seed, "one step", ensemble.device)
    inputs, targets = task.batch(draws("batch"), batch)
    if not isinstance(inputs, Tensor):
        raise InputError("the one-step test is defined for models of one input tensor; this task gives several.")
    terms = gradient_terms(ensemble, task, inputs.to(ensemble.flat.dtype), targets)
    whole = terms.sum(1)
    ratio = whole.norm(dim=-1) / terms.norm(dim=-1).sum(1).clamp(min=torch.finfo(terms.dtype).tiny)
    moved = replace(ensemble, flat=ensemble.flat - lr * whole)
    asked, right = task.examples(independent(task, draws("asked"), count), draws("asked"))
    before, after = (slopes(which, asked, right) for which in (ensemble, moved))
    columns = {"before": before, "after": after, "added": after - before}
    names = ["·".join(block) for block in task.space.components]
    return pl.DataFrame(
        {
            "member": np.repeat(np.array(ensemble.members, dtype=np.int32), len(names)),
            "component": names * len(ensemble),
            **{name: norms_by_part(task, found).ravel() for name, found in columns.items()},
            "cancellation": np.repeat(ratio.double().cpu().numpy(), len(names)),
        }
    )


def gradient_terms(ensemble: Ensemble, task: Task, inputs: Tensor, targets: Tensor) -> Tensor:
    """g_i = (∂Ŷ_i/∂θ)(∂L/∂Ŷ_i) of each output column i, as rows of parameters: (members × outputs × numbers)."""
    module, layout = ensemble.module.eval(), ensemble.layout
    rows = []
    for m in range(len(ensemble)):
        buffers = {name: buffer[m] for name, buffer in ensemble.buffers.items()}

        def scores(flat: Tensor, buffers: dict[str, Tensor] = buffers) -> Tensor:
            found: Tensor = call_with(module, (layout.split(flat), buffers), (inputs,))
            return found

        outputs, pull = _pullback(scores, ensemble.flat[m])
        slope = grad(lambda o: task.losses(o, targets).mean())(outputs)
        columns = torch.eye(outputs.shape[-1], dtype=slope.dtype, device=slope.device)
        rows.append(torch.stack([pull(slope * column) for column in columns]))
    return torch.stack(rows).detach()


def _pullback(function: Callable[[Tensor], Tensor], at: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    outputs, pull = vjp(function, at)
    return outputs.detach(), lambda cotangent: pull(cotangent)[0]
