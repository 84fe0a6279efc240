"""Where each parameter lies in a member's flat row.

All parameters of a member are one row of a (members × numbers) matrix, so that an optimiser step is a few operations
on one tensor whatever the architecture, and saving a stack is saving a tensor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from recombine.errors import InputError

ALIGN = 8
"""Each parameter starts at a multiple of this many numbers, so that matrix kernels can load it in wide words."""


@dataclass(frozen=True)
class Slot:
    """One parameter: its name, shape and place in the row."""

    name: str
    shape: tuple[int, ...]
    start: int
    stop: int


@dataclass(frozen=True)
class Layout:
    """The places of all parameters of a module, or of the unit tensors of a mask."""

    slots: tuple[Slot, ...]
    width: int

    @classmethod
    def of(cls, module: nn.Module) -> Layout:
        parameters = dict(module.named_parameters())
        dtypes = {parameter.dtype for parameter in parameters.values()}
        if not parameters:
            raise InputError("this model has no parameters to train.")
        if len(dtypes) > 1:
            raise InputError(f"all parameters of a model must have one dtype, this one has {sorted(map(str, dtypes))}.")
        return cls.of_shapes({name: tuple(parameter.shape) for name, parameter in parameters.items()})

    @classmethod
    def of_shapes(cls, shapes: Mapping[str, tuple[int, ...]]) -> Layout:
        """Tensors of these shapes, one after the other."""
        slots, start = [], 0
        for name, shape in shapes.items():
            stop = start + math.prod(shape)
            slots.append(Slot(name, shape, start, stop))
            start = -(-stop // ALIGN) * ALIGN
        return cls(tuple(slots), start)

    def split(self, flat: Tensor) -> dict[str, Tensor]:
        """Named views of rows (… × width)."""
        lead = flat.shape[:-1]
        return {s.name: flat[..., s.start : s.stop].view((*lead, *s.shape)) for s in self.slots}

    def row(self, tensors: dict[str, Tensor], dtype: torch.dtype) -> Tensor:
        """One member's row from its named parameters."""
        row = torch.zeros(self.width, dtype=dtype)
        for slot in self.slots:
            row[slot.start : slot.stop] = tensors[slot.name].detach().reshape(-1).to(row)
        return row

    def join(self, tensors: dict[str, Tensor], lead: tuple[int, ...]) -> Tensor:
        """Stacked gradients as one matrix, padding included."""
        parts: list[Tensor] = []
        at = 0
        for slot in self.slots:
            if slot.start > at:
                parts.append(tensors[slot.name].new_zeros(*lead, slot.start - at))
            parts.append(tensors[slot.name].reshape(*lead, -1))
            at = slot.stop
        if self.width > at:
            parts.append(parts[-1].new_zeros(*lead, self.width - at))
        return torch.cat(parts, dim=-1)
