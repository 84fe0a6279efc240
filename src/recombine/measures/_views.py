"""Scores on the views of a task: fresh examples as training has them, unseen ones, and what else the task names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from recombine.tasks import Draws, Task
from recombine.training import Ensemble
from recombine.training.stack import positional

if TYPE_CHECKING:
    import polars as pl


def views(ensemble: Ensemble, task: Task, count: int = 512, seed: int = 0) -> pl.DataFrame:
    """Mean loss and scores over ``count`` examples of each view, the same for all members. One row per member and view.

    A task may have ``views(draws, count)``; the views of any other are "trained", uniform over its train support, and
    "unseen", uniform over its test support."""
    import polars as pl

    rows: list[dict[str, object]] = []
    for name, (inputs, targets) in task.views(Draws.single(seed, "views", ensemble.device), count).items():
        dtype = ensemble.flat.dtype
        parts = tuple(part.to(dtype) if part.is_floating_point() else part for part in positional(inputs))
        outputs = ensemble.predict(parts)
        each = torch.vmap(lambda o, t=targets: {"loss": task.losses(o, t), **task.scores(o, t)})(outputs)
        rows += means(ensemble, name, each)
    return pl.DataFrame(rows, schema_overrides={"member": pl.Int32})


def means(ensemble: Ensemble, view: str, each: Mapping[str, Tensor]) -> list[dict[str, object]]:
    """A row per member: the mean of each score (members × examples) on a view."""
    found = {score: value.double().mean(1).tolist() for score, value in each.items()}
    return [
        {"member": member, "view": view, **{score: value[i] for score, value in found.items()}}
        for i, member in enumerate(ensemble.members)
    ]
