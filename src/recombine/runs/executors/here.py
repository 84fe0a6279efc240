"""In this process, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from recombine.runs.executors.executor import Work
from recombine.runs.work import Answer, Piece


class Here:
    """The default: nothing is started, and a run is computed when its turn comes."""

    workers = 1
    apart = False

    def __init__(self, device: str) -> None:
        self.device = device

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing was started."""

    def each(self, work: Work, pieces: Sequence[Piece]) -> Iterator[Answer]:
        return map(work, pieces)
