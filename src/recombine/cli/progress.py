"""One display for everything that is being run: what, how far, how long still. On a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

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
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", table_column=Column(ratio=3, no_wrap=True, overflow="ellipsis")),
        BarColumn(bar_width=None, table_column=Column(ratio=2)),
        TextColumn("{task.completed:.0f} of {task.total:.0f} {task.fields[unit]}", table_column=Column(no_wrap=True)),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("left", style="dim"),
    )
    order = [study for study, runs in studies for _ in runs]
    with Progress(
        *columns, console=Console(stderr=True), transient=True, expand=True, speed_estimate_period=LONG
    ) as bars:
        overall = bars.add_task(_where(studies, order, 0), total=len(order), unit="runs")
        current = bars.add_task("", total=1, unit="", visible=False)
        showing: tuple[str, int] | None = None
        finished = 0

        def progress(name: str, done: int, total: int, text: str) -> None:
            nonlocal showing
            if (name, finished) != showing:
                showing = (name, finished)
                bars.reset(current, total=total, description=f"  {name}", unit=text, visible=True)
            bars.update(current, completed=done, total=total, unit=text)

        def done(name: str, run: Any) -> None:
            nonlocal finished
            finished += 1
            bars.update(overall, completed=finished, description=_where(studies, order, finished))

        yield progress, done


def _where(studies: Sequence[tuple[str, Mapping[str, Any]]], order: Sequence[str], finished: int) -> str:
    """The study that the next run belongs to, and its place among all of them."""
    study = order[min(finished, len(order) - 1)] if order else ""
    names = [name for name, _ in studies]
    return f"{study} ({names.index(study) + 1} of {len(names)})" if len(names) > 1 and study else study


@contextmanager
def waiting(words: str, quiet: bool) -> Iterator[None]:
    """Say on a terminal what is being done while nothing can be counted."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield
