"""Derivatives of a composition at given components.

A composition may be any code. One that acts within cells (declared, and tried out) is differentiated by as many passes
as a cell has outputs; any other by whole Jacobians. Where it has ``blocks``, the closed form is used.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from recombine.errors import InputError

Compose = Callable[[Tensor], Tensor]
"""Components (… × K × cells × channels) → (… × cells × out)."""

LARGEST_DENSE = 4096**2
"""The most entries of a whole Jacobian: a component of 4 096 numbers."""
PROBED = 8
"""Cells at which a composition that is declared cell-wise is tried out."""


def derivative_blocks(composition: Compose, components: Tensor) -> Tensor:
    """dC/dφ_k in every cell, (… × K × cells × out × channels): in closed form where there is one, else by autograd."""
    closed = getattr(composition, "blocks", None)
    if closed is not None:
        made: Tensor = closed(components)
        return made
    inputs = components.detach().requires_grad_()
    output = composition(inputs)
    if output.shape[-2] != components.shape[-2]:
        raise InputError(
            f"a cell-wise composition has as many cells as its components ({components.shape[-2]}), got "
            f"{tuple(output.shape)}; pass cellwise=False."
        )
    _probe(output, inputs)
    rows = [_slope(output[..., o].sum(), inputs) for o in range(output.shape[-1])]
    return torch.stack(rows, dim=-2)


def jacobians(composition: Compose, components: Tensor, component: int) -> Tensor:
    """Whole Jacobians dC/dφ_k, (points × outputs × M), for components (points × K × cells × channels)."""
    size = components[0, component].numel()
    outputs = composition(components[:1])[0].numel()
    if size * outputs > LARGEST_DENSE:
        raise InputError(
            f"a Jacobian of {outputs:,} × {size:,} is too large to write down; use fewer cells, or a cell-wise C."
        )
    found = []
    for parts in components:

        def of(mine: Tensor, parts: Tensor = parts) -> Tensor:
            return composition(torch.cat([parts[:component], mine[None], parts[component + 1 :]])[None]).flatten()

        made: Tensor = torch.autograd.functional.jacobian(of, parts[component])
        found.append(made.reshape(outputs, size))
    return torch.stack(found)


def _slope(scalar: Tensor, inputs: Tensor) -> Tensor:
    if not scalar.requires_grad:
        return torch.zeros_like(inputs)
    (slope,) = torch.autograd.grad(scalar, inputs, retain_graph=True, allow_unused=True)
    return torch.zeros_like(inputs) if slope is None else slope


def _probe(output: Tensor, inputs: Tensor) -> None:
    """An error if some cell of the picture depends on another cell of a component."""
    cells = inputs.shape[-2]
    for cell in np.unique(np.linspace(0, cells - 1, min(PROBED, cells)).astype(int)):
        slope = _slope(output[..., cell, :].sum(), inputs).abs().sum(-1).flatten(0, -2).sum(0)
        if slope.sum() - slope[cell] > 0:
            raise InputError(
                f"this composition is not cell-wise: cell {cell} of its picture depends on other cells of the "
                "components; pass cellwise=False."
            )
