"""A run that exists: what it was, what it found, where it came from. Tables and tensors are read when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from recombine.errors import unknown
from recombine.runs import files
from recombine.runs.layout import StoreError, why
from recombine.runs.manifest import Damaged, Entry, Manifest

if TYPE_CHECKING:
    import polars as pl
    import torch

    from recombine.runs.files import Location

Content = TypeVar("Content")


@dataclass(frozen=True)
class StoredRun:
    """A run in a store. Every file is checked against its hash as it is read, so nothing damaged is ever served."""

    directory: Location
    manifest: Manifest

    def __repr__(self) -> str:
        return f"StoredRun({self.description.get('kind')}, {self.address[:12]}, tables: {', '.join(self.tables)})"

    @property
    def address(self) -> str:
        return self.manifest.address

    @property
    def description(self) -> dict[str, Any]:
        return self.manifest.description

    @property
    def notes(self) -> dict[str, Any]:
        return self.manifest.notes

    @property
    def provenance(self) -> dict[str, Any]:
        return self.manifest.provenance

    @property
    def size(self) -> int:
        """The bytes its tables and tensors take on disk."""
        return sum(entry.size for entry in self.manifest.entries)

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The tables by name, each read when it is looked up."""
        return _Tables(self)

    def table(self, name: str) -> pl.DataFrame:
        """One table; an unknown name suggests the nearest."""
        from recombine.runs.formats import table_from_bytes

        entry = self.manifest.tables.get(name)
        if entry is None:
            raise unknown(f"table of run {self.address[:12]}", name, self.manifest.tables)
        return self._decode(entry, table_from_bytes)

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors, on the CPU; empty if the run kept none."""
        if self.manifest.tensors is None:
            return {}
        from recombine.runs.formats import tensors_from_bytes

        return self._decode(self.manifest.tensors, tensors_from_bytes)

    def read(self, entry: Entry) -> bytes:
        """The bytes of one of its files."""
        return self._decode(entry, bytes)

    def check(self) -> None:
        """Raise `Damaged` unless every file is what was written."""
        for entry in self.manifest.entries:
            path = self.directory / entry.file
            try:
                size = files.size_of(path)
                if size != entry.size:
                    raise Damaged(f"{entry.file} has {size} bytes instead of {entry.size}")
                if files.sha256_of(path) != entry.sha256:
                    raise Damaged(f"{entry.file} does not match its SHA-256")
            except FileNotFoundError:
                raise Damaged(f"{entry.file} is missing") from None

    def _decode(self, entry: Entry, decode: Callable[[bytes], Content]) -> Content:
        again = "run the same command again to have it redone"
        try:
            return decode(entry.check(files.read(self.directory / entry.file)))
        except Damaged as reason:
            raise StoreError(f"the run {self.address[:12]} is damaged: {reason}; {again}.") from None
        except OSError as error:
            raise StoreError(f"the run {self.address[:12]} cannot be read: {why(error)}; {again}.") from None


class _Tables(Mapping[str, "pl.DataFrame"]):
    def __init__(self, run: StoredRun) -> None:
        self._run = run

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._run.manifest.tables:
            raise KeyError(name)
        return self._run.table(name)

    def __contains__(self, name: object) -> bool:
        return name in self._run.manifest.tables

    def __iter__(self) -> Iterator[str]:
        return iter(self._run.manifest.tables)

    def __len__(self) -> int:
        return len(self._run.manifest.tables)
