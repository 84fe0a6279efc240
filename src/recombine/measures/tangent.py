"""Tangent kernels: of an infinitely wide ReLU network on any inputs, exactly, and of a trained one, by its gradients.

Θ_0 = Σ_0 = xᵀx′/d + b,  Σ_{l+1} = 2 E[relu relu] + b,  Θ_{l+1} = Σ_{l+1} + 2 E[relu′ relu′] Θ_l (Jacot et al. 2018).
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.func import vmap

from recombine.errors import unknown
from recombine.models.called import call_with
from recombine.models.slopes import grad
from recombine.tasks import Draws
from recombine.training import Ensemble

FloatArray = NDArray[np.float64]

BIAS = 0.01


def wide_tangent_kernel(inputs: FloatArray, depth: int, bias: float = BIAS) -> FloatArray:
    """Θ (examples × examples) of ``depth`` hidden ReLU layers; the bias variance keeps a zero input from vanishing."""
    inputs = np.asarray(inputs, dtype=np.float64)
    sigma = inputs @ inputs.T / inputs.shape[1] + bias
    theta = sigma
    for _ in range(depth):
        norms = np.sqrt(np.diag(sigma))
        scale = np.outer(norms, norms)
        angle = np.arccos(np.clip(sigma / scale, -1.0, 1.0))
        slopes = (np.pi - angle) / np.pi
        sigma = scale * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi + bias
        theta = sigma + slopes * theta
    return np.asarray(theta)


def tangent_kernel(
    ensemble: Ensemble, member: int, inputs: Tensor, part: str = "", directions: int = 2, seed: int = 0
) -> FloatArray:
    """The empirical tangent kernel of one member, E_r⟨∇⟨r, f(a)⟩, ∇⟨r, f(b)⟩⟩ over random directions r of its output.

    Its expectation is the trace over outputs of the full kernel, which would need a gradient for every pixel. ``part``
    keeps the parameters whose name starts so: the kernels of all layers add up to that of the network."""
    parameters, buffers = ensemble.parameters, ensemble.buffers
    if not any(name.startswith(part) for name in parameters):
        raise unknown("part of this network", part, parameters)
    at = ensemble.position(member)
    mine = {name: tensor[at] for name, tensor in parameters.items()}
    state = {name: tensor[at] for name, tensor in buffers.items()}
    module = ensemble.module.eval()
    inputs = inputs.to(ensemble.flat)
    with torch.no_grad():
        size = call_with(module, (mine, state), (inputs[:1],)).numel()
    signs = Draws.single(seed, "directions", inputs.device).integers(2, (directions, size)).to(inputs) * 2 - 1
    total = torch.zeros(len(inputs), len(inputs), dtype=torch.float64, device=inputs.device)

    def along(own: dict[str, Tensor], x: Tensor, direction: Tensor) -> Tensor:
        out: Tensor = call_with(module, (own, state), (x[None],)).reshape(-1) @ direction
        return out

    for direction in signs:
        slopes = vmap(grad(along), in_dims=(None, 0, None), chunk_size=64)(mine, inputs, direction)
        for name, slope in slopes.items():
            if name.startswith(part):
                rows = slope.reshape(len(inputs), -1)
                total += (rows @ rows.T).double()
    return np.asarray(total.cpu().numpy() / directions)
