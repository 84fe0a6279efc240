"""Problems from a file: arrays (.npz) or a table (.parquet, .csv)."""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch

from recombine.errors import MAX_BYTES, MAX_ROWS, InputError, refuse_pickle, unknown
from recombine.support.limits import BROKEN, check_compression, check_parquet, check_size
from recombine.tasks import Problems
from recombine.training.failures import in_short

ENDINGS = (".npz", ".parquet", ".csv")
TARGET = "target"
BROKEN_ZIP = (ValueError, EOFError, KeyError, RuntimeError, NotImplementedError, ArithmeticError,
              zipfile.BadZipFile, zlib.error, struct.error)  # fmt: skip
"""What the standard library and numpy raise at files that are no arrays in a zip, or no longer."""


def read_problems(
    path: str | Path, items: int | None = None, *, max_rows: int = MAX_ROWS, max_bytes: int = MAX_BYTES
) -> Problems:
    """Problems, one row each, from a file.

    ``.npz``: the arrays ``inputs`` (problems × …) and ``targets`` (whole numbers); any shape. ``.parquet`` and
    ``.csv``: a column ``target``, and every other column is an input number, in the order of the file; with ``items``
    these columns are that many items after one another (problems × items × numbers), as odd-one-out models want
    them. A file that says it holds more than ``max_rows`` or ``max_bytes`` is refused before it is expanded."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise unknown("ending of a file of problems", path.suffix or path.name, ENDINGS)
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}.")
    check_size(path, max_bytes)
    refuse_pickle(path)
    limits = (max_rows, max_bytes)
    inputs, targets = _arrays(path, *limits) if ending == ".npz" else _table(path, items, *limits)
    if targets.ndim != 1 or targets.dtype.kind not in "iu":
        raise InputError(f"targets in {str(path)!r} must be whole numbers, one per problem.")
    if inputs.dtype.kind not in "iufb" or (inputs.dtype.kind == "f" and not np.isfinite(inputs).all()):
        raise InputError(f"inputs in {str(path)!r} must be numbers, and finite.")
    shown = inputs.astype(np.float32) if inputs.dtype.kind == "f" else inputs
    if shown.dtype.kind in "iu" and shown.dtype != np.uint8:
        shown = shown.astype(np.int64)
    return Problems(torch.from_numpy(shown.copy()), torch.from_numpy(targets.astype(np.int64)))


def _arrays(path: Path, max_rows: int, max_bytes: int) -> tuple[Any, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            for name in ("inputs", "targets"):
                _check_array(archive, name, path, max_rows, max_bytes)
        with np.load(path, allow_pickle=False) as file:
            return file["inputs"], file["targets"]
    except InputError:
        raise
    except (*BROKEN_ZIP, OSError, SyntaxError, MemoryError) as error:
        raise InputError(f"{str(path)!r} cannot be read as arrays: {in_short(error)}.") from None


def _check_array(archive: zipfile.ZipFile, name: str, path: Path, max_rows: int, max_bytes: int) -> None:
    """Refuse an array that says it is larger than allowed, or larger than the bytes it has."""
    file = f"{name}.npy"
    if archive.namelist().count(file) != 1:
        raise InputError(f"{str(path)!r} has no array {name!r}; it needs inputs and targets.")
    has = archive.getinfo(file).file_size
    with archive.open(file) as opened:
        version = np.lib.format.read_magic(opened)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, kind = header(opened)
    says = math.prod(shape) * kind.itemsize
    if kind.hasobject or says > has or min(shape, default=0) < 0:
        raise InputError(f"{str(path)!r} cannot be read as arrays: {name!r} holds no numbers, or is not whole.")
    if says > max_bytes or (shape and shape[0] > max_rows):
        raise InputError(
            f"{name!r} in {str(path)!r} holds {says:,} bytes in {shape[0] if shape else 1:,} rows; allowed are "
            f"{max_bytes:,} (--max-bytes) and {max_rows:,} (--max-rows)."
        )


def _table(path: Path, items: int | None, max_rows: int, max_bytes: int) -> tuple[Any, Any]:
    import polars as pl

    parquet = path.suffix.lower() == ".parquet"
    if parquet:
        check_parquet(path, max_rows, max_bytes)
    else:
        with path.open("rb") as file:
            check_compression(path, file.read(16))
    try:
        table = pl.read_parquet(path) if parquet else pl.read_csv(path)
    except BROKEN as error:
        raise InputError(f"{str(path)!r} cannot be read as a table: {in_short(error)}.") from None
    if table.height > max_rows:
        raise InputError(f"{str(path)!r} has {table.height:,} rows, more than the {max_rows:,} allowed (--max-rows).")
    if TARGET not in table.columns:
        raise InputError(f"{str(path)!r} has no column {TARGET!r}.")
    numbers = table.drop(TARGET)
    wrong = [name for name, kind in numbers.schema.items() if not kind.is_numeric()]
    if wrong or not numbers.width or table.null_count().sum_horizontal()[0]:
        about = f"column {wrong[0]!r} holds no numbers" if wrong else "a value is missing, or there is no input column"
        raise InputError(f"{str(path)!r}: {about}.")
    inputs = numbers.to_numpy()
    if items is not None:
        if items < 2 or numbers.width % items:
            raise InputError(f"{numbers.width} columns are not {items} items of equal size.")
        inputs = inputs.reshape(len(inputs), items, -1)
    return inputs, table[TARGET].to_numpy()
