"""How much of a representation's similarity is due to each order of conjunction: saliences of real networks.

κ_k = E⟨φ(x), φ(x′)⟩ over pairs of combinations that share k components; s_k = κ_k − Σ_{j<k} C(k,j) s_j; S(k;C) =
s_k / (κ_C − κ_0) (Lippl & Stachenfeld 2025, Def. 3.1 and App. B.1). Examples of each combination are dealt into groups
and a similarity is taken between the means of different groups, so no example ever meets itself: the estimate is
unbiased, where the authors' includes self-pairs. Where a combination has only one example (symbolic codes), that
example is the combination.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import vmap

from recombine.errors import InputError, unknown
from recombine.kernels import count_saliences
from recombine.measures.listed import Listed, listed
from recombine.models.called import call_with
from recombine.models.slopes import grad
from recombine.tasks import Draws, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

FloatArray = NDArray[np.float64]

GROUPS = 4
TANGENT = "tangent"
TANGENT_BYTES = 2**28
"""What the gradients of the members measured at once may take."""


def salience(ensemble: Ensemble, task: Task, layers: Listed, count: int = 16, seed: int = 0) -> pl.DataFrame:
    """Similarities κ_k and saliences S(k;C), k = 0 … C, of a layer's features; one row per member, layer and k.

    ``layers`` names submodules; ``"tangent"`` is the empirical neural tangent kernel (the Gram matrix of the output's
    gradients by the parameters). ``violation`` says how far the representation is from "similarity depends on the
    number of shared components only": the spread of similarities within a number of shared components, root mean
    square over k, as a share of κ_C − κ_0. It is taken between independent groups, so noise does not add to it. A
    ``count`` of 1 says that a combination has only one example."""
    import polars as pl

    codes = (task.train | task.test).explicit().codes
    inputs = _inputs(ensemble, task, codes, count, seed)
    shared = (codes[:, None, :] == codes[None, :, :]).sum(axis=-1)
    rows = []
    for layer in listed(layers):
        means = _tangents(ensemble, inputs) if layer == TANGENT else _features(ensemble, layer, inputs)
        for member, groups in zip(ensemble.members, means, strict=True):
            kappa, violation = similarities(groups, shared)
            saliences = normalized(kappa)
            rows += [
                {
                    "member": member, "layer": layer, "shared": k, "similarity": float(kappa[k]),
                    "salience": float(saliences[k - 1]) if k else None, "violation": violation,
                }
                for k in range(len(kappa))
            ]  # fmt: skip
    return pl.DataFrame(
        rows,
        schema={
            "member": pl.Int32, "layer": pl.String, "shared": pl.Int32, "similarity": pl.Float64,
            "salience": pl.Float64, "violation": pl.Float64,
        },
    )  # fmt: skip


def similarities(groups: Tensor, shared: NDArray[Any]) -> tuple[FloatArray, float]:
    """κ_0 … κ_C and the violation score, from mean features (4 groups, or 1, × combinations × features)."""
    wide = groups.double()
    if len(wide) == 1:
        gram = one = other = (wide[0] @ wide[0].T).cpu().numpy()
    else:
        gram = (wide[0::2].mean(0) @ wide[1::2].mean(0).T).cpu().numpy()
        one, other = ((wide[a] @ wide[b].T).cpu().numpy() for a, b in ((0, 1), (2, 3)))
    kappa = np.zeros(int(shared.max()) + 1)
    within = []
    for k in range(len(kappa)):
        pairs = shared == k
        if not pairs.any():
            raise InputError(f"no two combinations share {k} components, so their similarity cannot be measured.")
        kappa[k] = gram[pairs].mean()
        within.append(((one[pairs] - one[pairs].mean()) * (other[pairs] - other[pairs].mean())).mean())
    spread = kappa[-1] - kappa[0]
    violation = np.sqrt(max(0.0, float(np.mean(within)))) / spread if spread > 0 else float("nan")
    return kappa, float(violation)


def normalized(kappa: FloatArray) -> FloatArray:
    """S(1;C) … S(C;C) from κ_0 … κ_C; not numbers where identical combinations are no more alike than distinct ones."""
    spread = kappa[-1] - kappa[0]
    if not spread > 0:
        return np.full(len(kappa) - 1, np.nan)
    return np.asarray(count_saliences(kappa)[1:] / spread)


def _inputs(ensemble: Ensemble, task: Task, codes: Any, count: int, seed: int) -> Tensor:
    """Inputs (groups × each × combinations × …). A count of 1 says that a combination has only one example."""
    groups, each = (1, 1) if count == 1 else (GROUPS, -(-count // GROUPS))
    device = ensemble.device
    points = torch.as_tensor(codes.copy()).to(device).repeat(groups * each, 1)
    inputs, _ = task.examples(points, Draws.single(seed, "salience", device))
    if not isinstance(inputs, Tensor):
        raise InputError("salience is measured on models with one input tensor.")
    cast: Tensor = inputs.to(ensemble.flat.dtype) if inputs.is_floating_point() else inputs
    return cast.reshape(groups, each, len(codes), *inputs.shape[1:])


def _features(ensemble: Ensemble, layer: str, inputs: Tensor) -> Iterator[Tensor]:
    """For each member, the mean features of a layer (groups × combinations × features)."""
    parts: dict[str, nn.Module] = dict(ensemble.module.named_modules())
    if layer not in parts or not layer:
        raise unknown("layer", layer, [name for name in parts if name] + [TANGENT])
    caught: list[Tensor] = []

    def tapped(model: Callable[..., Tensor], x: Tensor) -> Tensor:
        caught.clear()
        model(x)
        return caught[-1]

    hook = parts[layer].register_forward_hook(lambda _module, _inputs, output: caught.append(output))
    try:
        with torch.no_grad():
            # One example of every combination at a time: the features of all of them may not fit.
            groups = [
                torch.stack([ensemble.map(tapped, part).flatten(2) for part in group]).mean(0) for group in inputs
            ]
    finally:
        hook.remove()
    yield from torch.stack(groups, dim=1)


def _tangents(ensemble: Ensemble, inputs: Tensor) -> Iterator[Tensor]:
    """For each member, the mean gradients of the output (groups × combinations × parameters)."""
    module = ensemble.module.eval()

    def output(parameters: dict[str, Tensor], buffers: dict[str, Tensor], one: Tensor) -> Tensor:
        return call_with(module, (parameters, buffers), (one[None],)).sum()  # type: ignore[no-any-return]

    slopes = vmap(vmap(grad(output), in_dims=(None, None, 0)), in_dims=(0, 0, None))
    each = ensemble.layout.width * inputs.shape[2] * ensemble.flat.element_size()
    size = 1 if ensemble.looped else max(1, TANGENT_BYTES // each)
    for start in range(0, len(ensemble), size):
        chunk = slice(start, start + size)
        parameters = {name: value[chunk] for name, value in ensemble.parameters.items()}
        buffers = {name: value[chunk] for name, value in ensemble.buffers.items()}
        groups = []
        for group in inputs:
            rows = [[s.flatten(2) for s in slopes(parameters, buffers, part).values()] for part in group]
            groups.append(torch.stack([torch.cat(row, dim=2) for row in rows]).mean(0))
        yield from torch.stack(groups, dim=1).detach()
