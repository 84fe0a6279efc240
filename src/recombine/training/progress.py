"""Progress of long work: a bar on a terminal and in a notebook, silence elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

Progress = Callable[[int, int], None]
"""Called with (done, total) member-steps; one who takes three arguments is told what they are as well."""

WAIT, LEFT = 2.0, 1.0
"""Seconds of work before a bar is shown, and seconds that must be left by the pace until then."""
OFTEN = 0.1
"""Seconds between two looks at the bar."""


@contextmanager
def reporter(progress: Progress | None, total: int) -> Iterator[Callable[[int], None]]:
    """A function that takes how many member-steps were just done."""
    done = 0
    with told(by_two(progress, "training"), "training") as tell:

        def more(count: int) -> None:
            nonlocal done
            done += count
            tell(done, total)

        yield more


@contextmanager
def told(progress: Callable[..., None] | None, title: str) -> Iterator[Callable[..., None]]:
    """Who is told of progress (done, total): ``progress`` or, without one, a bar where somebody can see it."""
    if progress is not None:
        yield progress
        return
    if not watched():
        yield lambda done, total: None
        return
    late = _Late(title)
    try:
        yield late
    finally:
        late.close()


def by_two(progress: Callable[..., None] | None, words: str) -> Progress | None:
    """Whoever takes (done, total) or (done, total, words), to be called with two."""
    if progress is None or _takes(progress, 2):
        return progress
    return lambda done, total: progress(done, total, words)


def by_three(progress: Callable[..., None]) -> Callable[[int, int, str], None]:
    """Whoever takes (done, total, words) or (done, total), to be called with three."""
    return progress if _takes(progress, 3) else lambda done, total, words: progress(done, total)


def _takes(function: Callable[..., None], count: int) -> bool:
    try:
        signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a builtin does not say what it takes
        pass
    return True


class _Late:
    """A bar that appears where work has gone on for a while and more is left; until then a call costs a look at the
    clock."""

    def __init__(self, title: str) -> None:
        self.title, self.begun = title, time.monotonic()
        self.due = self.begun + WAIT
        self.lock = threading.Lock()
        self.draw: Progress | None = None
        self.bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self.due and not (self.draw and done >= total):
            return
        with self.lock:
            self.due = now + OFTEN
            if self.draw is None:
                if (now - self.begun) * (total - done) < LEFT * max(done, 1):
                    return
                self.draw = _cell(self.title) if in_notebook() else self._line(total)
            self.draw(done, total)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()

    def _line(self, total: int) -> Progress:
        from rich.console import Console
        from rich.progress import Progress as Bar

        self.bar = Bar(console=Console(stderr=True), transient=True)
        line = self.bar.add_task(self.title, total=total)
        self.bar.start()
        return lambda done, total: self.bar.update(line, completed=done, total=total)


def _cell(title: str) -> Progress:
    """A bar in the output of a notebook's cell, drawn by the browser; no widgets need be installed."""
    from IPython.display import HTML, display

    handle = display(HTML(title), display_id=True)
    return lambda done, total: handle.update(
        HTML(f"{title} <progress value={done} max={total}></progress> {done / total:.0%}")
    )


def watched() -> bool:
    """Whether somebody can see a bar."""
    return sys.stderr.isatty() or in_notebook()


def in_notebook() -> bool:
    """Whether the program is a notebook's, whose output is no terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
