"""The leak that a network's features foretell: what a kernel machine on their similarities answers.

Eq. 3 of Lippl & Stachenfeld (2025) foretells a slope from one salience, where similarity depends on the number of
shared components alone. Trained features are far from that. A kernel machine on the similarities as they are needs no
such assumption: it fits the seen combinations exactly, and is asked about all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.measures._leak import line
from recombine.measures._salience import _features
from recombine.measures.listed import Listed, listed
from recombine.tasks import Draws, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl


def kernel_leak(ensemble: Ensemble, task: Task, layers: Listed, count: int = 64, seed: int = 0) -> pl.DataFrame:
    """Slope, intercept, margin and share right of a kernel machine over unseen combinations, as `leak` has them of the
    network; one row per member and layer.

    Its kernel is the Gram matrix of a layer's mean features of combinations. It fits the seen ones exactly, each by
    ``count`` examples as training shows them, with the smallest weights that do (least squares, no ridge, no bias), and
    is asked with as many new examples. ``seen_slope`` is below 1 where new examples are not like the old ones."""
    import polars as pl

    codes = (task.train | task.test).explicit().codes
    seen = task.train.contains(codes)
    if seen.all():
        raise InputError("the leak shows on unseen combinations, and this task has none.")
    points = torch.as_tensor(codes.copy()).to(ensemble.device).repeat(count, 1)
    draws = Draws.single(seed, "kernel leak", ensemble.device)
    sides = []
    for purpose, show in (("learnt", task.trained_examples), ("asked", task.examples)):
        inputs, answers = show(points, draws(purpose))
        if not isinstance(inputs, Tensor):
            raise InputError("similarities are measured on models with one input tensor.")
        sides.append(inputs.to(ensemble.flat.dtype).reshape(1, count, len(codes), *inputs.shape[1:]))
    targets = answers[: len(codes)].double().flatten().cpu().numpy()
    rows = []
    for layer in listed(layers):
        learnt, asked = (_features(ensemble, layer, side) for side in sides)
        for member, old, new in zip(ensemble.members, learnt, asked, strict=True):
            known, fresh = (part[0].double().cpu().numpy() for part in (old, new))
            answer = fresh @ np.linalg.lstsq(known[seen], targets[seen], rcond=None)[0]
            slope, intercept = line(answer[None, ~seen], targets[~seen])
            product = (answer * targets)[~seen]
            rows.append(
                {
                    "member": member, "layer": layer, "slope": float(slope[0]), "intercept": float(intercept[0]),
                    "seen_slope": float(line(answer[None, seen], targets[seen])[0][0]),
                    "margin": float(product.mean()), "right": float((product > 0).mean()),
                }
            )  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"member": pl.Int32})
