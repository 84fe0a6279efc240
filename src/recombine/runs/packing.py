"""A store as one file. A zip whose members are stored as they are: Parquet and safetensors are compressed already,
one run can be read without the others, and no member can grow when it is taken out."""

from __future__ import annotations

import os
import re
import struct
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

from recombine.errors import InputError
from recombine.runs.layout import FILE, StoreError, why
from recombine.runs.manifest import Damaged, Entry, Manifest
from recombine.runs.store import Store
from recombine.runs.stored import StoredRun

MAX_BYTES = 16 * 2**30
_MEMBER = re.compile(
    r"runs/(?P<shelf>[0-9a-f]{2})/(?P<address>(?P=shelf)[0-9a-f]{62})/"
    r"(?P<file>run\.json|[a-z0-9_-]{1,100}-[0-9a-f]{12}\.(?:parquet|safetensors))"
)
_BROKEN = (zipfile.BadZipFile, EOFError, RuntimeError, ValueError, ArithmeticError, struct.error)
"""What the standard library raises at files that are no zip, or no longer one."""


@dataclass(frozen=True)
class Packed:
    """What `pack` wrote."""

    runs: int
    size: int


@dataclass(frozen=True)
class Unpacked:
    """What `unpack` did with each run: added it, found it there already, or refused it for a reason."""

    added: tuple[str, ...]
    kept: tuple[str, ...]
    refused: Mapping[str, str]


def pack(store: Store, file: str | Path, addresses: Iterable[str] | None = None) -> Packed:
    """Write runs (all of them, or those whose addresses begin so) as one file; the same runs give the same bytes."""
    file = Path(file)
    if not file.name:
        raise InputError(f"{str(file)!r} cannot be written: give the name of a file.")
    if addresses is None:
        chosen = [run for run in (store.get(address) for address in store.addresses()) if run is not None]
    else:
        chosen = [store.find(prefix) for prefix in addresses]
    runs = sorted({run.address: run for run in chosen}.values(), key=lambda run: run.address)
    temporary = file.with_name(f".{file.name}.{uuid4().hex[:12]}.tmp")
    try:
        with zipfile.ZipFile(temporary, "x", zipfile.ZIP_STORED) as archive:
            for run in runs:
                _pack_run(archive, run)
        size = temporary.stat().st_size
        os.replace(temporary, file)
    except OSError as error:
        raise InputError(f"{str(file)!r} cannot be written: {why(error)}.") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return Packed(len(runs), size)


def unpack(file: str | Path, store: Store, *, max_bytes: int = MAX_BYTES) -> Unpacked:
    """Take the runs of a packed file into the store. Nothing of a run is seen before all its hashes are verified.

    A file that was not made by `pack`, or holds more than ``max_bytes``, is refused before anything is written."""
    file = Path(file)
    try:
        with zipfile.ZipFile(file) as archive:
            return _unpack(archive, _members(archive, file, max_bytes), store)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"there is no file {str(file)!r}.") from None
    except OSError as error:
        raise InputError(f"{str(file)!r} cannot be read: {why(error)}.") from error
    except _BROKEN as error:
        raise InputError(f"{str(file)!r} is not a file made by 'recombine runs pack': {error}.") from None


def _pack_run(archive: zipfile.ZipFile, run: StoredRun) -> None:
    contents = {FILE: run.manifest.to_bytes} | {e.file: partial(run.read, e) for e in run.manifest.entries}
    for name, content in sorted(contents.items()):
        # A fixed date, mode and system, so that the same runs are the same bytes whenever and wherever packed.
        info = zipfile.ZipInfo(f"runs/{run.address[:2]}/{run.address}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
        info.create_system, info.external_attr = 3, 0o644 << 16
        archive.writestr(info, content())


def _members(archive: zipfile.ZipFile, file: Path, max_bytes: int) -> dict[str, dict[str, zipfile.ZipInfo]]:
    """The members by address and file name, once every one of them is known to be harmless."""
    total = sum(info.file_size for info in archive.infolist())
    if total > max_bytes:
        raise InputError(f"{str(file)!r} holds {total} bytes, and at most {max_bytes} are allowed.")
    members: dict[str, dict[str, zipfile.ZipInfo]] = defaultdict(dict)
    for info in archive.infolist():
        match = _MEMBER.fullmatch(info.orig_filename)
        if match is None or match["file"] in members[match["address"]]:
            raise InputError(f"{str(file)!r} is refused: {info.filename[:80]!r} has no place in a store.")
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise InputError(f"{str(file)!r} is refused: {info.filename[:80]!r} is compressed or encrypted.")
        members[match["address"]][match["file"]] = info
    return members


def _unpack(archive: zipfile.ZipFile, members: Mapping[str, dict[str, zipfile.ZipInfo]], store: Store) -> Unpacked:
    added: list[str] = []
    kept: list[str] = []
    refused: dict[str, str] = {}
    for address, infos in sorted(members.items()):

        def read(entry: Entry, infos: dict[str, zipfile.ZipInfo] = infos) -> bytes:
            return archive.read(infos[entry.file])

        try:
            if FILE not in infos:
                raise Damaged(f"{FILE} is missing")
            manifest = Manifest.parse(archive.read(infos[FILE]), address)
            if set(infos) != {FILE, *(entry.file for entry in manifest.entries)}:
                raise Damaged("its files are not those its run.json names")
            for entry in manifest.entries:
                entry.check(read(entry))
            _, new = store.adopt(manifest, read)
        except StoreError:
            raise
        except (Damaged, *_BROKEN) as reason:
            refused[address] = str(reason)
            continue
        (added if new else kept).append(address)
    return Unpacked(tuple(added), tuple(kept), refused)
