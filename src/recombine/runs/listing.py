"""What lies in a store, seen without reading it: names, sizes, times, and a mark that changes when a file does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from recombine.runs.files import anywhere
from recombine.runs.layout import ADDRESS, FILE, Found


@anywhere
def names(directory: Path) -> list[str]:
    """What is directly in a directory, sorted; nothing where there is none."""
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []


@anywhere
def marks(runs: Path) -> dict[str, str]:
    """For each run by address a mark of its run.json: another one whenever the file was written again.

    The mark is compared for being equal, never for being older, so that no clock is trusted."""
    found: dict[str, str] = {}
    for shelf in names(runs):
        for name in names(runs / shelf):
            if ADDRESS.fullmatch(name) and name.startswith(shelf):
                with suppress(FileNotFoundError, NotADirectoryError):
                    s = os.stat(f"{runs}/{shelf}/{name}/{FILE}")
                    found[name] = f"{s.st_size}-{s.st_mtime_ns}-{s.st_ctime_ns}-{s.st_ino}"
    return found


@anywhere
def walk(directory: Path) -> Iterator[Found]:
    """Every file below a directory. What vanishes meanwhile is left out; links are listed, never followed."""
    for top, _, files in os.walk(directory):
        for name in files:
            path = Path(top, name)
            with suppress(FileNotFoundError, NotADirectoryError):
                status = path.lstat()
                yield Found(path.relative_to(directory).as_posix(), status.st_size, status.st_mtime)


@anywhere
def look(path: Path) -> Found | None:
    """One file, or None where there is none."""
    with suppress(FileNotFoundError, NotADirectoryError):
        status = path.lstat()
        return Found(path.name, status.st_size, status.st_mtime)
    return None
