"""A store at a URL, through fsspec: s3://bucket/path, memory://, anything fsspec knows. Imported only for such a store.

Objects are put whole, so nothing is written under another name first. What libraries raise becomes an `OSError`.
"""

from __future__ import annotations

import errno
import hashlib
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from uuid import uuid4

from upath import UPath

from recombine.runs.layout import ADDRESS, FILE, Found, StoreError, why

P = ParamSpec("P")
Answer = TypeVar("Answer")

_PIECE = 2**22
_OBJECTS = {"memory", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci", "ossfs", "swift"}
"""Where there are no directories to be made; making one might make a bucket instead."""
_SECRET = re.compile(r"[^\s/'\"]*:[^\s/'\"]*@")
_TIMES = ("LastModified", "last_modified", "mtime", "modified", "updated", "created")


def open_url(url: str, name: str) -> UPath:
    """The location a URL means; ``name`` is the URL without its secrets."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Told of kinds of store that are rarely used; they may work well.
            path = UPath(url)
            path.fs  # noqa: B018 - made here, so that what is missing is said here
    except ImportError as error:
        raise StoreError(
            f"the store {name!r} needs a package that is not installed ({_text(error)}): "
            "pip install 'recombine[cluster]', or the one named."
        ) from None
    except Exception as error:
        raise StoreError(f"the store {name!r} cannot be opened: {_text(error)}.") from None
    return path


def _said(work: Callable[P, Answer]) -> Callable[P, Answer]:
    """What any library raises, as an `OSError` with one line and no secret in it."""

    @wraps(work)
    def saying(*arguments: P.args, **named: P.kwargs) -> Answer:
        try:
            return work(*arguments, **named)
        except (FileNotFoundError, NotADirectoryError, FileExistsError):
            raise
        except OSError as error:
            raise OSError(error.errno or errno.EIO, error.strerror or _text(error)) from None
        except Exception as error:
            raise OSError(errno.EIO, _text(error)) from None

    return saying


@_said
def sha256_of(path: UPath) -> str:
    digest = hashlib.sha256()
    with _fs(path).open(path.path, "rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


@_said
def size_of(path: UPath) -> int:
    return int(_fs(path).info(path.path)["size"])


@_said
def write(path: UPath, data: bytes) -> None:
    _fs(path).pipe_file(path.path, data)


@_said
def read(path: UPath) -> bytes:
    return bytes(_fs(path).cat_file(path.path))


@_said
def is_file(path: UPath) -> bool:
    return bool(_fs(path).isfile(path.path))


@_said
def make(directory: UPath) -> None:
    if directory.protocol not in _OBJECTS:
        _fs(directory).makedirs(directory.path, exist_ok=True)


@_said
def move(directory: UPath, target: UPath) -> None:
    """Copy, then delete run.json before the rest, so that no half run is ever seen."""
    fs = _fs(directory)
    make(target)
    found = names(directory)
    for name in found:
        fs.pipe_file((target / name).path, fs.cat_file((directory / name).path))
    for name in sorted(found, key=lambda name: name != FILE):
        fs.rm_file((directory / name).path)


@_said
def remove(path: UPath) -> None:
    fs = _fs(path)
    if not fs.exists(path.path):  # An object store deletes what is not there without a word.
        raise FileNotFoundError(errno.ENOENT, "no such object")
    fs.rm_file(path.path)


def delete(directory: UPath) -> None:
    with suppress(Exception):
        _fs(directory).rm(directory.path, recursive=True)


@_said
def discard(directory: UPath, unless: str) -> None:
    if not is_file(directory / unless):
        delete(directory)


@_said
def is_directory(path: UPath) -> bool:
    return bool(_fs(path).isdir(path.path))


@_said
def probe(root: UPath) -> float | None:
    path = root / f".probe-{uuid4().hex[:12]}"
    fs = _fs(path)
    try:
        fs.pipe_file(path.path, b"-")
    except FileNotFoundError as error:
        raise OSError(errno.ENOENT, f"there is no such bucket or directory ({_text(error)})") from None
    info = fs.info(path.path)
    fs.rm_file(path.path)
    return _modified(info)


@_said
def names(directory: UPath) -> list[str]:
    try:
        listed = _fs(directory).ls(directory.path, detail=False)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted({str(path).rstrip("/").rpartition("/")[2] for path in listed})


@_said
def marks(runs: UPath) -> dict[str, str]:
    found: dict[str, str] = {}
    for path, info in _everything(runs):
        address, _, file = path.rpartition("/")
        shelf, _, address = address.partition("/")
        if file == FILE and ADDRESS.fullmatch(address) and address.startswith(shelf):
            kept = {key: str(info[key]) for key in ("size", "ETag", "md5", "etag", "generation") if key in info}
            found[address] = "-".join([*kept.values(), str(_modified(info))])
    return found


def walk(directory: UPath) -> Iterator[Found]:
    for path, info in _listed(directory):
        yield Found(path, int(info.get("size") or 0), _modified(info))


@_said
def look(path: UPath) -> Found | None:
    with suppress(FileNotFoundError, NotADirectoryError):
        info = _fs(path).info(path.path)
        return Found(path.name, int(info.get("size") or 0), _modified(info))
    return None


@_said
def _listed(directory: UPath) -> list[tuple[str, Mapping[str, Any]]]:
    return list(_everything(directory))


def _everything(directory: UPath) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every object below a directory with what one listing tells of it."""
    above = directory.path.rstrip("/") + "/"
    with suppress(FileNotFoundError, NotADirectoryError):
        for path, info in _fs(directory).find(directory.path, detail=True).items():
            if path.startswith(above):
                yield path.removeprefix(above), info


def _fs(path: UPath) -> Any:
    """The file system, made to forget what it remembers of listings: another process may have written since."""
    fs: Any = path.fs
    fs.invalidate_cache()
    return fs


def _modified(info: Mapping[str, Any]) -> float | None:
    for key in _TIMES:
        value = info.get(key)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, (int, float)):
            return float(value)
    return None


def _text(error: BaseException) -> str:
    """One line of what a library said, without user names and passwords."""
    said = str(error) if not isinstance(error, OSError) else error.strerror or str(error) or why(error)
    return _SECRET.sub("", " ".join(said.split()))[:200].rstrip(".") or type(error).__name__
