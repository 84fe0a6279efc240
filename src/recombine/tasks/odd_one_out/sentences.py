"""Sentences that keep or break two rules about number, from a grammar of ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError, unknown
from recombine.space import Codes
from recombine.tasks.draws import Draws
from recombine.tasks.odd_one_out.agreement import NUMBERS, agreement, anaphora
from recombine.tasks.odd_one_out.grammar import Grammar
from recombine.tasks.odd_one_out.problems import Source, Split
from recombine.tasks.odd_one_out.table import FactorTable

GRAMMARS: dict[str, Callable[[], Grammar]] = {"agreement": agreement, "anaphora": anaphora}


class Sentences(Description, Source):
    """Sentences of a grammar; a rule is kept where its word has the ``number`` that is asked for.

    Items are numbers of words (longest + 1), [CLS] first, 0 at the end. The sentences of a frame, which differ in
    number alone, are all in the same split; structures are drawn equally often."""

    kind: ClassVar[str] = "sentences"

    grammar: Literal["agreement", "anaphora"] = "agreement"
    number: Literal["singular", "plural"] = "singular"
    structures: tuple[str, ...] | None = None
    """Structures that are used; by default all."""

    def model_post_init(self, _context: Any) -> None:
        known = self.spoken.space.factors[0].levels or ()
        for name in self.structures or ():
            if name not in known:
                raise unknown("structure", name, known)
        if self.structures is not None and not self.structures:
            raise InputError("no structure is left to make sentences of.")

    @property
    def spoken(self) -> Grammar:
        """The grammar with its words."""
        return GRAMMARS[self.grammar]()

    @property
    def rules(self) -> tuple[str, ...]:
        return tuple(self.spoken.numbers)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.table.columns

    @property
    def shape(self) -> tuple[int]:
        """How many words an item has, [CLS] and empty places included."""
        return (self.spoken.longest,)

    def items(self, kept: Tensor, draws: Draws, split: Split) -> tuple[Tensor, Tensor]:
        return self.table.items(kept, draws, split)

    def grammatical(self, split: Split) -> Codes:
        """The codes of every grammatical sentence of a split: what a language model may be trained on."""
        used = self.spoken.codes[self._used]
        one, other = (used[:, self.spoken.space.position(factor)] for factor in self.spoken.numbers.values())
        rows: Codes = used[(one == other) & self.table.splits[split]]
        return rows

    @cached_property
    def table(self) -> FactorTable:
        spoken = self.spoken
        wanted = NUMBERS.index(self.number)

        def keeps(factor: str) -> Callable[[Codes], NDArray[np.bool_]]:
            at = spoken.space.names.index(factor)
            return lambda codes: np.asarray(codes[:, at] == wanted)

        rules = {rule: keeps(factor) for rule, factor in spoken.numbers.items()}
        return FactorTable(
            spoken.space, rules, spoken.tokens, codes=spoken.codes[self._used], alike=spoken.frame, even="structure"
        )

    @cached_property
    def _used(self) -> NDArray[np.bool_]:
        levels = self.spoken.space.factors[0].levels or ()
        used = [level for level in levels if self.structures is None or level in self.structures]
        return np.isin(self.spoken.codes[:, 0], [levels.index(level) for level in used])
