"""run.json: the file that makes a run exist. It holds the description, the hashes of all other files, and its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recombine.runs.files import sha256
from recombine.runs.layout import FILE
from recombine.runs.run import NAME

SCHEMA = 1
_HASH = r"^[0-9a-f]{64}$"


class Damaged(Exception):
    """Why what lies on disk cannot be trusted to be the run it says it is."""


class Entry(BaseModel):
    """A file of a run. Its name holds its hash, so two writers of one run never write one name with two contents."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    file: str
    sha256: Annotated[str, Field(pattern=_HASH)]
    size: Annotated[int, Field(ge=0)]

    @classmethod
    def of(cls, stem: str, ending: str, data: bytes) -> Entry:
        digest = sha256(data)
        return cls(file=f"{stem}-{digest[:12]}.{ending}", sha256=digest, size=len(data))

    def check(self, data: bytes) -> bytes:
        """``data`` itself, if it is what was written."""
        if len(data) != self.size:
            raise Damaged(f"{self.file} has {len(data)} bytes instead of {self.size}")
        if sha256(data) != self.sha256:
            raise Damaged(f"{self.file} does not match its SHA-256")
        return data


class Manifest(BaseModel):
    """The content of run.json."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    address: Annotated[str, Field(pattern=_HASH)]
    description: dict[str, Any]
    tables: dict[str, Entry]
    tensors: Entry | None
    notes: dict[str, Any]
    provenance: dict[str, Any]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every file of the run but run.json."""
        return (*self.tables.values(), *((self.tensors,) if self.tensors else ()))

    def to_bytes(self) -> bytes:
        body = {"schema": SCHEMA, **self.model_dump()}
        return json.dumps(body | {"seal": _hash(body)}, indent=1, ensure_ascii=False, allow_nan=False).encode()

    @classmethod
    def parse(cls, data: bytes, address: str) -> Manifest:
        """The manifest of the run at ``address``, or `Damaged` with the reason."""
        try:
            body = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise Damaged(f"{FILE} is not JSON: {error}") from None
        if not isinstance(body, dict):
            raise Damaged(f"{FILE} is not an object")
        seal, schema = body.pop("seal", None), body.get("schema")
        if schema != SCHEMA:
            raise Damaged(f"{FILE} has schema {str(schema)[:20]!r}, this version reads {SCHEMA}")
        if seal != _hash(body):
            raise Damaged(f"{FILE} was changed: it does not match its seal")
        del body["schema"]
        try:
            manifest = cls.model_validate(body)
        except ValidationError as error:
            raise Damaged(f"{FILE} lacks what a run needs: {str(error).splitlines()[0]}") from None
        manifest._check(address)
        return manifest

    def _check(self, address: str) -> None:
        if self.address != address:
            raise Damaged(f"{FILE} belongs to another run, {self.address[:12]}")
        if _hash(self.description) != address:
            raise Damaged("the description does not have this address")
        for name, entry in self.tables.items():
            if not NAME.fullmatch(name) or entry.file != f"{name}-{entry.sha256[:12]}.parquet":
                raise Damaged(f"the file of table {name[:80]!r} has a name no table can have")
        if self.tensors and self.tensors.file != f"tensors-{self.tensors.sha256[:12]}.safetensors":
            raise Damaged("the file of the tensors has a name it cannot have")


def _hash(value: Mapping[str, Any]) -> str:
    """SHA-256 of canonical JSON, the same rule that gives a description its address."""
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return sha256(text.encode())
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{FILE} holds what JSON cannot: {error}") from None
