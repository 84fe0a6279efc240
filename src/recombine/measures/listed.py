"""Several values as one argument of a measure: a list, or what older descriptions say, text with commas between."""

from __future__ import annotations

from collections.abc import Sequence

Listed = str | Sequence[str]
ListedNumbers = str | Sequence[float]


def listed(given: str | Sequence[float | str]) -> list[str]:
    """Each value in words: ["5", "20"] of "5,20" and of (5, 20)."""
    return [str(value).strip() for value in (given.split(",") if isinstance(given, str) else given)]
