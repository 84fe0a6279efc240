"""Odd-one-out problems: four items, three of which follow every rule that is asked for, and one that does not.

A *rule* is kept or broken by an item; the composition of rules is that all are kept (Lepori, Serre & Pavlick 2023). For
each composition there are three families of problems, and they differ only in what the items keep:

    composition    three items keep every rule; the odd one breaks some
    subroutine A   three items keep A, the others are broken or not at random; the odd one breaks A
    partition A    three items keep every rule; the odd one breaks A and nothing else
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError, unknown
from recombine.tasks.draws import Draws
from recombine.tasks.problems import Problems

ITEMS = 4
Split = Literal["train", "validation", "test"]
SHARES: dict[Split, float] = {"train": 0.7, "validation": 0.1, "test": 0.2}
"""How the items of a finite table are parted, so that no item is in two splits."""


class Source(ABC):
    """Where items come from: ``rules`` they keep or break, and a way to make items that do."""

    @property
    @abstractmethod
    def rules(self) -> tuple[str, ...]:
        """The names of the rules."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of what is known of each item: the rules first, 1 where kept, then anything else."""

    @abstractmethod
    def items(self, kept: Tensor, draws: Draws, split: Split) -> tuple[Tensor, Tensor]:
        """Items and their codes (problems × 4 × …) that keep the rules of ``kept`` (problems × 4 × rules) and no
        others; ``draws`` has one stream per problem."""


class Family(Description):
    """Which items a problem is made of. ``asks`` and ``of`` are those of the table above.

    ``both_broken`` lets the odd item of a composition break several rules, each set of them as often; without it, one
    alone. ``free`` lets the odd item of a subroutine keep or break the other rules at random; without it, it keeps
    them. The paper's pictures have both, its sentences neither."""

    kind: ClassVar[str] = "family"

    asks: Literal["composition", "subroutine", "partition"] = "composition"
    of: str | None = None
    both_broken: bool = True
    free: bool = True

    def model_post_init(self, _context: Any) -> None:
        if (self.of is None) != (self.asks == "composition"):
            raise InputError(f"a {self.asks} is {'of all rules' if self.of else 'of one rule'}; got of={self.of!r}.")

    @property
    def name(self) -> str:
        return self.asks if self.of is None else f"{self.asks} {self.of}"

    def odd_kinds(self, rules: tuple[str, ...]) -> Tensor:
        """What the odd item may keep (kinds × rules), all kinds as frequent."""
        count, at = len(rules), self._place(rules)
        bits = (torch.arange(2**count)[:, None] >> torch.arange(count)) & 1 == 1
        broken = (~bits).sum(1)
        if self.asks == "composition":
            return bits[(broken >= 1) & (broken <= (count if self.both_broken else 1))]
        alone = self.asks == "partition" or not self.free
        return bits[~bits[:, at] & ((broken == 1) | (not alone))]

    def kept(self, rules: tuple[str, ...], draws: Draws) -> Tensor:
        """What the items keep (problems × 4 × rules), the odd one last."""
        kinds = self.odd_kinds(rules).to(draws.keys.device)
        odd = kinds[draws("odd").integers(len(kinds), draws.lead)]
        if self.asks == "subroutine":
            three = draws("others").uniform((*draws.lead, ITEMS - 1, len(rules))) < 0.5
            three[..., self._place(rules)] = True
        else:
            three = torch.ones((*draws.lead, ITEMS - 1, len(rules)), dtype=torch.bool, device=odd.device)
        return torch.cat([three, odd[:, None]], dim=1)

    def _place(self, rules: tuple[str, ...]) -> int:
        if self.of is None:
            return 0
        if self.of not in rules:
            raise unknown("rule", self.of, rules)
        return rules.index(self.of)


@dataclass(frozen=True, eq=False)
class ProblemSet(Problems):
    """Problems of four items (problems × 4 × …); the target is the place of the odd one. ``codes`` (problems × 4 ×
    columns) are what is known of each item: first whether it keeps each of the ``rules``."""

    inputs: Tensor
    codes: Tensor
    columns: tuple[str, ...]
    rules: tuple[str, ...]

    @cached_property
    def odd(self) -> Tensor:
        """Which rules the odd item keeps (problems × rules)."""
        at = self.targets[:, None, None].expand(-1, 1, len(self.rules))
        return self.codes[..., : len(self.rules)].gather(1, at)[:, 0]

    @cached_property
    def distinct(self) -> frozenset[bytes]:
        """Every item once."""
        flat = self.inputs.flatten(0, 1).flatten(1).cpu().contiguous().numpy()
        return frozenset(row.tobytes() for row in flat)


def build(
    source: Source, family: Family, count: int, *, split: Split = "train", seed: int = 0, device: str = "cpu"
) -> ProblemSet:
    """``count`` problems of a family. Problem i is a function of (source, family, split, seed, i) alone, and its items
    are permuted, so that the odd one stands in any of the four places."""
    if count < 1:
        raise InputError(f"a set of problems needs at least one, got {count}.")
    if split not in SHARES:
        raise unknown("split", split, SHARES)
    draws = streams(seed, f"{split}: {family.name}", count, device)
    kept = family.kept(source.rules, draws)
    inputs, codes = source.items(kept, draws("items"), split)
    order = draws("order").uniform((count, ITEMS)).argsort(-1)
    row = torch.arange(count, device=order.device)[:, None]
    return ProblemSet(
        inputs[row, order], (order == ITEMS - 1).long().argmax(-1), codes[row, order], source.columns, source.rules
    )


def streams(seed: int, purpose: str, count: int, device: str = "cpu") -> Draws:
    """``count`` independent streams; stream i does not depend on how many there are."""
    return of_keys(Draws.single(seed, purpose, device).bits((count,)))


def of_keys(keys: Tensor) -> Draws:
    """Draws whose streams are addressed by ``keys`` alone: no members, no steps."""
    return Draws(keys, keys.reshape(-1), torch.zeros(1, dtype=torch.int64, device=keys.device))
