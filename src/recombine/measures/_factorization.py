"""Does a representation keep its factors apart? Scores of the kernel K[(x,y),(x′,y′)] over a grid of two factors.

multiplicative  σ₁²/Σσ² of K rearranged to M[(x,x′),(y,y′)] (Van Loan and Pitsianis 1993): 1 where K = k_x ⊗ k_y
additive        share of the activations' variance that a_x + b_y explains (two-way ANOVA): 1 where A = a_x + b_y
combined        the best R² of K against φ(k_x, k_y), φ one of sum, product, min (AND), max (OR)

The paper names a “generalised factorization metric” without defining it anywhere that can be reached; these are ours.
The background (the median over the grid) is removed first: on inverted pictures every score would otherwise be near 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from recombine.errors import InputError
from recombine.measures._geometry import kernel_of, metric, orthogonality, released_score
from recombine.measures._rendering import pictures_of
from recombine.measures.activations import activations
from recombine.measures.listed import Listed, listed
from recombine.measures.tangent import tangent_kernel
from recombine.tasks import BumpTask, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

FloatArray = NDArray[np.float64]

TANGENT = "tangent"
POWER_STEPS = 60
FLAT = 1e-12


def factorization(
    ensemble: Ensemble,
    task: Task,
    layers: Listed = ("input", "output"),
    where: Listed = "all",
    tangent_levels: int = 8,
) -> pl.DataFrame:
    """Every score of every layer; one row per member and layer.

    ``layers`` are names: submodules, "input", "output", "tangent" (the tangent kernel) and
    "tangent:part" (of the parameters whose names start so), on a grid thinned to ``tangent_levels`` levels a factor.
    ``where`` is "all", "seen" or both: "seen" looks only at a grid of training combinations (the levels of
    x that are seen with every y), so that nothing unseen enters the score. ``released`` is the score of the authors'
    code, confined to [½, 1]; ``rescaled`` is 2·released − 1; ``orthogonality`` 1 − mean |cos| between the tangents."""
    import polars as pl

    of = pictures_of(task)
    names = listed(layers)
    rows: list[dict[str, object]] = []
    for place in listed(where):
        grid = grid_levels(of, place)
        for member in ensemble.members:
            about = {"member": member, "where": place}
            found = _layers(ensemble, of, member, [n for n in names if not n.startswith(TANGENT)], grid)
            thin = [_thinned(levels, tangent_levels) for levels in grid]
            for name in (n for n in names if n.startswith(TANGENT)):
                found[name] = _tangent(ensemble, of, member, name.partition(":")[2], *thin)
            rows += [about | {"layer": name, **scores} for name, scores in found.items()]
    floats = ("multiplicative", "additive", "combined", "released", "rescaled", "orthogonality")
    texts = dict.fromkeys(("layer", "where", "combiner"), pl.String)
    return pl.DataFrame(rows, schema={"member": pl.Int32, **texts, **dict.fromkeys(floats, pl.Float64)})


def _layers(
    ensemble: Ensemble, task: BumpTask, member: int, names: list[str], grid: tuple[list[int], list[int]]
) -> dict[str, dict[str, object]]:
    found = {}
    xs, ys = len(grid[0]), len(grid[1])
    for name, acts in activations(ensemble, member, task.codes(_points(grid, ensemble.device)), names).items():
        kernel = kernel_of(acts - acts.median(0).values, xs, ys)
        tensor = metric(kernel)
        released = released_score(tensor)
        found[name] = {
            "multiplicative": multiplicative(kernel), "additive": additive(kernel), **_named(kernel),
            "released": released, "rescaled": 2 * released - 1, "orthogonality": orthogonality(tensor),
        }  # fmt: skip
    return found


def _tangent(
    ensemble: Ensemble, task: BumpTask, member: int, part: str, xs: list[int], ys: list[int]
) -> dict[str, object]:
    inputs = task.codes(_points((xs, ys), ensemble.device))
    kernel = tangent_kernel(ensemble, member, inputs, part).reshape(len(xs), len(ys), len(xs), len(ys))
    return {"multiplicative": multiplicative(kernel), **_named(kernel)}


def _points(grid: tuple[list[int], list[int]], device: torch.device) -> torch.Tensor:
    return torch.tensor([[x, y] for x in grid[0] for y in grid[1]], device=device)


def multiplicative(kernel: FloatArray) -> float:
    """σ₁²/Σσ² of M[(x,x′),(y,y′)] for a kernel (x × y × x′ × y′); 1 for a product of two kernels."""
    xs, ys = kernel.shape[:2]
    rearranged = kernel.transpose(0, 2, 1, 3).reshape(xs * xs, ys * ys)
    total = float(np.square(rearranged).sum())
    if total == 0:
        return float("nan")
    vector = rearranged.sum(0) + 1e-3 * np.abs(rearranged).sum(0)
    for _ in range(POWER_STEPS):
        vector = rearranged.T @ (rearranged @ vector)
        vector /= np.linalg.norm(vector) or 1.0
    return float(np.square(rearranged @ vector).sum() / total)


def additive(kernel: FloatArray) -> float:
    """(SS_x + SS_y) / SS of the activations about their mean, read off their kernel (x × y × x′ × y′)."""
    xs, ys = kernel.shape[:2]
    size = xs * ys
    flat = kernel.reshape(size, size)
    centred = flat - flat.mean(0) - flat.mean(1)[:, None] + flat.mean()
    total = float(np.trace(centred))
    if total <= FLAT * float(np.trace(flat)):
        return float("nan")
    table = centred.reshape(kernel.shape)
    explained = np.einsum("xyxz->", table) / ys + np.einsum("xyzy->", table) / xs
    return float(explained / total)


COMBINERS = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}


def combined(kernel: FloatArray) -> dict[str, float]:
    """R² of the kernel on each φ(k_x, k_y), up to scale and offset. k_x is read where y = y′ (for max: at its
    least)."""
    xs, ys = kernel.shape[:2]
    same_y = np.einsum("ayby->ab", kernel) / ys
    same_x = np.einsum("xaxb->ab", kernel) / xs
    least_x, least_y = kernel.min((1, 3)), kernel.min((0, 2))
    found = {}
    for name, combine in COMBINERS.items():
        k_x, k_y = (least_x, least_y) if name == "max" else (_unit(same_y), _unit(same_x))
        guess = combine(k_x[:, None, :, None], k_y[None, :, None, :])
        found[name] = _r_squared(kernel, guess)
    return found


def grid_levels(task: BumpTask, where: str = "all") -> tuple[list[int], list[int]]:
    """The levels of x and of y whose grid is looked at."""
    if where not in ("all", "seen"):
        raise InputError(f"scores look at 'all' combinations or at 'seen' ones, not {where!r}.")
    ys = list(range(task.side))
    if where == "all":
        return ys, ys
    seen = task.train.contains(task.space.grid()).reshape(task.side, task.side)
    xs: list[int] = np.flatnonzero(seen.all(1)).tolist()
    if len(xs) < 3:
        raise InputError("no three levels of x are seen with every level of y, so no grid of seen ones can be made.")
    return xs, ys


def _thinned(values: list[int], most: int) -> list[int]:
    if not 0 < most < len(values):
        return values
    return [values[i] for i in np.linspace(0, len(values) - 1, most).round().astype(int)]


def _named(kernel: FloatArray) -> dict[str, object]:
    found = combined(kernel)
    best = max(found, key=lambda name: found[name])
    return {"combined": found[best], "combiner": best}


def _unit(kernel: FloatArray) -> FloatArray:
    """A factor's own kernel, 1 on the diagonal on average, so that two of them can be compared by min and max."""
    scale = float(np.diag(kernel).mean())
    return kernel / scale if scale > 0 else kernel


def _r_squared(values: FloatArray, guess: FloatArray) -> float:
    a, b = values.ravel() - values.mean(), guess.ravel() - guess.mean()
    spread = float(a @ a) * float(b @ b)
    return float((a @ b) ** 2 / spread) if spread > 0 else 0.0
