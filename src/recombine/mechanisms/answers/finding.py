"""One finding about how answers on unseen combinations come about: a number, what chance gives, and its limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from recombine.mechanisms.answers.names import ranged, share
from recombine.statistics import FEW, Interval

FEWEST = FEW
"""Unseen combinations from which a rule can be told from chance."""
LEVEL = 0.01
"""The chance that any of the rules is named by accident; it is shared among the rules that are tried."""
MOST_OF = 0.6
"""Share of the wrong answers that a rule has to account for before it is named: a rule that is wrong at half of the
combinations agrees with half of any wrong answers where there are two classes."""
LIFT = 1 / 3
"""How far from chance to certainty a rule has to be followed before it is named."""


@dataclass(frozen=True)
class Finding:
    """``value`` is what was measured; ``mechanism`` is what it would speak for, and ``named`` whether it does."""

    id: str
    mechanism: str
    what: str
    """In words: what ``value`` is."""
    value: Interval
    chance: float | None = None
    """What answers that follow no rule would give, or what else the value is compared with, …"""
    reference: str = "chance"
    """… in a word or two."""
    p: float | None = None
    """How rarely chance gives as much, where combinations are dealt anew, …"""
    by_rows: float | None = None
    """… and if rows of one combination had nothing to do with each other, where combinations are too few to tell."""
    explained: Interval | None = None
    """Share of the wrong answers on unseen combinations that agree with this rule; of a leak, of the error beyond the
    noise that would go without it."""
    speaks: bool = False
    """Whether the number is strong enough to speak for the mechanism."""
    named: bool = False
    """Whether it does, and nothing simpler accounts for the same answers."""
    why: str = ""
    """Why it is not named, in a clause."""
    limit: str = ""
    """What the number cannot say."""

    @property
    def explains(self) -> float | None:
        return None if self.explained is None else self.explained.mean

    @property
    def least(self) -> float | None:
        """The p that decides."""
        return self.p if self.by_rows is None else self.by_rows

    @property
    def puzzles(self) -> bool:
        """Whether it is not named though chance would rarely give it, so that a reader asks why."""
        return bool(self.why) and not self.named and (self.speaks or (self.least is not None and self.least <= LEVEL))

    def numbers(self) -> str:
        """The number behind the mechanism, in one phrase."""
        parts = [f"{self.what}: {ranged(self.value)}"]
        if self.chance is not None:
            parts.append(f"{self.reference} {share(self.chance)}")
        if self.p is not None:
            parts.append(f"p = {self.p:.2g}")
        if self.by_rows is not None:
            parts[-1] += f" over combinations, {self.by_rows:.2g} over rows if these are independent"
        if self.explained is not None:
            of = "error beyond the noise" if self.id == "leak" else "wrong answers"
            parts.append(f"explains {ranged(self.explained)} of the {of}")
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        names = (("chance", self.chance), ("p", self.p), ("by_rows", self.by_rows), ("explains", self.explains))
        plain = {name: None if value is None or not math.isfinite(value) else value for name, value in names}
        told = ("id", "mechanism", "what", "reference", "named", "speaks", "why", "limit")
        words = {name: getattr(self, name) for name in told}
        explained = None if self.explained is None else self.explained.to_dict()
        return {**words, "value": self.value.to_dict(), **plain, "explained": explained}
