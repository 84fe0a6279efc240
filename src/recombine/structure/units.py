"""What is kept or removed as one: from the numbers of a mask to the weights they cover."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from recombine.errors import InputError
from recombine.structure.choose import Choice, Weight, chosen


@dataclass(frozen=True)
class Part:
    """One masked parameter: unit numbers seen as ``view`` and spread over ``inner`` are the mask of its ``shape``."""

    parameter: str
    units: str
    shape: tuple[int, ...]
    view: tuple[int, ...]
    inner: tuple[int, ...]

    def spread(self, numbers: Tensor) -> Tensor:
        """The mask of the whole parameter from its units' numbers."""
        return numbers.reshape(self.view).expand(self.inner).reshape(self.shape)

    def times(self, weight: Tensor, numbers: Tensor) -> Tensor:
        """The parameter times its mask, without writing the mask out."""
        if self.view == self.shape:
            return weight * numbers.reshape(self.shape)
        return (weight.reshape(self.inner) * numbers.reshape(self.view)).reshape(self.shape)


@dataclass(frozen=True)
class Units:
    """All masked parameters of a model, the unit tensors behind them, and the weights that one unit covers."""

    parts: tuple[Part, ...]
    shapes: Mapping[str, tuple[int, ...]]
    covers: Mapping[str, int]

    @property
    def weights(self) -> int:
        """How many weights are masked."""
        return sum(math.prod(part.shape) for part in self.parts)


def units_of(model: nn.Module, choice: Choice) -> Units:
    """The units of the weights that ``choice`` picks."""
    weights = chosen(model, choice)
    make = _head_parts if choice.unit == "head" else _block_parts if choice.unit == "block" else _single_parts
    parts = make(weights, choice)
    shapes: dict[str, tuple[int, ...]] = {}
    covers: dict[str, int] = {}
    for part in parts:
        shape = tuple(size for size in part.view if size > 1) if part.view != part.shape else part.shape
        if shapes.setdefault(part.units, shape) != shape:
            raise InputError(f"{part.parameter!r} has other units than the rest of {part.units!r}.")
        covers[part.units] = covers.get(part.units, 0) + math.prod(part.shape) // math.prod(shape)
    return Units(tuple(parts), shapes, covers)


def _single_parts(weights: Mapping[str, Weight], choice: Choice) -> list[Part]:
    parts = []
    for name, weight in weights.items():
        shape = tuple(weight.parameter.shape)
        if choice.unit in ("weight", "gain"):
            view = shape
        elif choice.unit == "column":
            _needs_matrix(name, shape, choice)
            view = (1, shape[1], *(1 for _ in shape[2:]))
        else:
            _needs_matrix(name, shape, choice)
            view = (shape[0], *(1 for _ in shape[1:]))
        parts.append(Part(name, name, shape, view, shape))
    return parts


def _block_parts(weights: Mapping[str, Weight], choice: Choice) -> list[Part]:
    parts = []
    for name, weight in weights.items():
        shape = tuple(weight.parameter.shape)
        parts.append(Part(name, _block(name, choice), shape, tuple(1 for _ in shape), shape))
    return parts


def _head_parts(weights: Mapping[str, Weight], choice: Choice) -> list[Part]:
    if choice.heads is None or choice.columns is None:
        raise InputError("masks of attention heads need heads=, blocks= and columns= (see Choice).")
    heads = choice.heads
    inner: dict[str, int] = {}
    for name, weight in weights.items():
        if re.search(choice.columns, name):
            inner[_block(name, choice)] = weight.parameter.shape[1]
    parts = []
    for name, weight in weights.items():
        block, shape = _block(name, choice), tuple(weight.parameter.shape)
        if block not in inner:
            raise InputError(f"columns={choice.columns!r} finds no output projection in {block!r}, where {name!r} is.")
        across = shape[1] if re.search(choice.columns, name) else shape[0]
        copies, rest = divmod(across, inner[block])
        if rest or len(shape) != 2 or inner[block] % heads:
            raise InputError(f"{name!r} of shape {shape} does not divide into {heads} heads.")
        size = inner[block] // heads
        if re.search(choice.columns, name):
            parts.append(Part(name, block, shape, (1, heads, 1), (shape[0], heads, size)))
        else:
            parts.append(Part(name, block, shape, (1, heads, 1, 1), (copies, heads, size, shape[1])))
    return parts


def _block(name: str, choice: Choice) -> str:
    found = re.search(choice.blocks, name) if choice.blocks else None
    if found is None:
        raise InputError(
            f"blocks={choice.blocks!r} does not find the block of {name!r}; give a pattern such as r'layers\\.\\d+', "
            "or leave that parameter out with names=."
        )
    return found.group()


def _needs_matrix(name: str, shape: tuple[int, ...], choice: Choice) -> None:
    if len(shape) < 2:
        raise InputError(f"{name!r} of shape {shape} has no {choice.unit}s; mask it with unit='gain' or 'weight'.")
