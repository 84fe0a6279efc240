"""One thread for each operation, so that numbers do not depend on how many a machine has.

A sum or a product that is split over threads is added up in another order, and its last bits change. What may use more
threads is work that is done side by side: members of a loop, or processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import torch
from threadpoolctl import threadpool_limits

Found = TypeVar("Found")

_LANES: ContextVar[int | None] = ContextVar("lanes", default=None)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Within it every operation on a CPU has one thread, those of numpy and scipy too."""
    before = torch.get_num_threads()
    token = _LANES.set(side_by_side())
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        torch.set_num_threads(before)
        _LANES.reset(token)


def side_by_side() -> int:
    """How many things may be done at once in this process, each on a thread of its own."""
    return _LANES.get() or torch.get_num_threads()


def in_lanes(work: Callable[[int], Found], lanes: int) -> list[Found]:
    """What ``work`` gives for each of ``lanes`` lanes, all at once, each on a thread of its own with one thread an
    operation."""

    def lane(number: int) -> Found:
        torch.set_num_threads(1)
        return work(number)

    with threads(None), ThreadPoolExecutor(lanes) as pool:
        return list(pool.map(lane, range(lanes)))


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Operations within it have ``count`` threads, or as many as before; afterwards as many as before."""
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
