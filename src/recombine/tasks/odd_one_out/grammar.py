"""Sentences as rows of factors: which words a grammar has, which sentences, and the numbers of their words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from recombine.errors import unknown
from recombine.space import Codes, FactorSpace

PAD, CLASS, MASK, UNKNOWN = range(4)
SPECIALS = ("[PAD]", "[CLS]", "[MASK]", "[UNK]")


@dataclass(frozen=True)
class Slot:
    """A few words of a sentence, said from the levels of some factors."""

    factors: tuple[str, ...]
    say: Callable[..., str]


@dataclass(frozen=True, eq=False)
class Grammar:
    """``codes`` are all its sentences as rows over ``space``; ``slots`` say, for each level of the first factor (the
    structure), what its sentences are made of. Only the last slot of a structure may vary in length.

    ``numbers`` names, for each rule, the factor whose number it is about. ``frame`` are the factors that are left when
    those are set aside: sentences that agree in them differ in grammatical number alone."""

    space: FactorSpace
    codes: Codes
    slots: Mapping[str, tuple[Slot, ...]]
    numbers: Mapping[str, str]
    frame: tuple[str, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The vocabulary: what is not a word, then every word in alphabetical order."""
        said = {word for slots in self._phrases.values() for phrases in slots for p in phrases for word in p.split()}
        return (*SPECIALS, *sorted(said))

    @cached_property
    def longest(self) -> int:
        """Words of the longest sentence, and one for [CLS]."""
        return 1 + max(
            sum(max(len(p.split()) for p in phrases) for phrases in slots) for slots in self._phrases.values()
        )

    def tokens(self, codes: Tensor) -> Tensor:
        """Rows of codes (rows × factors) as numbers of words (rows × longest): [CLS], the words, then 0."""
        out = torch.full((len(codes), self.longest), PAD, dtype=torch.int64, device=codes.device)
        out[:, 0] = CLASS
        for number, (structure, slots) in enumerate(self.slots.items()):
            rows = (codes[:, 0] == number).nonzero()[:, 0]
            at = 1
            for slot, table in zip(slots, self._tables[structure], strict=True):
                places = [self.space.position(name) for name in slot.factors]
                # A sum, not a product of matrices: there is none for whole numbers on a GPU.
                index = (codes[rows][:, places] * self._strides(slot).to(codes.device)).sum(-1)
                out[rows, at : at + table.shape[1]] = table.to(codes.device)[index]
                at += table.shape[1]
        return out

    def texts(self, tokens: Tensor) -> list[str]:
        """The sentences of rows of word numbers (… × longest), one after the other."""
        rows = tokens.reshape(-1, tokens.shape[-1]).tolist()
        return [" ".join(self.words[n] for n in row if n not in (PAD, CLASS)) for row in rows]

    @cached_property
    def _phrases(self) -> dict[str, list[list[str]]]:
        """What each slot of each structure can say, in the order of the combinations of its factors."""
        return {structure: [self._said(slot) for slot in slots] for structure, slots in self.slots.items()}

    def _said(self, slot: Slot) -> list[str]:
        levels: list[Sequence[Any]] = [self.space[name].levels or () for name in slot.factors]
        return [slot.say(*chosen) for chosen in product(*levels)]

    @cached_property
    def _tables(self) -> dict[str, list[Tensor]]:
        place = {word: number for number, word in enumerate(self.words)}
        tables: dict[str, list[Tensor]] = {}
        for structure, slots in self._phrases.items():
            for phrases in slots:
                width = max(len(p.split()) for p in phrases)
                rows = [[place[w] for w in p.split()] for p in phrases]
                filled = torch.tensor([row + [PAD] * (width - len(row)) for row in rows])
                tables.setdefault(structure, []).append(filled)
        return tables

    def _strides(self, slot: Slot) -> Tensor:
        sizes = [len(self.space[name]) for name in slot.factors]
        return torch.tensor([int(np.prod(sizes[i + 1 :])) for i in range(len(sizes))], dtype=torch.int64)


def listed(space: FactorSpace, allowed: Sequence[Mapping[str, Sequence[str] | None]]) -> Codes:
    """Rows for each of ``allowed``: every combination of the levels it names, all levels where it says None, and the
    first level of what it does not name."""
    parts = []
    for choice in allowed:
        for name in choice:
            if name not in space.names:
                raise unknown("factor", name, space.names)
        levels = []
        for factor in space.factors:
            named = choice.get(factor.name, (factor.levels or ())[:1])
            levels.append(range(len(factor)) if named is None else [factor.code(level) for level in named])
        grid = np.meshgrid(*(np.array(codes, dtype=np.int64) for codes in levels), indexing="ij")
        parts.append(np.stack([axis.ravel() for axis in grid], -1))
    return np.concatenate(parts)
