"""Panels of contours that keep or break the rules *inside*, *contact* and *number*."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from pydantic import Field
from torch import Tensor

from recombine.description import Description
from recombine.errors import InputError
from recombine.tasks.draws import Draws
from recombine.tasks.odd_one_out.drawing import colours, draw
from recombine.tasks.odd_one_out.problems import ITEMS, Source, Split, of_keys
from recombine.tasks.odd_one_out.scenes import MOST, Scenes, clumps, pairs

RULES = ("inside", "contact", "number")
CHUNK_PIXELS = 2**23
"""Panels are made at a time until they have this many pixels."""


class Contours(Description, Source):
    """Panels of ``side`` pixels for two or three of the rules *inside*, *contact* and *number*.

    inside–contact: a large and a small contour. inside–number: pairs of them, nested, apart from each other. All three:
    pairs, nested and touching. Where inside or contact is broken, it is broken in one pair. number–contact: copies of
    one contour in a clump; where contact is broken, one copy lies apart. The number that a problem asks for is one of
    ``numbers``, the same for its items; a panel that breaks the rule has one more or one less (no clump of one)."""

    kind: ClassVar[str] = "contours"

    side: int = Field(default=64, ge=32, le=512)
    obeyed: tuple[str, ...] = ("inside", "contact")
    numbers: tuple[int, ...] = (2, 3)

    def model_post_init(self, _context: Any) -> None:
        if len(set(self.obeyed)) != len(self.obeyed) or len(self.obeyed) < 2 or set(self.obeyed) - set(RULES):
            raise InputError(f"contours obey two or three of {', '.join(RULES)}; got {', '.join(self.obeyed)}.")
        if not self.numbers or min(self.numbers) < 2 or max(self.numbers) >= MOST:
            raise InputError(f"numbers must be from 2 to {MOST - 1}, got {self.numbers}.")
        if {"inside", "number"} <= set(self.obeyed) and self.side < 48:
            raise InputError(f"four pairs cannot be seen in {self.side} pixels; take 48 or more.")

    @property
    def rules(self) -> tuple[str, ...]:
        return self.obeyed

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.obeyed, "count")

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of a panel."""
        return 3, self.side, self.side

    def items(self, kept: Tensor, draws: Draws, split: Split) -> tuple[Tensor, Tensor]:
        """Panels are never twice the same, so splits need nothing but draws of their own."""
        counts = self.counts(kept, draws)
        codes = torch.cat([kept.long(), counts[..., None]], -1)
        each = of_keys(draws("panels").bits((*draws.lead, ITEMS)).flatten())
        flat, numbers = kept.flatten(0, 1), counts.flatten()
        chunk = max(1, CHUNK_PIXELS // self.side**2)
        panels = torch.cat(
            [
                self._panels(flat[at : at + chunk], numbers[at : at + chunk], of_keys(each.keys[at : at + chunk]))
                for at in range(0, len(flat), chunk)
            ]
        )
        return panels.unflatten(0, (-1, ITEMS)), codes

    def counts(self, kept: Tensor, draws: Draws) -> Tensor:
        """How many pairs or copies each panel has (problems × 4)."""
        if "number" not in self.obeyed:
            return torch.ones(kept.shape[:-1], dtype=torch.int64, device=kept.device)
        asked = torch.tensor(self.numbers, device=kept.device)[draws("number").integers(len(self.numbers), draws.lead)]
        other = asked[:, None] + 2 * draws("more or less").integers(2, kept.shape[:-1]) - 1
        if "inside" not in self.obeyed:
            other = torch.where(other == 1, 3, other)
        return torch.where(kept[..., self.obeyed.index("number")], asked[:, None], other)

    def scenes(self, kept: Tensor, counts: Tensor, draws: Draws) -> Scenes:
        """The outlines of panels (panels × rules kept, panels) before they are drawn."""
        held = {rule: kept[:, place] for place, rule in enumerate(self.obeyed)}
        if "inside" not in held:
            return clumps(counts, held["contact"], self.side, draws)
        # Only the first pair breaks a rule; the others are as the rules say, and pairs that need not touch do not.
        inside = torch.ones(len(kept), MOST, dtype=torch.bool, device=kept.device)
        inside[:, 0] = held["inside"]
        contact = torch.full_like(inside, "contact" in held)
        contact[:, 0] = held.get("contact", contact[:, 0])
        return pairs(counts, inside, contact, self.side, "number" not in held, draws)

    def _panels(self, kept: Tensor, counts: Tensor, draws: Draws) -> Tensor:
        found = self.scenes(kept, counts, draws)
        palette = colours(of_keys(draws("colours").bits(found.present.shape)))
        return draw(found.outlines, found.present, palette, self.side)
