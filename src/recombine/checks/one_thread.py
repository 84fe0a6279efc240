"""Work on small matrices on one thread: several would wait for each other, on a busy machine longer than one takes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

Given = ParamSpec("Given")
Found = TypeVar("Found")


def one_thread(work: Callable[Given, Found]) -> Callable[Given, Found]:
    """``work``, during which linear algebra has one thread."""

    @wraps(work)
    def alone(*args: Given.args, **named: Given.kwargs) -> Found:
        with _libraries(len(sys.modules)).limit(limits=1):
            return work(*args, **named)

    return alone


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """Those of a process that has imported so many ``modules``: to look through all that it has loaded takes longer
    than most of this work, and it loads more only where it imports more."""
    return ThreadpoolController()
