"""Where a store is: a directory, or a URL that fsspec knows. What is shown of a URL holds no user and no password."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.errors import InputError
from recombine.runs.files import sha256
from recombine.runs.layout import StoreError

if TYPE_CHECKING:
    from recombine.runs.files import Location

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.:-]+)://(?P<rest>.*)", re.DOTALL)
_BENT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/[^/]")
_LOCAL = ("file", "local")


def locate(root: str | Path) -> Location:
    """The location that a person gave as a path or a URL. Only a URL that is not a file's asks for more packages."""
    url = _URL.fullmatch(str(root))
    if url is None:
        if isinstance(root, Path) and _BENT.match(str(root)):
            raise InputError(f"the store {shown(str(root))!r} looks like a URL that was made a path; give it as text.")
        return Path(root)
    if url["scheme"].lower() in _LOCAL:
        return Path(url["rest"])
    try:
        from recombine.runs.remote import open_url
    except ImportError:
        raise StoreError(
            f"the store {shown(root)!r} needs packages that are not installed: pip install 'recombine[cluster]'."
        ) from None
    return open_url(str(root), shown(root))


def shown(root: str | Path) -> str:
    """The path or URL as it may be printed and kept: without user, password, query and fragment."""
    url = _URL.fullmatch(str(root))
    if url is None or url["scheme"].lower() in _LOCAL:
        return str(root if url is None else Path(url["rest"]))
    rest = re.split(r"[?#]", url["rest"], maxsplit=1)[0]
    before, at, after = rest.rpartition("@")
    if at and ("/" not in before or ":" in before):
        rest = after
    return f"{url['scheme']}://{rest}"


def local_part(root: Location, name: str) -> Path:
    """Where checkpoints lie: in the store if that is on a disk, else in a cache of this machine, one for each store."""
    return root if isinstance(root, Path) else _cache() / "recombine" / sha256(name.encode())[:16]


def _cache() -> Path:
    given = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return Path(given) if given else Path.home() / ".cache"
    except RuntimeError:  # A machine on which nobody has a home.
        return Path(tempfile.gettempdir())
