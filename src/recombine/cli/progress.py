"""One display for everything that is being run: what, how far, how long still. On a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

Progress = Callable[[str, int, int, str], None]
Done = Callable[[str, Any], None]


@contextmanager
def study_progress(studies: Sequence[tuple[str, Mapping[str, Any]]], quiet: bool) -> Iterator[tuple[Progress, Done]]:
    """Functions to be told of progress (run, done, total, words) and of finished runs."""
    if quiet or not sys.stderr.isatty():
        yield (lambda name, done, total, text: None), (lambda name, run: None)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    total_runs = sum(len(runs) for _, runs in studies)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        overall = bars.add_task("runs", total=total_runs)
        current = bars.add_task("", total=None, visible=False)
        showing = ""

        def progress(name: str, done: int, total: int, text: str) -> None:
            nonlocal showing
            if name != showing:
                showing = name
                bars.reset(current, total=total, description=f"{name} ({text})", visible=True)
            bars.update(current, completed=done, total=total)

        def finished(name: str, run: Any) -> None:
            bars.advance(overall)

        yield progress, finished
