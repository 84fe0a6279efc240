"""What members draw for combinations that were never seen, cell by cell: what the numbers look like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.errors import InputError
from recombine.measures._generalization import evaluated, points_of
from recombine.tasks import Task
from recombine.tasks.abilities import Pictures
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def reconstruction(ensemble: Ensemble, task: Task, examples: int = 4, seed: int = 1) -> pl.DataFrame:
    """One row per cell of ``examples`` unseen combinations, drawn by the first member: brightness (the mean over
    colours) of ``output`` and ``target``; ``row`` counts from the top."""
    import polars as pl

    if not isinstance(task, Pictures):
        raise InputError("only pictures can be shown cell by cell; give a SpriteTask.")
    side = task.side
    unseen = points_of(task, "ood", examples, seed)
    points = unseen if unseen is not None else task.space.sample(examples, seed)
    shown = ensemble.select([ensemble.members[0]])
    ((outputs, targets),) = evaluated(shown, task, points, chunk=examples)
    grey = [v.double().cpu().reshape(examples, side * side, -1).mean(-1).numpy().ravel() for v in (outputs[0], targets)]
    cell = np.tile(np.arange(side * side), examples)
    return pl.DataFrame(
        {
            "member": np.full(len(cell), shown.members[0], dtype=np.int32),
            "example": np.repeat(np.arange(examples), side * side), "row": cell // side, "column": cell % side,
            "output": grey[0], "target": grey[1],
        }
    )  # fmt: skip
