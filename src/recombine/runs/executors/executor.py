"""What an executor promises: pieces in, what became of each out, as they are finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, Self

from recombine.runs.work import Answer, Piece

Work = Callable[[Piece], Answer]


class Executor(Protocol):
    """Entered, it has its workers; left, it has none. Whoever leaves early leaves no process behind."""

    device: str
    """Where pieces are to be computed, for the workers to pick."""
    workers: int
    """How many pieces can be computed at once."""
    apart: bool
    """Whether pieces are computed in other processes, so that runs are worth splitting."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    def each(self, work: Work, pieces: Sequence[Piece]) -> Iterator[Answer]:
        """What ``work`` answers for each piece, in the order in which they are finished; begun in the order given."""
        ...
