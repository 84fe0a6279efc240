"""A person's names inside our sentences: as they are, but never longer than a sentence can bear."""

from __future__ import annotations

LONGEST = 60


def brief(name: object, limit: int = LONGEST) -> str:
    """The name on one line, cut where it is too long to be read."""
    text = " ".join(str(name)[: 4 * limit].split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
