"""What can be read from a layer: coordinates by a linear probe on places it was not fitted to, and how many directions
it uses.

The authors' probe is scored on the places it was fitted to, where more features than places always give 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from recombine.measures._rendering import pictures_of
from recombine.measures.activations import activations
from recombine.measures.listed import Listed, listed
from recombine.tasks import Draws, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

FloatArray = NDArray[np.float64]

RIDGE = 1e-4
"""Of the mean variance of a feature; fixed, so that nothing is chosen on the places that are asked."""


def probes(ensemble: Ensemble, task: Task, layers: Listed = ("input", "output"), seed: int = 0) -> pl.DataFrame:
    """One row per member and layer: ``seen`` R² on held-out training places, ``unseen`` R² on the held-out
    combinations, both of a ridge probe of (x, y) fitted to half of the training places; ``rank`` and ``rank_99`` of the
    activations."""
    import polars as pl

    of = pictures_of(task)
    train, test = (torch.as_tensor(s.explicit().codes.copy(), device=ensemble.device) for s in (of.train, of.test))
    order = Draws.single(seed, "probe").uniform((len(train),), torch.float64).argsort().to(ensemble.device)
    half = len(train) // 2
    points = torch.cat([train[order], test])
    names = listed(layers)
    rows: list[dict[str, object]] = []
    wanted = points.double().cpu().numpy()
    split = len(train) - half
    for member in ensemble.members:
        for name, features in activations(ensemble, member, of.codes(points), names).items():
            centred = features - features[:half].mean(0)
            gram = (centred @ centred.T).cpu().numpy()
            read = probe(gram, wanted[:half])
            whole, most = ranks(gram)
            rows.append(
                {
                    "member": member, "layer": name, "seen": r_squared(read[:split], wanted[half : len(train)]),
                    "unseen": r_squared(read[split:], wanted[len(train) :]), "rank": whole, "rank_99": most,
                }
            )  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"member": pl.Int32})


def probe(gram: FloatArray, wanted: FloatArray) -> FloatArray:
    """Ridge regression with an intercept on features whose mean over the fitted rows, the first ones, is zero.

    It is solved through their Gram matrix; what is read from the other rows is given back."""
    count = len(wanted)
    middle = wanted.mean(0)
    fitted = gram[:count, :count]
    ridge = RIDGE * max(float(np.trace(fitted)) / count, 1e-30)
    dual = np.linalg.solve(fitted + ridge * np.eye(count), wanted - middle)
    return np.asarray(gram[count:, :count] @ dual + middle)


def r_squared(read: FloatArray, wanted: FloatArray) -> float:
    return float(1 - np.square(read - wanted).sum() / np.square(wanted - wanted.mean(0)).sum())


def ranks(gram: FloatArray) -> tuple[int, int]:
    """Eigenvalues of the covariance above 1e-3 of the first, and how many hold 99 % of the variance."""
    centred = gram - gram.mean(0) - gram.mean(1)[:, None] + gram.mean()
    values = np.maximum(np.linalg.eigvalsh(centred)[::-1], 0.0)
    if values[0] <= 0:
        return 0, 0
    return int((values > 1e-3 * values[0]).sum()), int(np.searchsorted(np.cumsum(values) / values.sum(), 0.99) + 1)
