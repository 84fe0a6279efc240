"""Progress of long work: a bar on a terminal and in a notebook, silence elsewhere."""

from __future__ import annotations

import sys
import time
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
    elif total < SLOW or not (sys.stderr.isatty() or in_notebook()):
        yield lambda count: None
    elif in_notebook():
        yield _cell(total)
    else:
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(stderr=True), transient=True) as bar:
            line = bar.add_task("training", total=total)
            yield lambda count: bar.advance(line, count)


def _cell(total: int) -> Callable[[int], None]:
    """A bar in the output of a notebook's cell, drawn by the browser; no widgets need be installed."""
    from IPython.display import HTML, display

    done, told = 0, time.monotonic()
    handle = display(HTML("training"), display_id=True)

    def tell(count: int) -> None:
        nonlocal done, told
        done += count
        if done >= total or time.monotonic() - told > 0.5:
            told = time.monotonic()
            handle.update(HTML(f"training <progress value={done} max={total}></progress> {done / total:.0%}"))

    return tell


def in_notebook() -> bool:
    """Whether the program is a notebook's, whose output is no terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
