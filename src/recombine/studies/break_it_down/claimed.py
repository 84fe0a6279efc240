"""Claims of the paper, with their figures in the released results, and questions of ours."""

from __future__ import annotations

from recombine.studies.claims import Claim, Published, Test

RELEASED = "ours, asked of the released results too"


def paper(id: str, sentence: str, test: Test, unit: str, value: float, where: str) -> Claim:
    """A claim of the paper's, with its figure in the released results."""
    return Claim(id, sentence, test, "paper", released(value, where), "the released results", unit)


def ours(id: str, sentence: str, test: Test, unit: str, source: str, value: float | None = None) -> Claim:
    """A question of ours; with a ``value``, one that the released results answer too, and ``source`` says which."""
    published = None if value is None else released(value, source)
    return Claim(id, sentence, test, "ours", published, f"ours: {source}" if published is None else RELEASED, unit)


def released(value: float, where: str) -> Published:
    return Published(value, f"released results: {where}", "released")
