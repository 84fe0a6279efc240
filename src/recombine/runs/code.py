"""Which code this is: the commit of its checkout, and a hash of its source, which there always is.

Code that travels without its ``.git`` takes its commit along in the file ``COMMIT``:

    python -m recombine.runs.code         # write it, in the checkout, before the folder is carried elsewhere

or is told it by the variable RECOMBINE_COMMIT. A wheel that is built in a checkout holds the file. It is loaded without
the rest of the package when one is built, so it imports nothing but the standard library.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from functools import lru_cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
VARIABLE = "RECOMBINE_COMMIT"
FILE = "COMMIT"


@lru_cache
def commit() -> str | None:
    """The git commit of this package, with "-dirty" if its source differs; None where nothing says it.

    Where a checkout differs from its commit, the file may know which one it is of: a copy of the files alone may lie on
    an older history."""
    found, carried = _checked_out(), _carried()
    if found is not None and found.endswith("-dirty") and carried is not None and not carried.endswith("-dirty"):
        return carried
    return found or os.environ.get(VARIABLE, "").strip()[:80] or carried


@lru_cache
def source() -> str:
    """SHA-256 over the name and content of every module of this package, in the order of their names."""
    digest = hashlib.sha256()
    modules = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    for name, path in sorted(modules.items()):
        # Git may have changed the ends of lines on the way to this machine.
        content = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()


def write_commit() -> str | None:
    """Put the commit of this checkout, and the source that it belongs to, where they travel with the package."""
    found = _checked_out()
    if found:
        (PACKAGE / FILE).write_text(f"{found} {source()}\n", encoding="utf-8")
    return found


def _checked_out() -> str | None:
    top = git(PACKAGE, "rev-parse", "--show-toplevel")
    # An installed package may lie in a .venv inside somebody else's repository, whose commit says nothing about it.
    if top is None or Path(top).resolve() / "src" / "recombine" != PACKAGE:
        return None
    head = git(PACKAGE, "rev-parse", "HEAD")
    dirty = git(PACKAGE, "status", "--porcelain", "--", ".")
    return f"{head}-dirty" if head and dirty else head


def _carried() -> str | None:
    try:
        found, of = (PACKAGE / FILE).read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return None
    # The source may have been changed after the file was written.
    return found if of == source() or found.endswith("-dirty") else f"{found}-dirty"


def git(directory: Path, *arguments: str) -> str | None:
    """What git says of a directory; None where it cannot be asked."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *arguments],
            cwd=directory, env=environment, capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return done.stdout.strip()


if __name__ == "__main__":
    write_commit()
