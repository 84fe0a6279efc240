"""Digits side by side, the label from the first: Y = Y₁, X = [X₁ | X₂] (Li et al. 2020, section 5.1).

In training the other digit is redundant, Y₂ ∈ {Y₁, Y₁ + 1} mod 10 (setting A), or says nothing, Y₂ uniform (setting B);
asked for are the other eight offsets. B trains on the very combinations that are asked, so B′ shows noise or nothing in
place of the other digit: neither A nor B′ has seen what is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.space import FactorSpace, categorical
from recombine.support import Explicit
from recombine.tasks.data import PIXELS, load_images
from recombine.tasks.draws import Draws
from recombine.tasks.losses import correct, cross_entropy
from recombine.tasks.task import Task

CLASSES = 10


class DigitPairs(Description, Task):
    """``strength`` is the share of training examples whose other digits are bound to the first by ``offsets``; in the
    rest they are uniform. 1 is setting A, 0 is setting B; ``other="noise"`` or ``"blank"`` is B′.

    The label is Σ_k weights_k · digit_k mod 10, or where ``table`` is given its entry at the digits read as a number.
    Everything measured is asked with images that were never trained on."""

    kind: ClassVar[str] = "digit-pairs"

    source: Literal["digits", "mnist"] = "digits"
    digits: int = Field(default=2, ge=2, le=4)
    offsets: tuple[int, ...] = (0, 1)
    strength: float = Field(default=1.0, ge=0, le=1)
    other: Literal["digit", "noise", "blank"] = "digit"
    weights: tuple[int, ...] = (1,)
    table: tuple[int, ...] | None = None
    loss: Literal["hinge", "cross entropy"] = "hinge"
    """``"hinge"``: max(0, 1 + max_{k≠y} ŷ_k − ŷ_y), the categorical hinge of Keras."""

    def model_post_init(self, _context: Any) -> None:
        left = set(range(CLASSES)) - {offset % CLASSES for offset in self.offsets}
        if not self.offsets or not left:
            raise InputError(f"offsets must leave some of the {CLASSES} to be asked for, got {self.offsets}.")
        if len(self.weights) > self.digits:
            raise InputError(f"{len(self.weights)} weights were given for {self.digits} digits.")
        if self.table is not None and (
            len(self.table) != CLASSES**self.digits or not set(self.table) <= set(range(CLASSES))
        ):
            raise InputError(f"a label table has {CLASSES**self.digits} entries from 0 to {CLASSES - 1}.")

    @cached_property
    def space(self) -> FactorSpace:
        return FactorSpace(tuple(categorical(f"digit_{k + 1}", CLASSES) for k in range(self.digits)))

    @cached_property
    def train(self) -> Explicit:
        """The combinations of digits that can occur in training; none where the other digits are never shown."""
        grid = self.space.grid()
        if self.other != "digit":
            return Explicit(self.space, grid[:0])
        return Explicit(self.space, grid if self.strength < 1 else grid[self._bound(grid).all(axis=1)])

    @cached_property
    def test(self) -> Explicit:
        """The combinations of which no other digit is at one of ``offsets``."""
        grid = self.space.grid()
        return Explicit(self.space, grid[~self._bound(grid).any(axis=1)])

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of an input."""
        channels, height, width = PIXELS[self.source]
        return channels, height, width * self.digits

    def part(self, component: int) -> slice:
        """The columns of an input that show a digit."""
        width = self.shape[2] // self.digits
        return slice(component * width, (component + 1) * width)

    def label(self, points: Tensor) -> Tensor:
        if self.table is not None:
            # A sum, not a product of matrices: there is none for whole numbers on a GPU.
            places = (points * torch.as_tensor(self.space._strides, device=points.device)).sum(-1)
            return torch.tensor(self.table, device=points.device)[places]
        weights = torch.tensor([*self.weights, *[0] * (self.digits - len(self.weights))], device=points.device)
        return (points * weights).sum(-1) % CLASSES

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        return self.compose(points, draws, "held out"), self.label(points)

    def trained_examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        """Examples of any points, made of training images."""
        return self.compose(points, draws, "train"), self.label(points)

    def batch(self, draws: Draws, size: int) -> tuple[Tensor, Tensor]:
        points = self._drawn(draws, size)
        return self._hidden(self.compose(points, draws, "train"), draws), self.label(points)

    def views(self, draws: Draws, count: int) -> dict[str, tuple[Tensor, Tensor]]:
        """Fresh images as training has them, and the combinations that are asked."""
        like = self._drawn(draws("trained"), count)
        asked = torch.as_tensor(self.test.codes.copy(), device=draws.keys.device)
        unseen = asked[draws("unseen").integers(len(asked), (*draws.lead, count))]
        shown = self._hidden(self.compose(like, draws("trained"), "held out"), draws("trained"))
        return {"trained": (shown, self.label(like)), "unseen": self.examples(unseen, draws("unseen"))}

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return cross_entropy(outputs, targets) if self.loss == "cross entropy" else categorical_hinge(outputs, targets)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return {"accuracy": correct(outputs, targets)}

    def compose(self, points: Tensor, draws: Draws, pool: Literal["train", "held out"]) -> Tensor:
        """Images (… × channels × height × width) of points (… × digits): one of each digit's class, side by side."""
        images, first, count = _pool(self.source, pool, points.device)
        unit = draws("image").uniform(points.shape, torch.float64)
        chosen = first[points] + (unit * count[points]).long()
        return torch.cat([images[chosen[..., k]] for k in range(self.digits)], -1)

    def _drawn(self, draws: Draws, size: int) -> Tensor:
        shape = (*draws.lead, size)
        first = draws("first").integers(CLASSES, (*shape, 1))
        others = (*shape, self.digits - 1)
        offsets = torch.tensor(self.offsets, device=first.device)
        bound = (first + offsets[draws("offset").integers(len(offsets), others)]) % CLASSES
        free = draws("free").integers(CLASSES, others)
        return torch.cat([first, torch.where(draws("bound").uniform(others) < self.strength, bound, free)], -1)

    def _hidden(self, images: Tensor, draws: Draws) -> Tensor:
        """The images with noise or nothing where the other digits were."""
        if self.other == "digit":
            return images
        shown = images[..., self.part(0)]
        rest = images[..., shown.shape[-1] :]
        hidden = draws("noise").uniform(rest.shape) if self.other == "noise" else torch.zeros_like(rest)
        return torch.cat([shown, hidden], -1)

    def _bound(self, codes: Any) -> Any:
        """Which other digits (rows × digits − 1) are at one of the offsets."""
        return np.isin((codes[:, 1:] - codes[:, :1]) % CLASSES, [offset % CLASSES for offset in self.offsets])


@lru_cache(maxsize=4)
def _pool(
    source: Literal["digits", "mnist"], part: Literal["train", "held out"], device: torch.device
) -> tuple[Tensor, Tensor, Tensor]:
    """Images sorted by class; where each class begins, and how many it has. Kept on the device they are used on."""
    found = load_images(source)
    images = found.train if part == "train" else found.held_out
    number = torch.as_tensor(found.train_classes if part == "train" else found.held_out_classes)
    count = number.bincount(minlength=CLASSES)
    ordered = torch.as_tensor(images)[number.argsort(stable=True)]
    return ordered.to(device), (count.cumsum(0) - count).to(device), count.to(device)


def categorical_hinge(outputs: Tensor, targets: Tensor) -> Tensor:
    """max(0, 1 + max_k (1 − [k = y]) ŷ_k − ŷ_y), as Keras has it; outputs (batch × classes), targets (batch)."""
    right = (targets[..., None] == torch.arange(outputs.shape[-1], device=targets.device)).to(outputs.dtype)
    return (1 + ((1 - right) * outputs).amax(-1) - (right * outputs).sum(-1)).clamp(min=0)
