"""What is said of a result: its sentence, and what that has no room for."""

from __future__ import annotations

from recombine.mechanisms import MeasureResult


def everything(result: MeasureResult) -> str:
    return " ".join([result.sentence(), *result.notes])
