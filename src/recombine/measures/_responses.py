"""What each member answers to each combination, averaged over fresh examples: the ground of the output measures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from recombine.errors import InputError
from recombine.measures.gaps import _evaluate
from recombine.space import Codes, Points
from recombine.tasks import Task
from recombine.training import Ensemble

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Responses:
    """Mean outputs (members × combinations) and targets (combinations) of a task with one number as its answer."""

    codes: Codes
    seen: NDArray[np.bool_]
    outputs: FloatArray
    targets: FloatArray


def responses(
    ensemble: Ensemble, task: Task, points: Points | None = None, count: int = 16, seed: int = 0, trained: bool = False
) -> Responses:
    """Answers to ``count`` examples of each combination (default: all of the train and the test support), averaged."""
    codes = task.space.check((task.train | task.test).explicit().codes if points is None else points)
    outputs, targets = [], []
    for out, target, _ in _evaluate(ensemble, task, codes, count, seed, trained):
        if out[0, 0].numel() != 1:
            raise InputError(f"this measure needs one number per answer, this model gives {out[0, 0].numel()}.")
        outputs.append(out.detach().flatten(1).double().unflatten(1, (-1, count)).mean(2).cpu())
        targets.append(target.flatten().double().unflatten(0, (-1, count)).mean(1).cpu())
    return Responses(codes, task.train.contains(codes), torch.cat(outputs, 1).numpy(), torch.cat(targets).numpy())
