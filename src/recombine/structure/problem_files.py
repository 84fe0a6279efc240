"""Problems from a file: arrays (.npz) or a table (.parquet, .csv)."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from recombine.errors import InputError, unknown
from recombine.tasks import Problems

ENDINGS = (".npz", ".parquet", ".csv")
TARGET = "target"


def read_problems(path: str | Path, items: int | None = None) -> Problems:
    """Problems, one row each, from a file.

    ``.npz``: the arrays ``inputs`` (problems × …) and ``targets`` (whole numbers); any shape. ``.parquet`` and
    ``.csv``: a column ``target``, and every other column is an input number, in the order of the file; with ``items``
    these columns are that many items after one another (problems × items × numbers), as odd-one-out models want
    them."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise unknown("ending of a file of problems", path.suffix or path.name, ENDINGS)
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}.")
    inputs, targets = _arrays(path) if ending == ".npz" else _table(path, items)
    if targets.ndim != 1 or targets.dtype.kind not in "iu":
        raise InputError(f"targets in {str(path)!r} must be whole numbers, one a problem.")
    if inputs.dtype.kind not in "iufb" or (inputs.dtype.kind == "f" and not np.isfinite(inputs).all()):
        raise InputError(f"inputs in {str(path)!r} must be numbers, and finite.")
    shown = inputs.astype(np.float32) if inputs.dtype.kind == "f" else inputs
    if shown.dtype.kind in "iu" and shown.dtype != np.uint8:
        shown = shown.astype(np.int64)
    return Problems(torch.from_numpy(shown.copy()), torch.from_numpy(targets.astype(np.int64)))


def _arrays(path: Path) -> tuple[Any, Any]:
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = {"inputs", "targets"} - set(file.files)
            if missing:
                raise InputError(f"{str(path)!r} has no array {min(missing)!r}; it needs inputs and targets.")
            return file["inputs"], file["targets"]
    except InputError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{str(path)!r} cannot be read as arrays: {error}.") from None


def _table(path: Path, items: int | None) -> tuple[Any, Any]:
    import polars as pl

    try:
        table = pl.read_parquet(path) if path.suffix.lower() == ".parquet" else pl.read_csv(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{str(path)!r} cannot be read as a table: {str(error).splitlines()[0]}.") from None
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
