"""Odd-one-out over two properties of a random vector of signs: two products of its entries.

The smallest setting in which a subnetwork for one property can be found and removed: it trains in seconds, and the two
properties share no input.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.tasks.draws import Draws
from recombine.tasks.odd_one_out.problems import Family, ProblemSet, Source, Split, build

RULES = ("first", "second")


class SignProducts(Description, Source):
    """Items are vectors of ±1, each as likely; rule i is kept where the product of the entries ``pairs[i]`` is +1."""

    kind: ClassVar[str] = "sign products"

    width: int = Field(default=24, ge=4)
    pairs: tuple[tuple[int, int], tuple[int, int]] = ((0, 1), (12, 13))

    @property
    def rules(self) -> tuple[str, ...]:
        return RULES

    @property
    def columns(self) -> tuple[str, ...]:
        return RULES

    def items(self, kept: Tensor, draws: Draws, split: Split) -> tuple[Tensor, Tensor]:
        """Random signs in which the first entry of each pair is what its rule asks for."""
        items = 2.0 * draws("signs").integers(2, (*kept.shape[:2], self.width)) - 1
        for i, (first, second) in enumerate(self.pairs):
            items[..., first] = torch.where(kept[..., i], 1.0, -1.0) * items[..., second]
        return items, kept.long()

    def problems(
        self,
        asks: Literal["composition", "subroutine", "partition"],
        count: int,
        seed: int,
        which: int = 0,
        split: Split = "train",
    ) -> ProblemSet:
        """``count`` problems of a family; ``which`` is the rule of a subroutine or a partition."""
        if which not in (0, 1):
            raise InputError(f"there are rules 0 and 1, got {which}.")
        family = Family(asks=asks, of=None if asks == "composition" else RULES[which])
        return build(self, family, count, split=split, seed=seed)
