"""Where wrong answers go: to combinations that training saw, or anywhere?

A model that has learnt which components go together answers an unseen combination (y_1, y_2) with an a for which
(a, y_2) was seen. BCDLSG (Li 2022) counts such answers; here they are compared with what chance would give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from recombine.errors import InputError
from recombine.measures.gap import _evaluate
from recombine.tasks import Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def snap(ensemble: Ensemble, task: Task, count: int = 32, seed: int = 0) -> pl.DataFrame:
    """Answers to unseen combinations, the first factor being what is answered. One row a member.

    ``unseen`` is the share of answers a for which (a, other levels) is still a combination training never saw;
    ``snapped`` is the share of *wrong* answers that make it one training saw, and ``chance`` the same for wrong answers
    drawn uniformly. A member without wrong answers has no ``snapped``."""
    import polars as pl

    points = task.test.explicit().require_nonempty("test").codes
    levels = task.space.shape[0]
    moved = np.repeat(points[:, None], levels, axis=1)
    moved[:, :, 0] = np.arange(levels)
    seen = task.train.contains(moved.reshape(-1, points.shape[1])).reshape(len(points), levels)
    wrong = np.arange(levels) != points[:, :1]
    chance = float((seen & wrong).sum() / wrong.sum())
    totals = np.zeros((3, len(ensemble)))
    for outputs, _, rows in _evaluate(ensemble, task, points, count, seed):
        if outputs.dim() != 3 or outputs.shape[-1] != levels:
            raise InputError(
                f"this measure needs one of {levels} classes as an answer: the levels of the first factor."
            )
        answers = outputs.argmax(-1).cpu()
        at = torch.arange(rows.start, rows.stop).repeat_interleave(count)
        hit, false = torch.as_tensor(seen)[at[None], answers], torch.as_tensor(wrong)[at[None], answers]
        totals += np.stack([part.double().sum(1).numpy() for part in (~hit, hit & false, false)])
    return pl.DataFrame(
        {
            "member": np.array(ensemble.members, dtype=np.int32),
            "unseen": totals[0] / (len(points) * count),
            "snapped": [h / w if w else None for h, w in zip(totals[1], totals[2], strict=True)],
            "chance": np.full(len(ensemble), chance),
        },
        schema_overrides={"snapped": pl.Float64},
    )
