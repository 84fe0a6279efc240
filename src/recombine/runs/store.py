"""The store: a frozen description's hash is a directory. A run exists once its run.json, written last, is there.

Below the root, which is a directory or a URL:

    runs/<aa>/<address>/   run.json, <table>-<hash>.parquet, tensors-<hash>.safetensors
    work/<address>/        checkpoints of a run that is not finished (in a cache of the machine if the root is a URL)
    failed/<address>.json  why a run failed
    aside/                 what was found damaged, with the reason
    index.parquet          what `catalogue` remembers of the runs; may be deleted at any time
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from recombine.description import Description
from recombine.errors import InputError, unknown
from recombine.runs import files
from recombine.runs.layout import ADDRESS, FILE, StoreError, why
from recombine.runs.listing import names
from recombine.runs.location import local_part, locate, shown
from recombine.runs.manifest import Damaged, Entry, Manifest
from recombine.runs.run import Outcome, plain
from recombine.runs.stored import StoredRun

if TYPE_CHECKING:
    from recombine.runs.files import Location

log = logging.getLogger("recombine.runs")

_PREFIX = re.compile(r"[0-9a-f]{4,64}")
_TRIES = 5
_NEAREST_AMONG = 2000


class Store:
    """A directory of runs, or a URL fsspec knows. Any number of processes may read and write it at once without a lock.

    ``writable=False`` opens one that is only read, and makes and moves nothing.

    Examples:
        >>> import tempfile
        >>> len(Store(tempfile.mkdtemp()).list())
        0
    """

    def __init__(self, root: str | Path, *, writable: bool = True) -> None:
        self.root: Location = locate(root)
        self.name = shown(root)
        """The root as it may be printed: a URL without user and password."""
        self.local = local_part(self.root, self.name)
        """What must be on this machine: the root if it is on a disk, a directory of this store's own if it is a URL."""
        self.work = self.local / "work"
        self.writable = writable
        if writable:
            files.check_writable(self.root, self.name)
        else:
            files.check_readable(self.root, self.name)

    def __repr__(self) -> str:
        return f"Store({self.name!r})"

    def get(self, run: Description | str) -> StoredRun | None:
        """The run, each file checked against its hash, or None. A damaged run is set aside and counts as none."""
        address = _address(run)
        directory = self.directory(address)
        try:
            data = files.read_optional(directory / FILE)
            if data is None:
                return None
            try:
                stored = StoredRun(directory, Manifest.parse(data, address))
                stored.check()
            except Damaged as reason:
                self._set_aside(directory, data, str(reason))
                return None
        except OSError as error:
            raise StoreError(f"the run {address[:12]} in {self.name!r} cannot be read: {why(error)}.") from error
        return stored

    def put(self, run: Description, outcome: Outcome, provenance: Mapping[str, Any]) -> StoredRun:
        """Store what a run found, and delete its workspace. A valid run that is there already is kept as it is."""
        from recombine.runs.formats import table_to_bytes, tensors_to_bytes

        blobs: dict[str, bytes] = {}

        def keep(stem: str, ending: str, data: bytes) -> Entry:
            entry = Entry.of(stem, ending, data)
            blobs[entry.file] = data
            return entry

        manifest = Manifest(
            address=run.address,
            description=run.describe(),
            tables={name: keep(name, "parquet", table_to_bytes(table)) for name, table in outcome.tables.items()},
            tensors=keep("tensors", "safetensors", tensors_to_bytes(outcome.tensors)) if outcome.tensors else None,
            notes=plain(outcome.notes),
            provenance=plain(provenance),
        )
        stored, _ = self.adopt(manifest, lambda entry: blobs[entry.file])
        self.forget_workspace(run)
        return stored

    def adopt(self, manifest: Manifest, read: Callable[[Entry], bytes]) -> tuple[StoredRun, bool]:
        """Write a run from a manifest and a reader of its files, and say whether it is new.

        All bytes are checked before run.json makes the run visible; a valid run already there is kept."""
        address, directory = manifest.address, self.directory(manifest.address)
        for _ in range(_TRIES):
            there = self.get(address)
            if there is not None:
                return there, False
            try:
                files.make(directory)
                for entry in manifest.entries:
                    files.write(directory / entry.file, entry.check(read(entry)))
                files.write(directory / FILE, manifest.to_bytes())
            except FileNotFoundError:
                continue  # Another process set the directory aside, or removed it, while this one wrote into it.
            except OSError as error:
                raise StoreError(
                    f"the run {address[:12]} cannot be written to {self.name!r}: {why(error)}; "
                    "finished runs are intact: make room or choose another store and run the same command again."
                ) from error
            stored = self.get(address)
            if stored is not None:
                return stored, True
        raise StoreError(f"the run {address[:12]} does not stay in {self.name!r}: something removes its files.")

    def list(self) -> tuple[StoredRun, ...]:
        """All runs by address, read from their run.json alone: files are checked when they are read.

        `catalogue` is the quick way to what can be told of many runs in a table."""
        return tuple(run for run in map(self.read_manifest, self.addresses()) if run is not None)

    def addresses(self) -> Iterator[str]:
        """The addresses of all directories that may hold a run, sorted."""
        for shelf in self._names():
            yield from self._shelf(shelf)

    def read_manifest(self, address: str) -> StoredRun | None:
        """The run as its run.json says, its other files unseen; None where there is none or it is damaged."""
        directory = self.directory(_address(address))
        try:
            data = files.read_optional(directory / FILE)
            return None if data is None else StoredRun(directory, Manifest.parse(data, address))
        except Damaged as reason:
            log.warning("the run %s in %s is damaged: %s", address[:12], self.name, reason)
        except OSError as error:
            raise StoreError(f"the run {address[:12]} in {self.name!r} cannot be read: {why(error)}.") from error
        return None

    def find(self, prefix: str) -> StoredRun:
        """The one run whose address begins so, checked as `get` checks it."""
        if not _PREFIX.fullmatch(prefix):
            raise InputError(f"{prefix[:80]!r} is not the address of a run; give at least 4 of its letters (0-9, a-f).")
        matches = [a for a in self._shelf(prefix[:2]) if a.startswith(prefix) and self.holds(a)]
        if len(matches) > 1:
            raise InputError(f"{len(matches)} runs begin with {prefix!r}; give more letters of the address.")
        if not matches:
            raise self._unknown(prefix)
        run = self.get(matches[0])
        if run is None:
            raise StoreError(f"the run {matches[0][:12]} is damaged and not used; compute it again.")
        return run

    def remove(self, address: str) -> None:
        """Delete a run, its workspace and its failure. run.json goes first, so no half run is ever seen."""
        directory = self.directory(_address(address))
        try:
            files.remove(directory / FILE)
        except (FileNotFoundError, NotADirectoryError):
            raise self._unknown(address) from None
        except OSError as error:
            raise StoreError(f"the run {address[:12]} cannot be removed: {why(error)}.") from error
        with suppress(OSError):
            files.remove(self.root / "failed" / f"{address}.json")
        files.delete(directory)
        self.forget_workspace(address)

    def holds(self, address: str) -> bool:
        """Whether a run.json is there, without reading it: quick, and `get` is what decides."""
        return files.is_file(self.directory(address) / FILE)

    def directory(self, address: str) -> Location:
        """Where the files of a run are, or would be."""
        return self.root / "runs" / address[:2] / address

    def workspace(self, run: Description | str) -> Path:
        """A directory of the run's own, for checkpoints; there until the run is stored."""
        path = self.work / _address(run)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"no workspace can be made in {str(self.work)!r}: {why(error)}.") from error
        return path

    def forget_workspace(self, run: Description | str) -> None:
        """Delete the workspace, if there is one."""
        if self.writable:
            files.delete(self.work / _address(run))

    def _shelf(self, shelf: str) -> Iterator[str]:
        return (name for name in self._names(shelf) if name.startswith(shelf) and ADDRESS.fullmatch(name))

    def _names(self, *below: str) -> Iterable[str]:
        try:
            return names(self.root.joinpath("runs", *below))
        except OSError as error:
            raise StoreError(f"the runs of {self.name!r} cannot be listed: {why(error)}.") from error

    def _unknown(self, address: str) -> InputError:
        some = islice(self.addresses(), _NEAREST_AMONG)
        return unknown("run", address, (name[:12] for name in some if self.holds(name)))

    def _set_aside(self, directory: Location, judged: bytes, reason: str) -> None:
        name, target = directory.name[:12], self.root / "aside" / f"{directory.name}-{uuid4().hex[:8]}"
        where = f"{self.name}/aside/{target.name}"
        if not self.writable:
            log.warning("the run %s in %s is damaged (%s) and is not used", name, self.name, reason)
            return
        try:
            if files.read_optional(directory / FILE) != judged:
                return  # Another process has replaced it meanwhile; this judgement is about what was there before.
            files.make(target.parent)
            files.move(directory, target)
            files.write(target / "reason.txt", f"{reason}\n".encode())
        except FileNotFoundError:
            return
        except OSError as error:
            log.warning("the run %s is damaged (%s) and cannot be set aside: %s", name, reason, why(error))
            return
        log.warning("the run %s was damaged (%s); it was set aside in %s and will be redone", name, reason, where)


def _address(run: Description | str) -> str:
    if isinstance(run, Description):
        return run.address
    if ADDRESS.fullmatch(run):
        return run
    raise InputError(f"{run[:80]!r} is not the address of a run.")
