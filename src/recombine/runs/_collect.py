"""Take out of a store what nobody needs: leftovers always, runs only when told which ones must stay.

Nothing here has to be right about time. What was touched within the last hour, by the clock of the store itself, is
left alone so that work in progress is not disturbed; but a writer whose files are taken notices when it checks them and
writes them again, and a run whose checkpoints are taken starts again to the same result.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from recombine.errors import InputError
from recombine.runs import files
from recombine.runs.layout import ADDRESS, FILE, Found, StoreError, why
from recombine.runs.listing import look, names, walk
from recombine.runs.store import Store

if TYPE_CHECKING:
    from recombine.runs.files import Location

HOUR, DAY = 3600.0, 86400.0
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{12}\.tmp|\.probe-[0-9a-f]{12}")


@dataclass(frozen=True)
class Rubbish:
    """Something that may go, and why."""

    what: str
    path: str
    """Below the store; of a workspace, where it lies on this machine."""
    bytes: int
    why: str


def collect(
    store: Store, *, delete: bool = False, older_than: float = 30.0, referred: Collection[str] | None = None
) -> tuple[Rubbish, ...]:
    """What may go; with ``delete`` it is gone afterwards.

    That is: what was set aside, workspaces of runs that are stored or were not touched for ``older_than`` days, reasons
    of failures of runs that succeeded since, and files that no run.json names. Runs go only where ``referred`` is
    given: those whose address is not in it."""
    if not older_than >= 0:
        raise InputError(f"a number of days is at least 0, got {older_than}.")
    if delete and not store.writable:
        raise InputError(f"{store!r} was opened to be read only; nothing can be deleted from it.")
    try:
        found = []
        for rubbish, remove in _Look(store, older_than * DAY, referred).everything():
            found.append(rubbish)
            if delete:
                remove()  # At once: the sooner after the look, the less can have changed.
    except OSError as error:
        raise StoreError(f"the store {store.name!r} cannot be tidied: {why(error)}.") from error
    return tuple(found)


Removable = tuple[Rubbish, Callable[[], None]]


class _Look:
    """One look through a store: what is rubbish, each piece with the way to remove it."""

    def __init__(self, store: Store, patience: float, referred: Collection[str] | None) -> None:
        self.store = store
        self.patience = patience
        self.referred = None if referred is None else frozenset(referred)
        # The disk or server dates the files, so it is asked for the time; this machine's clock may be another.
        now = files.probe(store.root) if store.writable else None
        self.now = time.time() if now is None else now

    def everything(self) -> Iterator[Removable]:
        for shelf in names(self.store.root / "runs"):
            runs: dict[str, dict[str, Found]] = defaultdict(dict)
            for found in walk(self.store.root / "runs" / shelf):
                address, _, file = found.path.partition("/")
                if (ADDRESS.fullmatch(address) and address.startswith(shelf)) or _TEMPORARY.fullmatch(address):
                    runs[address][file] = found
            for address, parts in sorted(runs.items()):
                yield from self._run(shelf, address, parts)
        yield from self._aside()
        yield from self._failed()
        yield from self._workspaces()
        yield from self._temporary()

    def _run(self, shelf: str, address: str, parts: dict[str, Found]) -> Iterator[Removable]:
        path = f"runs/{shelf}/{address}"
        directory = self.store.root / path
        if not ADDRESS.fullmatch(address):
            if self._quiet(parts.values()):
                yield (
                    _rubbish("leftover", path, parts.values(), "a deletion was cut short"),
                    partial(files.delete, directory),
                )
            return
        if FILE not in parts:
            if self._quiet(parts.values()):
                rubbish = _rubbish("leftover", path, parts.values(), "it has no run.json")
                yield rubbish, partial(self._discard, directory)
            return
        if self.referred is not None and address not in self.referred:
            if self._quiet(parts.values()):
                yield _rubbish("run", path, parts.values(), "no study refers to it"), partial(self._drop, address)
            return
        if len(parts) == 1 or (run := self.store.read_manifest(address)) is None:
            return  # A damaged run is set aside when it is asked for.
        named = {FILE, *(entry.file for entry in run.manifest.entries)}
        for file, found in sorted(parts.items()):
            if file not in named and self._quiet([found]):
                rubbish = _rubbish("leftover", f"{path}/{file}", [found], "its run.json does not name it")
                yield rubbish, partial(self._remove, directory / file)

    def _aside(self) -> Iterator[Removable]:
        for name in names(self.store.root / "aside"):
            directory = self.store.root / "aside" / name
            parts = list(walk(directory))
            if self._quiet(parts):
                rubbish = _rubbish("damaged", f"aside/{name}", parts, "it was found damaged and set aside")
                yield rubbish, partial(files.delete, directory)

    def _failed(self) -> Iterator[Removable]:
        for found in walk(self.store.root / "failed"):
            address, _, ending = found.path.partition(".")
            if ending == "json" and ADDRESS.fullmatch(address) and self._quiet([found]) and self.store.holds(address):
                rubbish = _rubbish("failure", f"failed/{found.path}", [found], "the run succeeded since")
                yield rubbish, partial(self._remove, self.store.root / "failed" / found.path)

    def _workspaces(self) -> Iterator[Removable]:
        for name in names(self.store.work):
            directory = self.store.work / name
            if not ADDRESS.fullmatch(name) or not directory.is_dir():
                continue
            parts = list(walk(directory))
            with suppress(FileNotFoundError):
                touched = [*parts, Found("", 0, directory.stat().st_mtime)]
                if self._quiet(touched) and self.store.holds(name):
                    reason = "the run is stored"
                elif self._quiet(touched, self.patience):
                    reason = f"nothing happened in it for {self.patience / DAY:g} days"
                else:
                    continue
                yield _rubbish("workspace", str(directory), parts, reason), partial(files.delete, directory)

    def _temporary(self) -> Iterator[Removable]:
        for directory, below in ((self.store.root, ""), (self.store.root / "failed", "failed/")):
            for name in filter(_TEMPORARY.fullmatch, names(directory)):
                found = look(directory / name)
                if found is not None and self._quiet([found]):
                    rubbish = _rubbish("leftover", below + name, [found], "a write was cut short")
                    yield rubbish, partial(self._remove, directory / name)

    def _quiet(self, parts: Collection[Found], seconds: float = 0.0) -> bool:
        """Whether nothing was touched for so long. What has no date, or one in the future, counts as just touched."""
        patience = max(seconds, HOUR)
        return bool(parts) and all(p.modified is not None and self.now - p.modified >= patience for p in parts)

    def _discard(self, directory: Location) -> None:
        if self._quiet(list(walk(directory))):
            files.discard(directory, unless=FILE)

    def _remove(self, path: Location) -> None:
        found = look(path)
        if found is not None and self._quiet([found]):
            with suppress(FileNotFoundError, NotADirectoryError):
                files.remove(path)

    def _drop(self, address: str) -> None:
        try:
            self.store.remove(address)
        except StoreError:
            raise
        except InputError:
            pass  # Somebody else removed it first.


def _rubbish(what: str, path: str, parts: Collection[Found], reason: str) -> Rubbish:
    return Rubbish(what, path, sum(part.size for part in parts), reason)
