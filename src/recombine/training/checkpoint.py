"""A stack in the middle of training, on disk: complete or not there at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from recombine.errors import InputError

if TYPE_CHECKING:
    import polars as pl

POINTER = "checkpoint.json"


@dataclass(frozen=True)
class Checkpoint:
    """Where training stood: the step, all changing tensors, and what was recorded so far."""

    step: int
    tensors: Mapping[str, Tensor]
    records: Mapping[str, pl.DataFrame]


def save_checkpoint(folder: Path, key: str, checkpoint: Checkpoint) -> None:
    """Write files that carry the step in their names, then swing the pointer to them, then drop the old ones."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    weights = folder / f"state-{checkpoint.step}.safetensors"
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in checkpoint.tensors.items()}, weights)
    tables: dict[str, str] = {}
    for name, table in checkpoint.records.items():
        tables[name] = f"record-{len(tables)}-{checkpoint.step}.parquet"
        table.write_parquet(folder / tables[name])
    pointer = {"key": key, "step": checkpoint.step, "state": weights.name, "records": tables}
    fresh = folder / f"{POINTER}.new"
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(pointer, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, folder / POINTER)
    keep = {POINTER, weights.name, *tables.values()}
    for path in folder.iterdir():
        if path.name not in keep:
            path.unlink(missing_ok=True)


def load_checkpoint(folder: Path, key: str, device: str) -> Checkpoint | None:
    """The last complete checkpoint, or None. One that belongs to another training is an error, not overwritten."""
    import polars as pl
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        pointer = json.loads((folder / POINTER).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"the checkpoint in {str(folder)!r} cannot be read ({error}); remove the folder.") from None
    except (ValueError, RecursionError):
        return None
    if not isinstance(pointer, dict) or "key" not in pointer:
        return None
    if pointer["key"] != key:
        raise InputError(f"{str(folder)!r} holds the checkpoint of another training; choose another folder.")
    try:
        tensors = load_file(folder / pointer["state"], device=device)
        records = {name: pl.read_parquet(folder / file) for name, file in pointer["records"].items()}
        return Checkpoint(int(pointer["step"]), tensors, records)
    except (OSError, SafetensorError, pl.exceptions.PolarsError, KeyError, TypeError, ValueError, AttributeError):
        # The pointer is written last and fsynced, so this is a damaged disk, not an interrupted write: start again.
        return None
