"""The geometry of a layer over the plane of two factors: g_ab = ⟨∂_a A, ∂_b A⟩, its volume √det g and its angle.

By finite differences on the grid, as the authors do, for any code; and by the Jacobian, exactly, where the code has
values between its places. Their score F = 1 − mean|g_xy| / mean(g_xx + g_yy) cannot fall below ½, since |g_xy| ≤ (g_xx
+ g_yy)/2.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recombine.errors import InputError
from recombine.measures._rendering import pictures_of
from recombine.measures.activations import activations
from recombine.measures.listed import Listed, listed
from recombine.tasks import Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

FloatArray = NDArray[np.float64]

SMALLEST = 1e-12


def geometry(ensemble: Ensemble, task: Task, layers: Listed = "output", method: str = "differences") -> pl.DataFrame:
    """One row per member, layer and place: ``volume`` = √det g and ``cosine`` of the angle between the tangents.

    ``method`` is "differences" or "jacobian"; the latter is exact, for the output only and a smooth code."""
    import polars as pl

    of = pictures_of(task)
    side = of.side
    points = torch.tensor([[x, y] for x in range(side) for y in range(side)], device=ensemble.device)
    names = listed(layers)
    seen = of.train.contains(points.cpu().numpy())
    frames = []
    for member in ensemble.members:
        if method == "jacobian":
            tensors = {"output": jacobian_metric(ensemble, task, member, points.double())}
        else:
            acts = activations(ensemble, member, of.codes(points), names)
            tensors = {name: metric(kernel_of(acts[name], side, side)) for name in names}
        frames += [
            pl.DataFrame(
                {
                    "member": np.full(side**2, member, dtype=np.int32), "layer": [name] * side**2,
                    "x": points[:, 0].cpu().numpy(), "y": points[:, 1].cpu().numpy(), "seen": seen,
                    "volume": volume(tensor).ravel(), "cosine": cosine(tensor).ravel(),
                }
            )
            for name, tensor in tensors.items()
        ]  # fmt: skip
    return pl.concat(frames)


def kernel_of(activations: Tensor, xs: int, ys: int) -> FloatArray:
    """⟨A(x, y), A(x′, y′)⟩ (x × y × x′ × y′) of activations (xs·ys × numbers)."""
    return np.asarray((activations @ activations.T).reshape(xs, ys, xs, ys).cpu().numpy())


def metric(kernel: FloatArray) -> FloatArray:
    """g (x × y × 2 × 2) by central differences: ⟨∂_a A, ∂_b A⟩ is the kernel differentiated once on each side."""
    tensor = np.empty((*kernel.shape[:2], 2, 2))
    for a in range(2):
        slope = np.gradient(kernel, axis=a)
        for b in range(2):
            tensor[..., a, b] = np.einsum("xyxy->xy", np.gradient(slope, axis=2 + b))
    return tensor


def jacobian_metric(ensemble: Ensemble, task: Task, member: int, points: Tensor) -> FloatArray:
    """g (side × side × 2 × 2) of the output at the places of the grid, by forward differentiation through the code."""
    of = pictures_of(task)
    if not of.encoding.smooth:
        raise InputError("a one-hot code has no derivative; use method='differences'.")
    one = ensemble.select([member])

    def slopes(model: object, at: Tensor) -> Tensor:
        def picture(point: Tensor) -> Tensor:
            return model(of.codes(point[None]))[0].reshape(-1)  # type: ignore[operator, no-any-return]

        found: Tensor = torch.func.vmap(torch.func.jacfwd(picture), chunk_size=256)(at)
        return found

    with torch.no_grad(), warnings.catch_warnings():
        # torch compiles its forward derivatives with a tool that it calls deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        found = one.map(slopes, points.to(ensemble.flat))[0].double().cpu().numpy()
    return np.asarray(np.einsum("pna,pnb->pab", found, found).reshape(of.side, of.side, 2, 2))


def volume(tensor: FloatArray) -> FloatArray:
    """√det g."""
    return np.sqrt(np.maximum(tensor[..., 0, 0] * tensor[..., 1, 1] - tensor[..., 0, 1] ** 2, 0.0))


def cosine(tensor: FloatArray) -> FloatArray:
    """g_xy / √(g_xx g_yy); 0 where a tangent vanishes."""
    length = np.sqrt(tensor[..., 0, 0] * tensor[..., 1, 1])
    return np.divide(tensor[..., 0, 1], length, out=np.zeros_like(length), where=length > SMALLEST)


def orthogonality(tensor: FloatArray) -> float:
    """1 − mean |cos| of the angle between the tangents."""
    return float(1 - np.abs(cosine(tensor)).mean())


def released_score(tensor: FloatArray) -> float:
    """The authors' F, in [½, 1]."""
    total = float((tensor[..., 0, 0] + tensor[..., 1, 1]).mean())
    return float(1 - np.abs(tensor[..., 0, 1]).mean() / total) if total > 0 else float("nan")
