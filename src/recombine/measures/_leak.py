"""The memorization leak of a trained network: how much of the rule it applies to combinations it has not seen.

On unseen combinations a kernel answers f = m · y + b with m ≤ 1: what it memorized of its training set is missing
(Lippl & Stachenfeld 2025, Prop. 5.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.errors import InputError
from recombine.measures._responses import FloatArray, responses
from recombine.tasks import Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def leak(ensemble: Ensemble, task: Task, count: int = 16, seed: int = 0, trained: bool = False) -> pl.DataFrame:
    """Slope and intercept of the mean output against the target over unseen combinations. One row per member.

    ``seen_slope`` is the slope over seen combinations: below 1 where new examples of them are not answered fully.
    ``error`` is the mean squared error over unseen combinations, of mean outputs; ``margin`` the mean of target ·
    output there, ``right`` the share of them whose output has the target's sign. ``trained``: combinations are shown by
    what training shows of their parts, such as its images in new pairs."""
    import polars as pl

    found = responses(ensemble, task, None, count, seed, trained)
    unseen = ~found.seen
    if not unseen.any():
        raise InputError("the leak shows on unseen combinations, and this task has none.")
    outputs, targets = found.outputs[:, unseen], found.targets[unseen]
    slope, intercept = line(outputs, targets)
    return pl.DataFrame(
        {
            "member": np.array(ensemble.members, dtype=np.int32),
            "slope": slope,
            "intercept": intercept,
            "seen_slope": line(found.outputs[:, found.seen], found.targets[found.seen])[0],
            "error": np.square(outputs - targets).mean(axis=1),
            "margin": (outputs * targets).mean(axis=1),
            "right": (outputs * targets > 0).mean(axis=1),
        }
    )


def line(outputs: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least-squares slope and intercept of outputs (members × n) on targets (n); no number where targets are alike."""
    centred = targets - targets.mean()
    spread = float(centred @ centred)
    slope = outputs @ centred / spread if spread > 0 else np.full(len(outputs), np.nan)
    return slope, outputs.mean(axis=1) - slope * targets.mean()
