"""What was drawn before: bytes found again by the hash of all they depend on.

A cache holds nothing that cannot be made again. It may be deleted at any time, a damaged entry is made anew, and where
nothing can be written everything is simply drawn.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from uuid import uuid4

LIMIT = 256 * 2**20
"""Bytes kept; beyond them what was used longest ago goes first. A page of five studies needs about a fiftieth."""
_DIGEST = hashlib.sha256().digest_size


class Cache:
    """A folder of entries ``<aa>/<key>``: the SHA-256 of what follows, then the bytes, compressed."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.folder, self.limit = Path(folder), limit
        self._grown = False

    def recall(self, key: str, make: Callable[[], bytes]) -> bytes:
        """The bytes kept under ``key``; made and kept where there are none, or none that are whole."""
        path = self.folder / key[:2] / key
        with suppress(OSError, zlib.error):
            stored = path.read_bytes()
            if hashlib.sha256(stored[_DIGEST:]).digest() == stored[:_DIGEST]:
                data = zlib.decompress(stored[_DIGEST:])
                os.utime(path)
                return data
        data = make()
        with suppress(OSError):
            self._keep(path, data)
        return data

    def trim(self) -> None:
        """Remove what was used longest ago until the rest is within the limit; looks only where something was added."""
        if not self._grown:
            return
        self._grown = False
        with suppress(OSError):
            entries = sorted((stat.st_mtime, stat.st_size, path) for path in self._files() for stat in [path.stat()])
            excess = sum(size for _, size, _ in entries) - self.limit
            for _, size, path in entries:
                if excess <= 0:
                    break
                path.unlink(missing_ok=True)
                excess -= size

    def _files(self) -> Iterator[Path]:
        return (path for path in self.folder.glob("*/*") if path.is_file())

    def _keep(self, path: Path, data: bytes) -> None:
        packed = zlib.compress(data, 6)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{uuid4().hex[:12]}.part")
        try:
            partial.write_bytes(hashlib.sha256(packed).digest() + packed)
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
        self._grown = True


_current: ContextVar[Cache | None] = ContextVar("figure_cache", default=None)


@contextmanager
def cached_in(folder: object) -> Iterator[None]:
    """What is drawn inside is looked up in this folder first, and kept there.

    Where ``folder`` is no path on this disk, as that of a store far away is not, everything is drawn."""
    cache = Cache(folder) if isinstance(folder, Path) else None
    token = _current.set(cache)
    try:
        yield
    finally:
        _current.reset(token)
        if cache is not None:
            cache.trim()


def recall(depends_on: Callable[[], object], make: Callable[[], bytes]) -> bytes:
    """What ``make`` gives, from the cache in use where it is there.

    ``depends_on`` gives, as plain data, everything the bytes depend on; it is not asked where no cache is in use."""
    cache = _current.get()
    if cache is None:
        return make()
    text = json.dumps(depends_on(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return cache.recall(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), make)
