"""Memorization as superposition: is the picture of an unseen combination a sum of pictures of seen ones?

score = 1 − min_{a ≥ 0} ‖o − Σ_i a_i t_i‖² / ‖o‖² with o the output for an unseen combination and t_i the outputs for
the training ones (Liang et al. 2025 compare such sums by eye). A kernel machine on one-hot codes can do nothing else:
for an unseen pair its prediction is a signed sum of training targets. Blank outputs have no score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from recombine.measures._rendering import BLANK, outputs_of, pictures_of
from recombine.measures.tangent import wide_tangent_kernel
from recombine.space import Points
from recombine.tasks import Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

FloatArray = NDArray[np.float64]

DEPTH = 3
RIDGE = 1e-8


def superposition(ensemble: Ensemble, task: Task, most: int = 24, depth: int = DEPTH) -> pl.DataFrame:
    """One row per member, means over up to ``most`` unseen combinations, evenly spread over them.

    ``nonnegative`` is the score, ``signed`` the same without a ≥ 0; ``correlation`` that of the outputs with what exact
    regression with the tangent kernel of a wide ``depth``-layer network predicts from the same training targets, and
    ``explained`` its R². ``combinations`` counts the outputs that are not blank; where there is none, all are null."""
    import polars as pl

    of = pictures_of(task)
    seen, unseen = of.train.explicit().codes, of.test.explicit().codes
    unseen = unseen[np.linspace(0, len(unseen) - 1, min(most, len(unseen))).astype(int)]
    drawn = outputs_of(ensemble, of, np.concatenate([seen, unseen])).flatten(2).double().cpu().numpy()
    predicted = predictions(of, seen, unseen, depth)
    energy = of.blank_error * of.side**2
    rows = []
    for member, pictures in zip(ensemble.members, drawn, strict=True):
        known, asked = pictures[: len(seen)], pictures[len(seen) :]
        kept = np.square(asked).sum(1) > BLANK * energy
        row: dict[str, object] = {"member": member, "combinations": int(kept.sum())}
        if kept.any():
            row |= {
                "nonnegative": float(np.mean([share(known, o) for o in asked[kept]])),
                "signed": float(np.mean(signed_share(known, asked[kept]))),
                "correlation": float(np.corrcoef(asked[kept].ravel(), predicted[kept].ravel())[0, 1]),
                "explained": float(1 - np.square(asked - predicted)[kept].sum() / _spread(asked[kept])),
            }
        rows.append(row)
    floats = dict.fromkeys(["nonnegative", "signed", "correlation", "explained"], pl.Float64)
    return pl.DataFrame(rows, schema={"member": pl.Int32, "combinations": pl.Int32, **floats})


def share(known: FloatArray, picture: FloatArray) -> float:
    """1 − min_{a ≥ 0} ‖picture − aᵀ known‖² / ‖picture‖²."""
    from scipy.optimize import nnls

    _, left = nnls(known.T, picture)
    return float(1 - left**2 / np.square(picture).sum())


def signed_share(known: FloatArray, pictures: FloatArray) -> FloatArray:
    """The share of each picture's energy in the span of the known ones; directions below 1 % of the first are noise."""
    _, values, basis = np.linalg.svd(known, full_matrices=False)
    basis = basis[values > 0.01 * values[0]]
    return np.asarray(np.square(pictures @ basis.T).sum(1) / np.square(pictures).sum(1))


def predictions(task: Task, seen: Points, unseen: Points, depth: int = DEPTH) -> FloatArray:
    """Pictures (unseen × pixels) that regression with the wide network's tangent kernel draws; stripes are trained
    too."""
    of = pictures_of(task)
    train = torch.cat([torch.as_tensor(np.array(seen)).double(), _distinct(of.stripe_points()).double()])
    asked = torch.as_tensor(np.array(unseen)).double()
    codes = of.codes(torch.cat([train, asked])).numpy()
    targets = of.signal(of.pictures(train)).flatten(1).numpy()
    return regress(wide_tangent_kernel(codes, depth), targets)


def regress(kernel: FloatArray, targets: FloatArray) -> FloatArray:
    """K_* (K + ε tr K / n)⁻¹ Y: targets belong to the first rows of the kernel, predictions to the others."""
    count = len(targets)
    gram = kernel[:count, :count]
    ridge = RIDGE * np.trace(gram) / count
    return np.asarray(kernel[count:, :count] @ np.linalg.solve(gram + ridge * np.eye(count), targets))


def _distinct(points: torch.Tensor) -> torch.Tensor:
    return torch.unique(points, dim=0) if len(points) else points


def _spread(values: FloatArray) -> float:
    return float(np.square(values - values.mean()).sum())
