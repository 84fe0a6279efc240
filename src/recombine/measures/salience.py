"""How much of a representation's similarity is due to each order of conjunction: saliences of real networks.

κ_k = E⟨φ(x), φ(x′)⟩ over pairs of combinations that share k components; s_k = κ_k − Σ_{j<k} C(k,j) s_j; S(k;C) =
s_k / (κ_C − κ_0) (Lippl & Stachenfeld 2025, Def. 3.1 and App. B.1). Examples of each combination are dealt into groups
and a similarity is taken between the means of different groups, so no example ever meets itself: the estimate is
unbiased, where the authors' includes self-pairs. Where a combination has only one example (symbolic codes), that
example is the combination.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from recombine.errors import InputError, unknown
from recombine.kernels import count_saliences
from recombine.tasks import Draws, Task
from recombine.training import Ensemble

if TYPE_CHECKING:
    import polars as pl

FloatArray = NDArray[np.float64]

GROUPS = 4
TANGENT = "tangent"


def salience(ensemble: Ensemble, task: Task, layer: str, count: int = 16, seed: int = 0) -> pl.DataFrame:
    """Similarities κ_k and saliences S(k;C), k = 0 … C, of a layer's features; one row a member and k.

    ``layer`` is the name of a submodule, or ``"tangent"`` for the empirical neural tangent kernel (the Gram matrix of
    the output's gradients by the parameters). ``violation`` says how far the representation is from "similarity depends
    on the number of shared components only": the spread of similarities within a number of shared components, root
    mean square over k, as a share of κ_C − κ_0. It is taken between independent groups, so noise does not add to it."""
    import polars as pl

    codes = (task.train | task.test).explicit().codes
    inputs = _inputs(ensemble, task, codes, count, seed)
    means = _tangents(ensemble, inputs) if layer == TANGENT else _features(ensemble, layer, inputs)
    shared = (codes[:, None, :] == codes[None, :, :]).sum(axis=-1)
    rows = []
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


def similarities(groups: FloatArray, shared: NDArray[Any]) -> tuple[FloatArray, float]:
    """κ_0 … κ_C and the violation score, from mean features (4 groups × combinations × features)."""
    first, second = groups[0::2].mean(axis=0), groups[1::2].mean(axis=0)
    gram = first @ second.T
    one, other = groups[0] @ groups[1].T, groups[2] @ groups[3].T
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
    inputs = inputs.to(ensemble.flat.dtype) if inputs.is_floating_point() else inputs
    return inputs.unflatten(0, (groups, each, len(codes)))


def _means(inputs: Tensor, of: Callable[[Tensor], Tensor]) -> FloatArray:
    """Mean features (members × 4 groups × combinations × features) of ``of`` applied to one example a combination."""
    groups = []
    for group in inputs:
        total = sum(of(part).detach().flatten(2).double() for part in group)
        assert isinstance(total, Tensor)
        groups.append((total / len(group)).cpu())
    found: FloatArray = torch.stack(groups * (GROUPS // len(groups)), dim=1).numpy()
    return found


def _features(ensemble: Ensemble, layer: str, inputs: Tensor) -> FloatArray:
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
            return _means(inputs, lambda x: ensemble.map(tapped, x))
    finally:
        hook.remove()


def _tangents(ensemble: Ensemble, inputs: Tensor) -> FloatArray:
    module = ensemble.module.eval()

    def slopes(x: Tensor) -> Tensor:
        rows = []
        for i in range(len(ensemble)):
            parameters = {name: value[i] for name, value in ensemble.parameters.items()}
            buffers = {name: value[i] for name, value in ensemble.buffers.items()}

            def output(values: dict[str, Tensor], one: Tensor, buffers: dict[str, Tensor] = buffers) -> Tensor:
                return functional_call(module, (values, buffers), (one[None],)).sum()  # type: ignore[no-any-return]

            by_name = vmap(grad(output), in_dims=(None, 0))(parameters, x)
            rows.append(torch.cat([slope.flatten(1) for slope in by_name.values()], dim=1).cpu())
        return torch.stack(rows)

    return _means(inputs, slopes)
