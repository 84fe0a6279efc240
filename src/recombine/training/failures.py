"""What can fail while a stack is trained: a stack that does not fit into memory is halved, and its halves again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch

Item = TypeVar("Item")
Made = TypeVar("Made")


def whole_or_halves(work: Callable[[list[Item]], Made], items: list[Item]) -> list[Made]:
    """What ``work`` makes of all items at once or, where memory runs out, of their halves; one alone must fit."""
    try:
        return [work(items)]
    except (RuntimeError, MemoryError) as error:
        if len(items) == 1 or not out_of_memory(error):
            raise
    # Here the error is gone, and with it what its frames held.
    torch.cuda.empty_cache()
    half = len(items) // 2
    return whole_or_halves(work, items[:half]) + whole_or_halves(work, items[half:])


def out_of_memory(error: Exception) -> bool:
    # On a CPU, torch says so in a plain RuntimeError.
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "can't allocate memory" in str(error)


def in_short(error: BaseException) -> str:
    """The first line of an error, or what kind of error it is, to stand within a sentence."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")
