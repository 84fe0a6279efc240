"""Work on small matrices on one thread: several would wait for each other, on a busy machine longer than one takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

Given = ParamSpec("Given")
Found = TypeVar("Found")


def one_thread(work: Callable[Given, Found]) -> Callable[Given, Found]:
    """``work``, during which linear algebra has one thread."""

    @wraps(work)
    def alone(*args: Given.args, **named: Given.kwargs) -> Found:
        with threadpool_limits(limits=1):
            return work(*args, **named)

    return alone
