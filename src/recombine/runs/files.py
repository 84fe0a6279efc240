"""The only place that touches bytes of a store: read, check, and write whole or not at all.

On a disk it relies on one thing: that a rename within a directory is atomic. What lies at a URL is left to functions
of the same names in `remote`, which rely on one thing too: that an object is put whole or not at all.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar
from uuid import uuid4

from recombine.runs.layout import StoreError, why

if TYPE_CHECKING:
    from upath import UPath

    Location = Path | UPath
    """Where something of a store lies: on a disk, or at a URL."""

P = ParamSpec("P")
Answer = TypeVar("Answer")

_NO_SYNC = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


def anywhere(local: Callable[Concatenate[Path, P], Answer]) -> Callable[Concatenate[Location, P], Answer]:
    """A function of a path on a disk that hands other locations to the function of its name in `remote`."""

    @wraps(local)
    def either(path: Location, /, *rest: P.args, **named: P.kwargs) -> Answer:
        if isinstance(path, Path):
            return local(path, *rest, **named)
        from recombine.runs import remote

        elsewhere: Callable[..., Answer] = getattr(remote, local.__name__)
        return elsewhere(path, *rest, **named)

    return either


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@anywhere
def sha256_of(path: Path) -> str:
    """The hash of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@anywhere
def size_of(path: Path) -> int:
    """How many bytes a file holds."""
    return path.stat().st_size


@anywhere
def write(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path``, whole or not at all, also when the process is killed or the disk fills on the way."""
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:12]}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            _sync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


@anywhere
def read(path: Path) -> bytes:
    """The bytes at ``path``."""
    return path.read_bytes()


def read_optional(path: Location) -> bytes | None:
    """The bytes at ``path``, or None where there is nothing."""
    try:
        return read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


@anywhere
def is_file(path: Path) -> bool:
    """Whether there is a file at ``path``."""
    return path.is_file()


@anywhere
def make(directory: Path) -> None:
    """A directory, with those above it, where there is none."""
    directory.mkdir(parents=True, exist_ok=True)


@anywhere
def move(directory: Path, target: Location) -> None:
    """Give a directory another name, at once or, where that cannot be, after a copy."""
    directory.rename(str(target))


@anywhere
def remove(path: Path) -> None:
    """Delete one file, which must be there."""
    path.unlink()


@anywhere
def delete(directory: Path) -> None:
    """Remove a directory and all in it; what is gone already, or may not be removed, is left to the next time."""
    shutil.rmtree(directory, ignore_errors=True)


@anywhere
def discard(directory: Path, unless: str) -> None:
    """Remove a directory that holds no file ``unless``; one that comes to hold it on the way is put back."""
    away = directory.with_name(f".{directory.name}.{uuid4().hex[:12]}.tmp")
    with suppress(FileNotFoundError):
        directory.rename(away)
        if (away / unless).is_file():
            with suppress(OSError):  # Where a new one is there already, it is that one that counts.
                away.rename(directory)
    delete(away)


def check_writable(root: Location, name: str) -> None:
    """Raise unless files can be made below ``root`` now: better than after hours of work."""
    try:
        make(root)
        probe(root)
    except (FileExistsError, NotADirectoryError):
        raise StoreError(f"the store {name!r} is or lies below a file; give a directory.") from None
    except OSError as error:
        raise StoreError(f"the store {name!r} cannot be written: {why(error)}; choose another.") from None


def check_readable(root: Location, name: str) -> None:
    """Raise unless there is something to read at ``root``."""
    try:
        there = is_directory(root)
    except OSError as error:
        raise StoreError(f"the store {name!r} cannot be read: {why(error)}.") from None
    if not there:
        raise StoreError(f"there is no store at {name!r}; give the directory that holds one.")


@anywhere
def is_directory(path: Path) -> bool:
    """Whether there is a directory; where there are only objects, whether any lies below."""
    return path.is_dir()


@anywhere
def probe(root: Path) -> float | None:
    """Write a file and remove it; its time is what the store's own clock says now."""
    path = root / f".probe-{uuid4().hex[:12]}"
    try:
        path.write_bytes(b"")
        return path.stat().st_mtime
    finally:
        path.unlink(missing_ok=True)


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def _sync_directory(directory: Path) -> None:
    # Makes the rename itself survive a power cut. Where directories cannot be synced, the hashes tell later.
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
