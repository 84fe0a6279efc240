"""The answer as it is given, argmax ŷ: informative, and of derivative 0.

Proposition 1 of Li et al. (2020) says that where ∂Y/∂X exists, I(X; Y) > 0 exactly if ∂Y/∂X ≠ 0. A hard answer is the
counterexample: it is constant around almost every input, so its derivative is 0 there, and yet it says much of X.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.measures._information import _count, conditional_information
from recombine.measures._swap import independent
from recombine.tasks import Draws, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def hard_answer(ensemble: Ensemble, task: Task, count: int = 2000, step: float = 1e-4, seed: int = 0) -> pl.DataFrame:
    """I(argmax ŷ; Y) in nats, and the share of inputs around which the answer moves at all when the whole input is
    moved by ``step`` in a random direction. One row per member."""
    import polars as pl

    draws = Draws.single(seed, "hard answer", ensemble.device)
    inputs, targets = task.examples(independent(task, draws, count), draws)
    if not isinstance(inputs, Tensor):
        raise InputError("the derivative of an answer is defined for models of one input tensor.")
    inputs = inputs.to(ensemble.flat.dtype)
    direction = draws("direction").normal(inputs.shape).to(inputs.dtype)
    length = direction.flatten(1).norm(dim=1).reshape(-1, *[1] * (inputs.dim() - 1))
    here = ensemble.predict(inputs).argmax(-1)
    there = ensemble.predict(inputs + step * direction / length).argmax(-1)
    right = targets.cpu().numpy()
    alone = np.zeros_like(right)
    classes = int(max(right.max(), int(here.max()))) + 1
    known = [
        float(conditional_information(_count(answer, right, alone, (classes, classes, 1))))
        for answer in here.cpu().numpy()
    ]
    return pl.DataFrame(
        {
            "member": np.array(ensemble.members, dtype=np.int32),
            "information": known,
            "moves": (here != there).to(torch.float64).mean(1).cpu().numpy(),
        }
    )
