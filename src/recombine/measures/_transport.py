"""How far ink must be carried to turn an output into its target: a debiased optimal-transport distance in pixels.

S(a, b) = OT_ε(a, b) − ½ OT_ε(a, a) − ½ OT_ε(b, b) with cost ‖p − q‖² (Feydy et al. 2019); √S of two bumps d pixels
apart is d. Error by pixel is the same for a bump one pixel off and across the picture; this is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from recombine.measures._rendering import BLANK, outputs_of, pictures_of
from recombine.tasks import Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

BLUR = 1 / 16
"""√ε as a share of the side: small enough to tell pixels apart, large enough for exp(−side²/ε) to be a number."""
STEPS = 60
SMALLEST = 1e-300


def transport(ensemble: Ensemble, task: Task, most: int = 24) -> pl.DataFrame:
    """One row per member and split: the mean distance over up to ``most`` combinations whose output is not blank.

    Negative ink is left out and both pictures are scaled to the same amount of ink."""
    import polars as pl

    of = pictures_of(task)
    rows = []
    for split, support in (("seen", of.train), ("unseen", of.test)):
        codes = support.explicit().codes
        codes = codes[np.linspace(0, len(codes) - 1, min(most, len(codes))).astype(int)]
        target = of.signal(of.pictures(torch.as_tensor(codes, device=ensemble.device))).double()
        drawn = outputs_of(ensemble, of, codes).double().clamp(min=0)
        for i, member in enumerate(ensemble.members):
            kept = drawn[i].square().sum((1, 2)) > BLANK * target.square().sum((1, 2))
            far = distance(drawn[i][kept], target[kept]).mean().item() if kept.any() else None
            rows.append({"member": member, "split": split, "distance": far, "combinations": int(kept.sum())})
    return pl.DataFrame(rows, schema={"member": pl.Int32, "split": pl.String, "distance": pl.Float64,
                                      "combinations": pl.Int32})  # fmt: skip


def distance(first: Tensor, second: Tensor, steps: int = STEPS) -> Tensor:
    """√S of pictures (batch × side × side) of non-negative ink, in pixels."""
    a, b = (p / p.sum((-1, -2), keepdim=True) for p in (first, second))
    value = _cost(a, b, steps) - (_cost(a, a, steps) + _cost(b, b, steps)) / 2
    return value.clamp(min=0).sqrt()


def _cost(a: Tensor, b: Tensor, steps: int) -> Tensor:
    """OT_ε by Sinkhorn's iteration; the cost is a sum over the axes, so exp(−cost/ε) is a matrix for each."""
    side = a.shape[-1]
    epsilon = (BLUR * side) ** 2
    grid = torch.arange(side, dtype=a.dtype, device=a.device)
    near = torch.exp(-(grid[:, None] - grid[None, :]).square() / epsilon)
    log_a, log_b = a.clamp(min=SMALLEST).log(), b.clamp(min=SMALLEST).log()
    f, g = torch.zeros_like(a), torch.zeros_like(b)

    def softened(potential: Tensor) -> Tensor:
        return (near @ potential.exp() @ near).clamp(min=SMALLEST).log()

    for _ in range(steps):
        new_f = -softened(log_b + g)
        new_g = -softened(log_a + f)
        # Averaging both updates keeps the scheme symmetric, so that a picture is at distance 0 from itself.
        f, g = (f + new_f) / 2, (g + new_g) / 2
    f, g = -softened(log_b + g), -softened(log_a + f)
    return epsilon * ((a * f).sum((-1, -2)) + (b * g).sum((-1, -2)))
