"""What the program of a perceptron's training depends on, and how its layers are cut into blocks."""

from __future__ import annotations

from dataclasses import dataclass

TILE = 16
"""The narrowest tile that ``tl.dot`` multiplies."""
WIDEST = 128
FEW_UNITS = 4
"""So many units beside the tiles of a layer are blocks of their own; more fill a tile."""


@dataclass(frozen=True)
class Layer:
    """A linear map and what follows it; ``weight`` and ``bias`` are places in a member's row."""

    inputs: int
    outputs: int
    weight: int
    bias: int | None
    activation: str = "none"


@dataclass(frozen=True)
class Program:
    """All that the source depends on."""

    layers: tuple[Layer, ...]
    row: int
    """Numbers in a member's row."""
    batch: int
    loss: str
    rule: str
    """sgd, adam or adamw."""
    numbers: tuple[float, ...]
    """Momentum, and 1 with Nesterov's; or Adam's two betas and its eps."""
    decay: bool = False
    penalty: bool = False
    stops: bool = False
    shared: bool = False
    """Whether one batch is for all members and steps."""
    by_row: bool = False
    """Whether a batch is given by the rows of one set, rather than in full."""
    resident: bool = False
    precision: str = "ieee"

    @property
    def examples(self) -> int:
        return max(TILE, power_of_two(self.batch))

    @property
    def state(self) -> tuple[str, ...]:
        if self.rule != "sgd":
            return ("mean", "square")
        return ("velocity",) if self.numbers[0] else ()


@dataclass(frozen=True)
class Block:
    """Units ``start`` … of a layer ``of`` so many; a tile of ``size`` units, the last of which may be filling."""

    start: int
    size: int
    of: int

    @property
    def filled(self) -> bool:
        return self.start + self.size > self.of


def power_of_two(number: int) -> int:
    return 1 << max(number - 1, 0).bit_length()


def blocks(units: int) -> tuple[Block, ...]:
    """How a layer is cut: whole tiles, then what is left over in a smaller tile or unit by unit."""
    found: list[Block] = []
    at = 0
    while at < units:
        left = units - at
        if left <= FEW_UNITS:
            size = 1
        elif left >= TILE:
            size = min(WIDEST, power_of_two(left + 1) // 2)
            # One filled tile instead of several ever smaller ones.
            size = min(WIDEST, 2 * size) if left > 1.25 * size else size
        else:
            size = TILE
        found.append(Block(at, size, units))
        at += size
    return tuple(found)
