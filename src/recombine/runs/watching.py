"""Tell how far runs have come while other processes compute them, from the notes in their workspaces."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from recombine.runs.notes import EVERY, noted

NamedProgress = Callable[[str, int, int, str], None]
"""Told how far a run has come: its name, done, total, and a few words."""


@contextmanager
def watching(work: Path, names: Mapping[str, str], units: Mapping[str, int], tell: NamedProgress) -> Iterator[None]:
    """Within it, ``tell`` hears every second of each run in ``names`` (by address) that somebody works on."""
    over = threading.Event()
    before: dict[str, tuple[int, int]] = {}

    def look() -> None:
        for address, name in list(names.items()):
            found = noted(work / address, units.get(address, 1))
            if found is not None and before.get(address) != (found.done, found.total):
                before[address] = (found.done, found.total)
                tell(name, found.done, found.total, found.text)

    def watch() -> None:
        while not over.wait(EVERY):
            look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
