"""One display for everything that is being run: a line for all of it and a line for each run that somebody works on,
how far they are and how long still. On a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from recombine.cli.printing import printable, shown

Progress = Callable[[str, int, int, str], None]
Done = Callable[[str, Any], None]

LONG = 3600.0
"""Seconds over which the pace is averaged: some runs take minutes, and a shorter memory would forget them."""


@contextmanager
def study_progress(studies: Sequence[tuple[str, Mapping[str, Any]]], quiet: bool) -> Iterator[tuple[Progress, Done]]:
    """Functions to be told of progress (run, done, total, words) and of finished runs."""
    if quiet or not sys.stderr.isatty():
        yield (lambda name, done, total, text: None), (lambda name, run: None)
        return
    names = [name for name, _ in studies]
    with _display() as bars:
        title = names[0] if len(names) == 1 else f"{len(names)} studies"
        overall = bars.add_task(title, total=sum(len(runs) for _, runs in studies), unit="runs")
        lines: dict[str, Any] = {}
        finished: set[str] = set()

        def progress(name: str, done: int, total: int, text: str) -> None:
            if name in finished:
                return
            if name not in lines:
                lines[name] = bars.add_task(f"  {name}", total=total, unit=text)
            bars.update(lines[name], completed=done, total=total, unit=text)

        def done(name: str, run: Any) -> None:
            finished.add(name)
            bars.advance(overall)
            if name in lines:
                bars.remove_task(lines.pop(name))

        yield progress, done


@contextmanager
def bar(title: str, quiet: bool) -> Iterator[Callable[[int, int, str], None]]:
    """A function to be told of the progress (done, total, words) of one piece of work."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total, text: None
        return
    with _display() as bars:
        line = bars.add_task(printable(title), total=1, unit="")
        yield lambda done, total, text: bars.update(line, completed=done, total=total, unit=text)


@contextmanager
def waiting(words: str, quiet: bool) -> Iterator[None]:
    """Say on a terminal what is being done while nothing can be counted."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(shown(words)):
        yield


def _display() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", markup=False, table_column=Column(ratio=3, no_wrap=True, overflow="ellipsis")),
        BarColumn(bar_width=None, table_column=Column(ratio=2)),
        TextColumn("{task.completed:.0f} of {task.total:.0f} {task.fields[unit]}", table_column=Column(no_wrap=True)),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("left", style="dim"),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True, expand=True, speed_estimate_period=LONG)
