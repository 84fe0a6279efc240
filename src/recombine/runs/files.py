"""The only place that touches bytes on disk: read, check, and write whole or not at all.

It relies on one thing of a file system: that a rename within a directory is atomic.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from recombine.errors import InputError

_NO_SYNC = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


class StoreError(InputError):
    """The store itself cannot be read or written: no space, no permission, not a store. Finished runs stay intact."""


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sha256_of(path: Path) -> str:
    """The hash of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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


def read_optional(path: Path) -> bytes | None:
    """The bytes at ``path``, or None where there is nothing."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def delete(directory: Path) -> None:
    """Remove a directory and all in it; what is gone already, or may not be removed, is left to the next time."""
    shutil.rmtree(directory, ignore_errors=True)


def why(error: OSError) -> str:
    """The reason the operating system gave, without a path."""
    return error.strerror or type(error).__name__


def check_writable(root: Path) -> None:
    """Raise unless files can be made below ``root`` now: better than after hours of work."""
    probe = root / f".probe-{uuid4().hex[:12]}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except (FileExistsError, NotADirectoryError):
        raise StoreError(f"the store {str(root)!r} is or lies below a file; give a directory.") from None
    except OSError as error:
        raise StoreError(f"the store {str(root)!r} cannot be written: {why(error)}; choose another.") from None


def check_readable(root: Path) -> None:
    """Raise unless ``root`` is a directory."""
    if not root.is_dir():
        raise StoreError(f"there is no store at {str(root)!r}; give the directory that holds one.")


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
