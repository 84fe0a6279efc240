"""Progress of long work: a bar on a terminal, silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]
"""Called with (done, total) member-steps."""

SLOW = 20_000
"""Fewer member-steps than this are over before a bar could be read."""


@contextmanager
def reporter(progress: Progress | None, total: int) -> Iterator[Callable[[int], None]]:
    """A function that takes how many member-steps were just done."""
    done = 0
    if progress is not None:

        def tell(count: int) -> None:
            nonlocal done
            done += count
            progress(done, total)

        yield tell
    elif not sys.stderr.isatty() or total < SLOW:
        yield lambda count: None
    else:
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(stderr=True), transient=True) as bar:
            line = bar.add_task("training", total=total)
            yield lambda count: bar.advance(line, count)
