"""The store: a frozen description's hash is a directory. A run exists once its run.json, written last, is there.

Below the root:

    runs/<aa>/<address>/   run.json, <table>-<hash>.parquet, tensors-<hash>.safetensors
    work/<address>/        checkpoints of a run that is not finished
    failed/<address>.json  why a run failed
    aside/                 what was found damaged, with the reason
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from recombine.description import Description
from recombine.errors import InputError, unknown
from recombine.runs import files
from recombine.runs.files import StoreError, why
from recombine.runs.manifest import FILE, Damaged, Entry, Manifest
from recombine.runs.run import Outcome, plain
from recombine.runs.stored import StoredRun

log = logging.getLogger("recombine.runs")

ADDRESS = re.compile(r"[0-9a-f]{64}")
_PREFIX = re.compile(r"[0-9a-f]{4,64}")
_TRIES = 5


class Store:
    """A directory of runs. Any number of processes may read and write it at once; none needs a lock.

    ``writable=False`` opens one that is only read, and makes and moves nothing."""

    def __init__(self, root: str | Path, *, writable: bool = True) -> None:
        self.root = Path(root)
        self.writable = writable
        if writable:
            files.check_writable(self.root)
        else:
            files.check_readable(self.root)

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    def get(self, run: Description | str) -> StoredRun | None:
        """The run, each file checked against its hash, or None. A damaged run is set aside and counts as none."""
        address = _address(run)
        directory = self._directory(address)
        try:
            data = files.read_optional(directory / FILE)
            if data is None:
                return None
            try:
                manifest = Manifest.parse(data, address)
                for entry in manifest.entries:
                    _check_file(directory, entry)
            except Damaged as reason:
                self._set_aside(directory, data, str(reason))
                return None
        except OSError as error:
            raise StoreError(f"the run {address[:12]} in {str(self.root)!r} cannot be read: {why(error)}.") from error
        return StoredRun(directory, manifest)

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
        address, directory = manifest.address, self._directory(manifest.address)
        for _ in range(_TRIES):
            there = self.get(address)
            if there is not None:
                return there, False
            try:
                directory.mkdir(parents=True, exist_ok=True)
                for entry in manifest.entries:
                    files.write(directory / entry.file, entry.check(read(entry)))
                files.write(directory / FILE, manifest.to_bytes())
            except FileNotFoundError:
                continue  # Another process set the directory aside, or removed it, while this one wrote into it.
            except OSError as error:
                raise StoreError(
                    f"the run {address[:12]} cannot be written to {str(self.root)!r}: {why(error)}; "
                    "finished runs are intact: make room or choose another store and run the same command again."
                ) from error
            stored = self.get(address)
            if stored is not None:
                return stored, True
        raise StoreError(f"the run {address[:12]} does not stay in {str(self.root)!r}: something removes its files.")

    def list(self) -> tuple[StoredRun, ...]:
        """All runs by address, read from their run.json alone: files are checked when they are read."""
        found = []
        for directory in self._directories():
            data = files.read_optional(directory / FILE)
            if data is None:
                continue
            try:
                found.append(StoredRun(directory, Manifest.parse(data, directory.name)))
            except Damaged as reason:
                log.warning("the run %s in %s is damaged: %s", directory.name[:12], self.root, reason)
        return tuple(found)

    def find(self, prefix: str) -> StoredRun:
        """The one run whose address begins so, checked as `get` checks it."""
        if not _PREFIX.fullmatch(prefix):
            raise InputError(f"{prefix[:80]!r} is not the address of a run; give at least 4 of its letters (0-9, a-f).")
        matches = [d.name for d in self._directories(prefix[:2]) if d.name.startswith(prefix) and (d / FILE).is_file()]
        if len(matches) > 1:
            raise InputError(f"{len(matches)} runs begin with {prefix!r}; give more letters of the address.")
        if not matches:
            raise unknown("run", prefix, (d.name[:12] for d in self._directories() if (d / FILE).is_file()))
        run = self.get(matches[0])
        if run is None:
            raise StoreError(f"the run {matches[0][:12]} is damaged and not used; compute it again.")
        return run

    def remove(self, address: str) -> None:
        """Delete a run, its workspace and its failure. run.json goes first, so no half run is ever seen."""
        directory = self._directory(_address(address))
        try:
            (directory / FILE).unlink()
            (self.root / "failed" / f"{address}.json").unlink(missing_ok=True)
        except (FileNotFoundError, NotADirectoryError):
            raise unknown("run", address, (run.address[:12] for run in self.list())) from None
        except OSError as error:
            raise StoreError(f"the run {address[:12]} cannot be removed: {why(error)}.") from error
        files.delete(directory)
        self.forget_workspace(address)

    def workspace(self, run: Description | str) -> Path:
        """A directory of the run's own, for checkpoints; there until the run is stored."""
        path = self.root / "work" / _address(run)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"no workspace can be made in {str(self.root)!r}: {why(error)}.") from error
        return path

    def forget_workspace(self, run: Description | str) -> None:
        """Delete the workspace, if there is one."""
        if self.writable:
            files.delete(self.root / "work" / _address(run))

    def _directory(self, address: str) -> Path:
        return self.root / "runs" / address[:2] / address

    def _directories(self, shelf: str = "*") -> Iterator[Path]:
        return (d for d in sorted((self.root / "runs").glob(f"{shelf}/*")) if ADDRESS.fullmatch(d.name))

    def _set_aside(self, directory: Path, judged: bytes, reason: str) -> None:
        name, target = directory.name[:12], self.root / "aside" / f"{directory.name}-{uuid4().hex[:8]}"
        if not self.writable:
            log.warning("the run %s in %s is damaged (%s) and is not used", name, self.root, reason)
            return
        try:
            if files.read_optional(directory / FILE) != judged:
                return  # Another process has replaced it meanwhile; this judgement is about what was there before.
            target.parent.mkdir(exist_ok=True)
            directory.rename(target)
            files.write(target / "reason.txt", f"{reason}\n".encode())
        except FileNotFoundError:
            return
        except OSError as error:
            log.warning("the run %s is damaged (%s) and cannot be set aside: %s", name, reason, why(error))
            return
        log.warning("the run %s was damaged (%s); it was set aside in %s and will be redone", name, reason, target)


def _address(run: Description | str) -> str:
    if isinstance(run, Description):
        return run.address
    if ADDRESS.fullmatch(run):
        return run
    raise InputError(f"{run[:80]!r} is not the address of a run.")


def _check_file(directory: Path, entry: Entry) -> None:
    path = directory / entry.file
    try:
        size = path.stat().st_size
        if size != entry.size:
            raise Damaged(f"{entry.file} has {size} bytes instead of {entry.size}")
        if files.sha256_of(path) != entry.sha256:
            raise Damaged(f"{entry.file} does not match its SHA-256")
    except FileNotFoundError:
        raise Damaged(f"{entry.file} is missing") from None
