"""The pictures that a rendering decoder has of each level of a factor: their rank, and how much of them is a stripe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from recombine.errors import InputError
from recombine.tasks import Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

FloatArray = NDArray[np.float64]


def embedding(ensemble: Ensemble, task: Task) -> pl.DataFrame:
    """One row per member and factor: ``rank`` (singular values above 1e-3 of the first), ``effective_rank``
    (exponential of their entropy), mean over levels; ``stripe``: the share of the pictures' variance over pixels that
    is constant along the other factor's axis. For models with ``maps()``; x is the column."""
    import polars as pl

    rows = []
    for member in ensemble.members:
        maps = getattr(ensemble.member(member), "maps", None)
        if maps is None:
            raise InputError("this model has no maps(): it renders no picture for each level.")
        found: list[Tensor] = maps()
        for axis, (factor, pictures) in enumerate(zip("xy", found, strict=True)):
            table = pictures.detach().double().cpu().numpy()
            rank, effective = rank_of(table)
            rows.append({"member": member, "factor": factor, "rank": rank, "effective_rank": effective,
                         "stripe": stripe_share(table, axis)})  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"member": pl.Int32})


def rank_of(pictures: FloatArray) -> tuple[float, float]:
    values = np.linalg.svd(pictures, compute_uv=False)
    share = values / np.maximum(values.sum(-1, keepdims=True), 1e-30)
    entropy = -(share * np.log(np.maximum(share, 1e-30))).sum(-1)
    return float((values > 1e-3 * values[..., :1]).sum(-1).mean()), float(np.exp(entropy).mean())


def stripe_share(pictures: FloatArray, axis: int) -> float:
    """Pictures (… × row × column); of x (axis 0) a stripe is constant down the rows, of y (axis 1) along the
    columns."""
    along = -2 if axis == 0 else -1
    centred = pictures - pictures.mean((-1, -2), keepdims=True)
    total = float(np.square(centred).sum())
    lines = centred.mean(along, keepdims=True)
    return float(np.square(np.broadcast_to(lines, centred.shape)).sum() / total) if total > 0 else float("nan")
