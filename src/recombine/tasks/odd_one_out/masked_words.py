"""Masked language modelling on the sentences of a grammar (Devlin et al. 2019): say the words that were hidden."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.space import FactorSpace
from recombine.support import Explicit
from recombine.tasks.draws import Draws
from recombine.tasks.keeping import Keeping
from recombine.tasks.odd_one_out.grammar import CLASS, MASK, SPECIALS
from recombine.tasks.odd_one_out.problems import Split
from recombine.tasks.odd_one_out.sentences import Sentences
from recombine.tasks.task import Task

BLANK = -1
"""The target where nothing is asked."""


class MaskedWords(Keeping, Description, Task):
    """Grammatical sentences of ``source`` in which a ``share`` of the words is asked for: of those, 8 in 10 are shown
    as [MASK], 1 in 10 as any word, 1 in 10 as they are. Structures are drawn equally often.

    Training uses the sentences of the training split and no others, so what is pretrained has not seen a held-out
    sentence either. The model's outputs are scores of every word at every place."""

    kind: ClassVar[str] = "masked words"

    source: Sentences = Sentences()
    share: float = Field(default=0.15, gt=0, lt=1)

    @cached_property
    def space(self) -> FactorSpace:
        """The structures."""
        return FactorSpace((self.source.spoken.space.factors[0],))

    @cached_property
    def train(self) -> Explicit:
        names = self.source.structures or self.source.spoken.space.factors[0].levels or ()
        return Explicit(self.space, [[self.space.factors[0].code(name)] for name in names])

    @property
    def test(self) -> Explicit:
        return self.train

    def batch(self, draws: Draws, size: int) -> tuple[Tensor, Tensor]:
        points = torch.as_tensor(self.train.codes.copy(), device=draws.keys.device)
        chosen = points[draws("structure").integers(len(points), (*draws.lead, size))]
        return self._asked(chosen, draws, "train")

    def examples(self, points: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        """Held-out sentences of the structures that are asked for."""
        return self._asked(points, draws, "test")

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Cross entropy of the words that are asked for, averaged over the sentence."""
        asked = (targets != BLANK).to(outputs.dtype)
        right = outputs.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        return ((torch.logsumexp(outputs, -1) - right) * asked).sum(-1) / asked.sum(-1).clamp(min=1)

    def scores(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        """The share of the words asked for that are right."""
        asked = (targets != BLANK).to(outputs.dtype)
        right = (outputs.argmax(-1) == targets).to(outputs.dtype)
        return {"accuracy": (right * asked).sum(-1) / asked.sum(-1).clamp(min=1)}

    def _asked(self, points: Tensor, draws: Draws, split: Split) -> tuple[Tensor, Tensor]:
        sentences, first, count = self._sentences(split, points.device)
        structure = points[..., 0].long()
        place = (draws("sentence").uniform(structure.shape, torch.float64) * count[structure]).long()
        words = sentences[first[structure] + place]
        unit = draws("asked").uniform(words.shape)
        real = words > CLASS
        # The word that drew the least is asked for in any case, so that no sentence says nothing.
        least = torch.where(real, unit, 2.0).amin(-1, keepdim=True)
        asked = real & ((unit < self.share) | (unit == least))
        how = draws("how").uniform(words.shape)
        vocabulary = len(self.source.spoken.words)
        other = len(SPECIALS) + draws("other").integers(vocabulary - len(SPECIALS), words.shape)
        shown = torch.where(how < 0.8, MASK, torch.where(how < 0.9, other, words))
        return torch.where(asked, shown, words), torch.where(asked, words, BLANK)

    def _sentences(self, split: Split, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
        """The sentences of a split by structure, where each structure begins, and how many it has."""

        def make() -> tuple[Tensor, ...]:
            codes = torch.as_tensor(self.source.grammatical(split))
            codes = codes[codes[:, 0].argsort(stable=True)]
            count = codes[:, 0].bincount(minlength=len(self.space.factors[0]))
            return self.source.spoken.tokens(codes), count.cumsum(0) - count, count

        tokens, first, count = self.kept(split, device, make)
        return tokens, first, count
