"""The picture that members draw for one unseen combination, pixel by pixel: what the numbers of `rendering` look
like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from recombine.measures._rendering import outputs_of, pictures_of
from recombine.tasks import Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def drawing(ensemble: Ensemble, task: Task, members: int = 1) -> pl.DataFrame:
    """One row per pixel of each of the first ``members`` members: ``output`` and ``target`` without background.

    The combination is the unseen one nearest to the middle of all unseen ones. ``column`` goes with x, ``row`` with
    y."""
    import polars as pl

    of = pictures_of(task)
    unseen = of.test.explicit().codes
    centre = unseen[np.square(unseen - unseen.mean(0)).sum(1).argmin()][None]
    shown = ensemble.select(list(ensemble.members[:members]))
    drawn = outputs_of(shown, of, centre)[:, 0].double().cpu().numpy()
    target = of.signal(of.pictures(torch.as_tensor(centre.copy())))[0].double().numpy()
    row, column = np.indices(target.shape)
    pixels = target.size
    return pl.DataFrame(
        {
            "member": np.repeat(np.array(shown.members, dtype=np.int32), pixels),
            "x": np.full(pixels * len(shown), centre[0, 0]), "y": np.full(pixels * len(shown), centre[0, 1]),
            "row": np.tile(row.ravel(), len(shown)), "column": np.tile(column.ravel(), len(shown)),
            "output": drawn.ravel(), "target": np.tile(target.ravel(), len(shown)),
        }
    )  # fmt: skip
