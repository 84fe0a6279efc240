"""Whose variance the scores carry: the ANOVA (Sobol) split of the outputs over the grid of components.

S_J = Var f_J / Var f, with f_J(z_J) the effects of the mean outputs at each combination; what is left is the variance
within a combination. A compositional model of Y_1 has S_1 + within = 1: no share for others, alone or with 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from recombine.errors import InputError
from recombine.measures._additivity import anova
from recombine.measures.gaps import _evaluate
from recombine.tasks import Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def variance(ensemble: Ensemble, task: Task, count: int = 8, seed: int = 0) -> pl.DataFrame:
    """The share of each set of components ("1", "2", "1·2", …) and of "within". One row per member and part.

    Outputs are taken less their mean over classes, which no answer depends on; shares are those of the variance summed
    over outputs. What the mean of ``count`` examples varies by chance is taken off, so that noise is no effect."""
    import polars as pl

    if count < 2:
        raise InputError(f"the variance within a combination needs at least 2 examples of each, got {count}.")
    means, spreads = [], []
    for outputs, _, _ in _evaluate(ensemble, task, task.space.grid(), count, seed):
        centred = outputs.double().flatten(2)
        centred = centred - centred.mean(-1, keepdim=True) if centred.shape[-1] > 1 else centred
        cells = centred.unflatten(1, (-1, count))
        means.append(cells.mean(2).cpu())
        spreads.append(cells.var(2).cpu())
    mean, spread = torch.cat(means, 1).numpy(), torch.cat(spreads, 1).numpy()
    within = spread.mean(1).sum(-1)
    table = np.moveaxis(mean, -1, 1).reshape(-1, *task.space.shape)
    parts = {subset: np.broadcast_to(part, table.shape) for subset, part in anova(table).items() if subset}
    cells = int(np.prod(task.space.shape))
    shares: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = {}
    for subset, part in parts.items():
        raw = np.square(part).reshape(len(ensemble), -1).sum(1) / cells
        freedom = np.prod([task.space.shape[c] - 1 for c in subset]) / cells
        shares["·".join(str(c + 1) for c in subset)] = np.maximum(raw - within / count * freedom, 0.0)
    shares["within"] = within
    total = np.maximum(sum(shares.values()), np.finfo(float).tiny)
    return pl.DataFrame(
        {
            "member": np.tile(np.array(ensemble.members, dtype=np.int32), len(shares)),
            "part": [name for name in shares for _ in ensemble.members],
            "share": np.concatenate([part / total for part in shares.values()]),
        }
    )
