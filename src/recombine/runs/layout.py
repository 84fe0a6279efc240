"""A store on a disk and at a URL alike: how its files are named, what is known of one unread, and how it fails."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recombine.errors import InputError

FILE = "run.json"
"""The file that makes a run exist."""
ADDRESS = re.compile(r"[0-9a-f]{64}")


class StoreError(InputError):
    """The store itself cannot be read or written: no space, no permission, not a store. Finished runs stay intact."""


@dataclass(frozen=True)
class Found:
    """A file: its path below the directory asked for, and what is known of it unread."""

    path: str
    size: int
    modified: float | None
    """Seconds since 1970 by the clock of the disk or server; None where it does not say."""


def why(error: OSError) -> str:
    """The reason the operating system gave, without a path."""
    return error.strerror or type(error).__name__
