"""What can be read from a layer: coordinates by a linear probe on places it was not fitted to, and how many directions
it uses.

The authors' probe is scored on the places it was fitted to, where more features than places always give 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from recombine.measures.rendering import pictures_of
from recombine.measures.taps import taps
from recombine.tasks import Draws, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

FloatArray = NDArray[np.float64]

RIDGE = 1e-4
"""Of the mean variance of a feature; fixed, so that nothing is chosen on the places that are asked."""


def probes(ensemble: Ensemble, task: Task, layers: str = "input,output", seed: int = 0) -> pl.DataFrame:
    """One row a member and layer: ``seen`` R² on held-out training places, ``unseen`` R² on the held-out combinations,
    both of a ridge probe of (x, y) fitted to half of the training places; ``rank`` and ``rank_99`` of the
    activations."""
    import polars as pl

    of = pictures_of(task)
    train, test = (torch.as_tensor(s.explicit().codes.copy(), device=ensemble.device) for s in (of.train, of.test))
    order = Draws.single(seed, "probe").uniform((len(train),), torch.float64).argsort().to(ensemble.device)
    half = len(train) // 2
    points = torch.cat([train[order], test])
    names = [name.strip() for name in layers.split(",")]
    rows: list[dict[str, object]] = []
    for member in ensemble.members:
        for name, features in taps(ensemble, member, of.codes(points), names).items():
            table, wanted = features.cpu().numpy(), points.double().cpu().numpy()
            read = probe(table[:half], wanted[:half], table[half:])
            split = len(train) - half
            whole, most = ranks(table)
            rows.append(
                {
                    "member": member, "layer": name, "seen": r_squared(read[:split], wanted[half : len(train)]),
                    "unseen": r_squared(read[split:], wanted[len(train) :]), "rank": whole, "rank_99": most,
                }
            )  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"member": pl.Int32})


def probe(features: FloatArray, wanted: FloatArray, asked: FloatArray) -> FloatArray:
    """Ridge regression with an intercept, solved through the smaller Gram matrix."""
    mean, middle = features.mean(0), wanted.mean(0)
    x = features - mean
    ridge = RIDGE * max(float(np.square(x).sum()) / len(x), 1e-30)
    dual = np.linalg.solve(x @ x.T + ridge * np.eye(len(x)), wanted - middle)
    return np.asarray((asked - mean) @ (x.T @ dual) + middle)


def r_squared(read: FloatArray, wanted: FloatArray) -> float:
    return float(1 - np.square(read - wanted).sum() / np.square(wanted - wanted.mean(0)).sum())


def ranks(features: FloatArray) -> tuple[int, int]:
    """Eigenvalues of the covariance above 1e-3 of the first, and how many hold 99 % of the variance."""
    values = np.linalg.svd(features - features.mean(0), compute_uv=False) ** 2
    if values[0] <= 0:
        return 0, 0
    return int((values > 1e-3 * values[0]).sum()), int(np.searchsorted(np.cumsum(values) / values.sum(), 0.99) + 1)
