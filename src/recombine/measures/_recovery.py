"""Whether the parts are found, not only their composition: φ̂_k against φ_k, component by component.

A sum cannot tell a constant moved from one component to another, and that is all it cannot tell: the initial point
of the theorem (A4) fixes it. So for addition each cell's mean difference is removed before components are compared;
for other compositions nothing is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.measures._generalization import points_of
from recombine.tasks import Draws, Task
from recombine.tasks.abilities import HasComponents
from recombine.tasks.sprites.compose import COLOURS, Addition
from recombine.training import Ensemble
from recombine.training.stack import positional

if TYPE_CHECKING:
    import polars as pl


def recovery(ensemble: Ensemble, task: Task, count: int = 500, seed: int = 0) -> pl.DataFrame:
    """One row per member and component: ``error``, E‖φ̂_k − φ_k‖² over the spread of φ_k, on points of the whole space;
    ``raw_error``, the same with nothing removed. Only colours are compared."""
    import polars as pl

    if not isinstance(task, HasComponents):
        raise InputError("recovery compares components; this task has none. Give a VectorParts or a SpriteTask.")
    points = points_of(task, "all", count, seed)
    asked = torch.as_tensor(np.array(points), device=ensemble.device)
    truth = task.components(asked)[..., :COLOURS].double()
    inputs, _ = task.examples(asked, Draws.single(seed, "recovery", ensemble.device))
    rows: list[dict[str, object]] = []
    for member in ensemble.members:
        module: Any = ensemble.member(member)
        if not hasattr(module, "components"):
            raise InputError("recovery compares components; this model has none. Give a Compositional model.")
        with torch.no_grad():
            found = module.components(*(part.to(ensemble.flat) for part in positional(inputs)))[..., :COLOURS].double()
        raw = found - truth
        apart = raw - raw.mean(0) if isinstance(module.compose, Addition) else raw
        spread = (truth - truth.mean(0)).square().sum((0, 2, 3))
        rows += [
            {"member": member, "component": k, "error": float(error), "raw_error": float(plain)}
            for k, (error, plain) in enumerate(zip(
                apart.square().sum((0, 2, 3)) / spread, raw.square().sum((0, 2, 3)) / spread, strict=True))
        ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"member": pl.Int32, "component": pl.Int32})


def recombination(ensemble: Ensemble, task: Task, count: int = 1000, seed: int = 0) -> pl.DataFrame:
    """Of a slot autoencoder: R² of what its decoder draws when slot 1 of one training observation meets slot 2 of
    another, against the observation of the recombined latents; ``r2_seen`` of plain reconstruction.

    Which slot holds which component is for the encoder to choose, so the better of the two readings counts."""
    import polars as pl

    points = torch.as_tensor(np.array(points_of(task, "id", 2 * count, seed)), device=ensemble.device)
    first, second = points[:count], points[count:]
    half = points.shape[1] // 2
    mixed = torch.cat([first[:, :half], second[:, half:]], dim=1)
    draws = Draws.single(seed, "recombination", ensemble.device)
    observed = [task.examples(p, draws)[1].to(ensemble.flat) for p in (first, second)]
    wanted = task.examples(mixed, draws)[1].flatten(1).double()
    rows: list[dict[str, object]] = []
    for member in ensemble.members:
        module: Any = ensemble.member(member)
        if not hasattr(module, "slots"):
            raise InputError("recombination swaps slots; this model has none. Give a SlotAutoencoder.")
        with torch.no_grad():
            a, b = (module.slots(x) for x in observed)
            size = a.shape[1] // 2
            readings = [torch.cat([a[:, :size], b[:, size:]], 1), torch.cat([b[:, :size], a[:, size:]], 1)]
            scores = [_r2(module.decoder(slots).flatten(1).double(), wanted) for slots in readings]
            seen = _r2(module(observed[0]).flatten(1).double(), observed[0].flatten(1).double())
        rows.append({"member": member, "r2": max(scores), "r2_other": min(scores), "r2_seen": seen})
    return pl.DataFrame(rows, schema_overrides={"member": pl.Int32})


def composition_shares(ensemble: Ensemble, task: Task) -> pl.DataFrame:
    """Of a learned family of compositions: one row per member and candidate, with its ``share``."""
    import polars as pl

    rows: list[dict[str, object]] = []
    for member in ensemble.members:
        compose: Any = getattr(ensemble.member(member), "compose", None)
        if not hasattr(compose, "shares"):
            raise InputError("this model learns no composition from a family; give it a CompositionFamily.")
        shares = compose.shares().tolist()
        rows += [
            {"member": member, "candidate": candidate.kind, "share": share}
            for candidate, share in zip(compose.candidates, shares, strict=True)
        ]
    return pl.DataFrame(rows, schema_overrides={"member": pl.Int32})


def _r2(outputs: Tensor, targets: Tensor) -> float:
    return 1 - float((outputs - targets).square().sum() / (targets - targets.mean(0)).square().sum())
