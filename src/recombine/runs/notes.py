"""How far a piece of a run has come, noted in the run's workspace, where whoever waits for it can read it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EVERY = 1.0
"""Seconds between two notes."""


class Note:
    """Called with progress, it writes a small file now and then. Seconds add up over all who worked on the piece."""

    def __init__(self, workspace: Path, unit: int | None) -> None:
        self.path = _path(workspace, unit)
        self.before = float((_read(self.path) or {}).get("seconds", 0.0))
        self.started = time.monotonic()
        self.written = -EVERY
        self.told: tuple[int, int, str] = (0, 0, "")

    def __call__(self, done: int, total: int, text: str) -> None:
        self.told = (done, total, text)
        if time.monotonic() - self.written >= EVERY:
            self._write()

    def finish(self) -> None:
        """The piece is done."""
        self._write()

    def _write(self) -> None:
        self.written = time.monotonic()
        done, total, text = self.told
        seconds = self.before + self.written - self.started
        fresh = self.path.with_suffix(".new")
        # The workspace may be gone because another process has stored the run; that is for the run to find out.
        with suppress(OSError):
            fresh.write_text(json.dumps({"done": done, "total": total, "text": text, "seconds": round(seconds, 3)}))
            os.replace(fresh, self.path)


@dataclass(frozen=True)
class Noted:
    """Progress of a whole run, from the notes of its pieces; pieces that nobody has begun count as the others."""

    done: int
    total: int
    text: str


def noted(workspace: Path, units: int) -> Noted | None:
    """How far a run has come, or None where nobody has noted anything."""
    # Whoever worked on the whole of a run that is now in pieces has left checkpoints, which the pieces count.
    gone = _path(workspace, None) if units > 1 else None
    found = [note for path, note in _notes(workspace) if note.get("total") and path != gone]
    if not found:
        return None
    total = sum(int(note["total"]) for note in found)
    more = max(0, units - len(found)) * total // len(found)
    return Noted(sum(int(note["done"]) for note in found), total + more, str(found[0].get("text", "")))


def spent(workspace: Path, but: int | None) -> float:
    """The seconds that went into the other pieces of a run."""
    return sum(float(note.get("seconds", 0.0)) for path, note in _notes(workspace) if path != _path(workspace, but))


def _notes(workspace: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    with suppress(OSError):
        for path in sorted(workspace.glob("piece-*.json")):
            note = _read(path)
            if note is not None:
                yield path, note


def _path(workspace: Path, unit: int | None) -> Path:
    return workspace / f"piece-{'whole' if unit is None else unit}.json"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
