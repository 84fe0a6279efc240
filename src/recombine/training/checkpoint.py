"""A stack in the middle of training, on disk: complete or not there at all.

The pointer names the other files with their hashes, and carries its own; it is written last. A file that is not what it
was hashed to is damage, and a damaged checkpoint is never continued: training starts again, to the same result.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from recombine.errors import InputError

if TYPE_CHECKING:
    import polars as pl

log = logging.getLogger("recombine.training")

POINTER = "checkpoint.json"


@dataclass(frozen=True)
class Checkpoint:
    """Where training stood: the step, all changing tensors, and what was recorded so far."""

    step: int
    tensors: Mapping[str, Tensor]
    records: Mapping[str, pl.DataFrame]


def save_checkpoint(folder: Path, key: Mapping[str, str], checkpoint: Checkpoint) -> None:
    """Write files that carry the step in their names, then swing the pointer to them, then drop the old ones.

    Where one cannot be written, what was written is removed again and the checkpoint before it stays."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = f"state-{checkpoint.step}.safetensors"
    tables = {name: f"record-{i}-{checkpoint.step}.parquet" for i, name in enumerate(checkpoint.records)}
    names = (weights, *tables.values())
    fresh = folder / f"{POINTER}.new"
    try:
        _write_tensors(folder / weights, checkpoint.tensors)
        for name, file in tables.items():
            with (folder / file).open("wb") as opened:
                checkpoint.records[name].write_parquet(opened)
        hashes = {name: _settle(folder / name) for name in names}
        pointer = {"key": dict(key), "step": checkpoint.step, "state": weights, "records": tables, "hashes": hashes}
        fresh.write_text(json.dumps(pointer | {"digest": _digest(pointer)}), encoding="utf-8")
        _settle(fresh)
        os.replace(fresh, folder / POINTER)
    except OSError:
        for name in (*names, fresh.name):
            with suppress(OSError):
                (folder / name).unlink(missing_ok=True)
        raise
    _settle_names(folder)
    keep = {POINTER, *hashes}
    for path in folder.iterdir():
        if path.name not in keep:
            path.unlink(missing_ok=True)


def _write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, path)
    except SafetensorError as error:
        # A full disk is an error of the operating system, whichever library met it.
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from None


def load_checkpoint(folder: Path, key: Mapping[str, str], device: str) -> Checkpoint | None:
    """The last complete checkpoint, or None: where there is none, and with a warning where it is damaged. One that
    belongs to another training is an error that says what differs, and is not overwritten."""
    try:
        text = (folder / POINTER).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"the checkpoint in {str(folder)!r} cannot be read ({error}); remove the folder.") from None
    try:
        pointer = _checked_pointer(text)
        there = pointer.get("key")
        if there == key:
            return _read(folder, pointer, device)
    except _Damaged as damage:
        log.warning("the checkpoint in %r is damaged (%s); this training starts again.", str(folder), damage)
        return None
    known = there if isinstance(there, dict) else {}
    odd = [name for name, value in key.items() if known.get(name) != value] or sorted(known.keys() - key)
    raise InputError(
        f"{str(folder)!r} holds the checkpoint of another training, which differs in {' and '.join(odd[:3])}; choose "
        "another folder or remove this one."
    )


def saved_step(folder: Path) -> int | None:
    """The step of the checkpoint that is there, its files unseen; None where there is none."""
    try:
        return int(_checked_pointer((folder / POINTER).read_bytes())["step"])
    except (OSError, _Damaged, KeyError, TypeError, ValueError):
        return None


class _Damaged(Exception):
    """A checkpoint is not what was written."""


def _checked_pointer(text: bytes) -> dict[str, Any]:
    try:
        pointer = json.loads(text)
    except (ValueError, RecursionError):
        raise _Damaged(f"{POINTER} is no JSON") from None
    if not isinstance(pointer, dict) or pointer.pop("digest", None) != _digest(pointer):
        raise _Damaged(f"{POINTER} is not what was written")
    return pointer


def _read(folder: Path, pointer: dict[str, Any], device: str) -> Checkpoint:
    import polars as pl
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        for name, expected in pointer["hashes"].items():
            if _hash(folder / name) != expected:
                raise _Damaged(f"{name} is not what was written")
        tensors = load_file(folder / pointer["state"], device=device)
        records = {name: pl.read_parquet(folder / file) for name, file in pointer["records"].items()}
        return Checkpoint(int(pointer["step"]), tensors, records)
    except (
        OSError,
        SafetensorError,
        pl.exceptions.PolarsError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
    ) as why:
        raise _Damaged(f"{type(why).__name__}: {why}") from None


def _digest(pointer: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(pointer, sort_keys=True).encode()).hexdigest()


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _settle(path: Path) -> str:
    """Have a file survive a power cut, and give its hash."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()


def _settle_names(folder: Path) -> None:
    """The same for the names in a folder; where folders cannot be synced, the hashes tell later."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
